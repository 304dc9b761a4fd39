use super::*;
use ktd_client::opening::price_cells;
use ktd_env::synth::{SynthConfig, generate};
use ktd_experiment::cells::cells;
use std::path::Path;

const TRAFFIC: Traffic = Traffic {
    steps: 5,
    calls: 15,
    request_bytes: 51_000,
    readable_bytes: 34_000,
    first_bytes: 15_000,
    growth_bytes: 10_000,
};

/// One dollar a million tokens of input, two of output.
const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;

fn estimate(model: &str, rest: &str) -> Estimate {
    let text = format!(
        "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 10 }}]\nmasks = [{{ level = \"bright\" }}]\n\
         prices = \"prices.json\"\n\
         agents = [{{ id = \"h\", builtin = \"hold\" }}, {{ id = \"a\", model = \"{model}\", base_url = \"http://x\"{rest} }}]\n"
    );
    let config = ExperimentConfig::parse(&text).unwrap();
    let market = generate(&SynthConfig {
        seed: 1,
        names: 5,
        days: 30,
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.json");
    ktd_io::whole_file::write_whole(&prices, PRICES.as_bytes()).unwrap();
    let mut cells = cells(&config, &market, None).unwrap();
    price_cells(&mut cells, &config, folder.path()).unwrap();
    let measured = Measured {
        mode: Mode::OpenResearch,
        arm: cells[0].arm(),
        brief: TRAFFIC,
        thorough: TRAFFIC,
    };
    Estimate::of(&config, &cells, &[measured])
}

#[test]
fn tokens_and_cost_follow_from_the_traffic() {
    let estimate = estimate("m", ", max_output_tokens = 1000");
    assert_eq!(estimate.agents.len(), 1, "built-in agents ask nobody");
    let range = estimate.agents[0].range;
    // Ten steps are twice the traffic: 102,000 bytes at 3.4 bytes a token.
    let expected = range.expected;
    assert_eq!(
        (expected.calls, expected.input_tokens, expected.cached_tokens),
        (30, 30_000, 16_000)
    );
    // A call: 467 fresh and 534 read tokens at a millionth of a dollar, 600 generated at two.
    let a_call = (467 + 534 + 2 * 600) * 1_000_000;
    assert_eq!(expected.cost_picodollars, Some(Picodollars(30 * a_call)));
    assert_eq!(expected.output_tokens, 18_000);
    // 21 research turns and 4 submissions a step; the first request has 3,000 bytes, and each grows by 4,096.
    let bytes = 25 * 3_000 + 4_096 * (25 * 24 / 2);
    assert_eq!(range.most.calls, 250);
    assert_eq!(range.most.input_tokens, 10 * scaled(bytes, 16, 34));
    assert_eq!((range.most.cached_tokens, range.most.output_tokens), (0, 250_000));
    assert_eq!(estimate.all, range);
    let costs = [range.least, range.expected, range.most].map(|one| one.cost_picodollars.unwrap());
    assert!(costs.is_sorted());
}

#[test]
fn without_a_row_the_cost_is_unknown_and_the_tokens_are_not() {
    let (priced, unpriced) = (estimate("m", ""), estimate("other", ""));
    assert_eq!(unpriced.all.expected.cost_picodollars, None);
    assert_eq!(
        unpriced.all.expected.input_tokens,
        priced.all.expected.input_tokens
    );
    let mut sum = priced.all;
    sum.add(&unpriced.all);
    assert_eq!(
        (sum.most.cost_picodollars, sum.most.calls),
        (None, 2 * priced.all.most.calls)
    );
}

#[test]
fn a_few_days_of_the_panel_are_run_without_leaving_anything() {
    let text = "name = \"x\"\nsynthetic = { seed = 5, names = 20, days = 200 }\n\
                windows = [{ id = \"w\", last_days = 8 }]\n\
                masks = [{ level = \"bright\" }, { level = \"blinded\", numeric = \"rescaled\" }]\n\
                modes = [\"memory-only\", \"open-research\"]\nseeds = [1, 2]\n\
                agents = [{ id = \"a\", model = \"m\", base_url = \"http://x\" }]\n";
    let config = ExperimentConfig::parse(text).unwrap();
    let source = ktd_data::market_source::MarketSource::of(&config, Path::new("")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let measured = runtime
        .block_on(measure(
            &config,
            &source,
            std::sync::Arc::new(ktd_client::progress::Silent),
        ))
        .unwrap();
    assert_eq!(measured.len(), 4);
    for one in measured {
        let (brief, thorough) = (one.brief, one.thorough);
        assert_eq!((brief.steps, thorough.steps), (5, 5));
        match one.mode {
            Mode::OpenResearch => {
                assert_eq!(brief.calls, 15);
                assert!(brief.request_bytes < thorough.request_bytes, "{one:?}");
                assert!(
                    brief.request_bytes / 2 < brief.readable_bytes
                        && brief.readable_bytes < brief.request_bytes
                );
                assert!(0 < thorough.growth_bytes);
            }
            Mode::MemoryOnly | Mode::FixedCandidate => assert_eq!((brief.calls, brief.growth_bytes), (5, 0)),
        }
    }
}
