//! The text a model sees, reviewed as it stands.

use crate::tools::fixture::{Fixture, settings};
use ktd_env::exchange::decide;
use ktd_masking::{FactorScale, Level, Mask, MaskSettings, Mode, Numeric, Payload, RuleFigures};
use ktd_prompts::{SystemSlots, UserStepSlots};
use ktd_tools::{Tool, Toolbox, feedback, parse_action, tool_specs};
use std::fmt::Write;

/// Compact JSON with one row of a table, one entry of a map a line.
fn readable(json: &str) -> String {
    let (mut shown, mut open, mut in_string, mut before) = (String::new(), Vec::new(), false, ' ');
    for character in json.chars() {
        if !in_string {
            let is_entry =
                matches!(character, '"') && matches!(before, ',' | '{') && open.last() == Some(&'{');
            let is_item = matches!(character, '[' | '{') && matches!(before, ',' | '[');
            if is_item || (is_entry && open.len() <= 2) {
                write!(shown, "\n{}", "  ".repeat(open.len())).unwrap();
            }
            match character {
                '[' | '{' => open.push(character),
                ']' | '}' => drop(open.pop()),
                _ => {}
            }
        }
        if character == '"' && before != '\\' {
            in_string = !in_string;
        }
        shown.push(character);
        before = character;
    }
    shown
}

pub(crate) fn calls(ids: &[String; 4], tool: Tool, numeric: Numeric) -> String {
    let [first, second, third, fourth] = ids;
    match tool {
        Tool::GetMarketContext | Tool::PortfolioState => "{}".to_owned(),
        Tool::ScreenCandidates if numeric.scale() != FactorScale::Values => {
            let (most, least) = if numeric == Numeric::Ranked { (80, 10) } else { (0, 0) };
            format!(
                r#"{{"factors":[{{"factor":"MOM_12_1","direction":"high","weight":2}},
                {{"factor":"RV_60","direction":"low"}},{{"factor":"ILLIQ","direction":"high","weight":0.5}}],"top_k":6,
                "bounds":[{{"factor":"RV_60","max":{most}}},{{"factor":"ILLIQ","min":{least}}}]}}"#
            )
        }
        Tool::ScreenCandidates => r#"{"factors":[{"factor":"MOM_12_1","direction":"high","weight":2},
            {"factor":"RV_60","direction":"low"},{"factor":"ILLIQ","direction":"high","weight":0.5}],"top_k":6,
            "bounds":[{"factor":"RV_60","scale":"raw","max":0.6},{"factor":"ILLIQ","max":1.5}]}"#
            .to_owned(),
        Tool::GetStockSnapshot => format!(r#"{{"stock_id":"{first}","lookback":6}}"#),
        Tool::CompareCandidates => format!(
            r#"{{"stock_ids":["{third}","{first}","{second}"],
            "dimensions":["close","weight","unrealised_return","ILLIQ","rsi_14"]}}"#
        ),
        Tool::ScreenByExpression => r#"{"expression":"Mean($close,5)/$close","side":"high"}"#.to_owned(),
        Tool::RiskCheck => format!(
            r#"{{"targets":[{{"stock_id":"{first}","target_weight":0}},{{"stock_id":"{second}","target_weight":0.15}},
            {{"stock_id":"{third}","target_weight":0.3}},{{"stock_id":"{fourth}","target_weight":0.1}},
            {{"stock_id":"{fourth}","target_weight":0}}]}}"#
        ),
    }
}

/// Snapshots under `name` of the settings that show all, one section each, and under `ladder_name` of the coarser ones. What
/// a level hides does not hang on those, so they stand at one level.
fn assert_shown(name: &str, show: impl Fn(&Fixture, &Mask) -> Payload) {
    let (fine, coarse) = Numeric::ALL.split_at(2);
    insta::assert_snapshot!(name, sections(&settings(fine), &show));
    let coarse: Vec<_> = coarse.iter().map(|numeric| (Level::Blinded, *numeric)).collect();
    insta::assert_snapshot!(format!("ladder_{name}"), sections(&coarse, &show));
}

fn sections(settings: &[(Level, Numeric)], show: impl Fn(&Fixture, &Mask) -> Payload) -> String {
    let fixture = Fixture::new();
    let mut text = String::new();
    for (level, numeric) in settings.iter().copied() {
        let mask = fixture.mask(level, numeric);
        let payload = show(&fixture, &mask).to_json();
        writeln!(
            text,
            "== {} {}\n{}\n",
            level.label(),
            numeric.label(),
            readable(&payload)
        )
        .unwrap();
    }
    text
}

#[test]
fn every_tool_at_every_level() {
    let toolbox = Toolbox::new().unwrap();
    for tool in Tool::ALL {
        assert_shown(tool.name(), |fixture, mask| {
            let as_of = fixture.as_of();
            let arguments = calls(&fixture.ids(mask), tool, mask.numeric());
            let answer = fixture.view(&as_of, mask, |view| toolbox.call(view, tool.name(), &arguments));
            assert!(answer.ok, "{} {}", tool.name(), answer.payload.to_json());
            answer.payload
        });
    }
}

#[test]
fn the_state_of_every_mode() {
    for mode in Mode::ALL {
        assert_shown(&format!("state_{}", mode.label()), |fixture, mask| {
            let as_of = fixture.as_of();
            fixture.view(&as_of, mask, |view| view.state(mode))
        });
    }
}

#[test]
fn the_tools_as_they_are_told() {
    let mut text = String::new();
    for spec in tool_specs() {
        let schema = serde_json::to_string_pretty(spec.parameters.as_value()).unwrap();
        writeln!(text, "== {}\n{}\n{schema}\n", spec.name, spec.description).unwrap();
    }
    // Comments meant for programmers would become descriptions.
    assert!(!text.contains("[`") && !text.contains("::"), "{text}");
    insta::assert_snapshot!("tool_specs", text);
}

const BAD_CALLS: [(&str, &str); 19] = [
    ("get_weather", "{}"),
    ("get_market_context", ""),
    ("get_market_context", "{\"now\": 600519}"),
    ("screen_candidates", "{'factors': []}"),
    ("screen_candidates", "{}"),
    ("screen_candidates", r#"{"factors":[]}"#),
    (
        "screen_candidates",
        r#"{"factors":[{"factor":"VALUE","direction":"up","SH600519":1}],"top_k":"5"}"#,
    ),
    (
        "screen_candidates",
        r#"{"factors":[{"factor":"SKEW","direction":"high","weight":0}],"top_k":31}"#,
    ),
    (
        "screen_candidates",
        r#"{"factors":[{"factor":"SKEW","direction":"high"},{"factor":"SKEW","direction":"low"}]}"#,
    ),
    (
        "screen_candidates",
        r#"{"factors":[{"factor":"SKEW","direction":"high"}],"bounds":[{"factor":"ILLIQ","scale":"raw","min":1},
            {"factor":"SKEW"},{"factor":"SKEW","min":1,"max":0}]}"#,
    ),
    (
        "screen_candidates",
        r#"{"factors":[{"factor":"SKEW","direction":"high"}],"bounds":[{"factor":"SH600519","min":1}]}"#,
    ),
    ("get_stock_snapshot", r#"{"stock_id":"SH600519 Moutai"}"#),
    ("get_stock_snapshot", r#"{"stock_id":"x","lookback":61}"#),
    ("get_stock_snapshot", r#"{"stock_id":"x","lookback":5.0}"#),
    (
        "compare_candidates",
        r#"{"stock_ids":["x"],"dimensions":["2024-04-01"]}"#,
    ),
    ("compare_candidates", r#"{"stock_ids":["x","y"]}"#),
    (
        "risk_check",
        r#"{"targets":[{"stock_id":"x","target_weight":1.5},{"target_weight":"0.1"}]}"#,
    ),
    (
        "risk_check",
        r#"{"targets":[{"stock_id":null,"target_weight":0.1}]}"#,
    ),
    ("portfolio_state", "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"),
];

#[test]
fn feedback_on_bad_calls() {
    let toolbox = Toolbox::new().unwrap();
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let mut texts = Vec::new();
    for (level, numeric) in settings(&Numeric::ALL[..2]) {
        let mask = fixture.mask(level, numeric);
        let context = fixture.context(&as_of, &mask);
        let mut text = String::new();
        for (name, arguments) in BAD_CALLS {
            let answer = toolbox.call(&context, name, arguments);
            // The one call that is good where raw values are shown still has two bad bounds.
            assert!(!answer.ok && answer.code.is_some(), "{name} {arguments}");
            writeln!(
                text,
                "{name} {arguments}\n-> {}\n",
                readable(&answer.payload.to_json())
            )
            .unwrap();
        }
        texts.push(text);
    }
    // Feedback on form knows no level; only what the numeric setting hides differs.
    let (exact, rescaled) = (texts[0].clone(), texts[1].clone());
    for pair in texts.chunks(2) {
        assert_eq!(pair, [exact.clone(), rescaled.clone()]);
    }
    insta::assert_snapshot!("bad_calls_exact", exact);
    insta::assert_snapshot!("bad_calls_rescaled", rescaled);
}

const GOOD: &str = r#""confidence":0.6,"reason":"steady winner in its sector""#;

#[test]
fn feedback_on_bad_submissions() {
    let long = format!(r#"{{"orders":[{}0],"overall_reason":"x"}}"#, "0,".repeat(200));
    let submissions = [
        "nothing".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        r#"{"orders":{},"overall_reason":"x"}"#.to_owned(),
        r#"{"orders":[]}"#.to_owned(),
        r#"{"orders":[],"orders":[],"overall_reason":"x"}"#.to_owned(),
        r#"{"orders":[],"overall_reason":7}"#.to_owned(),
        long,
        format!(
            r#"{{"overall_reason":"x","orders":[7,
                {{"stock_id":"x","side":"HOLD","target_weight":0.1,{GOOD}}},
                {{"stock_id":"x","side":"BUY",{GOOD}}},
                {{"stock_id":"x","side":"BUY","target_weight":0.1234567,{GOOD}}},
                {{"stock_id":"x","side":"BUY","target_weight":0.1,"shares":100,{GOOD}}},
                {{"stock_id":"x","side":"BUY","shares":100.0,{GOOD}}},
                {{"stock_id":"x","side":"BUY","target_weight":0.1,"confidence":1.1,"reason":"long enough"}},
                {{"stock_id":"x","side":"BUY","target_weight":0.1,"confidence":1,"reason":"short"}}]}}"#
        ),
        format!(r#"{{"overall_reason":"x","orders":[{{"stock_id":"x","side":"BUY","shares":100,{GOOD}}}]}}"#),
    ];
    let fixture = Fixture::new();
    let as_of = fixture.as_of();
    let toolbox = Toolbox::new().unwrap();
    let mut texts = Vec::new();
    for numeric in Numeric::ALL {
        let mask = fixture.mask(Level::Blinded, numeric);
        let mut text = String::new();
        for submission in &submissions {
            let parsed = fixture.view(&as_of, &mask, |view| toolbox.parse_submission(view, submission));
            let told = parsed.map_or_else(
                |error| readable(&error.payload().to_json()),
                |action| format!("taken, {} orders", action.orders.len()),
            );
            let shown: String = submission.chars().take(300).collect();
            writeln!(text, "{shown}\n-> {told}\n").unwrap();
        }
        texts.push(text);
    }
    let [exact, hidden @ ..] = texts.as_slice() else {
        unreachable!("there are settings");
    };
    insta::assert_snapshot!("bad_submissions_exact", exact);
    insta::assert_snapshot!("bad_submissions_rescaled", hidden[0]);
    // Wherever share counts are hidden, feedback on form is the same.
    assert!(hidden.iter().all(|text| *text == hidden[0]));
}

#[test]
fn feedback_on_rejected_orders() {
    assert_shown("rejected_orders", |fixture, mask| {
        let as_of = fixture.as_of();
        let context = fixture.context(&as_of, mask);
        let [first, second, third, fourth] = fixture.ids(mask);
        let sell = |id: &str, weight: &str| {
            format!(r#"{{"stock_id":"{id}","side":"SELL","target_weight":{weight},{GOOD}}}"#)
        };
        let buy = |id: &str, weight: &str| {
            format!(r#"{{"stock_id":"{id}","side":"BUY","target_weight":{weight},{GOOD}}}"#)
        };
        let least = if mask.numeric() <= Numeric::Rescaled {
            "0.000001"
        } else {
            "0.01"
        };
        let orders = [
            sell(&first, "0"),
            sell(&first, "0"),
            buy(&second, least),
            buy(&third, "0.25"),
            buy("SH600519", "0.1"),
            sell(&fourth, "0"),
            buy(&fourth, "0.1"),
        ];
        let arguments = format!(r#"{{"orders":[{}],"overall_reason":""}}"#, orders.join(","));
        let action = parse_action(&context, &arguments).unwrap();
        let plain: Vec<_> = action.orders.iter().map(|parsed| parsed.order).collect();
        let decisions = decide(&fixture.rules, &fixture.account, &plain, &as_of);
        feedback::decisions(&context, &action.orders, &decisions)
    });
}

fn system_slots(fixture: &Fixture) -> SystemSlots {
    let figures = RuleFigures::of(&fixture.rules);
    let count = |count: usize| Payload::from(ktd_masking::Count::of(count));
    SystemSlots {
        initial_cash_cny: figures.initial_cash_cny(),
        candidates_per_factor: count(10),
        max_tool_calls: count(20),
        max_candidates: count(30),
        max_lookback: count(60),
        max_compare: count(10),
        max_single_weight: figures.max_single_weight(),
        max_positions: figures.max_positions(),
        price_limits: figures.price_limits(),
        open_terms: figures.open_terms(),
        fees: figures.fees(),
        min_reason_chars: figures.min_reason_chars(),
        max_orders: count(200),
        schema_retries: count(3),
        constraint_policy: Payload::label("Orders that break a rule come back."),
    }
}

#[test]
fn the_opening_messages() {
    let fixture = Fixture::new();
    for (mode, level, numeric) in [
        (Mode::MemoryOnly, Level::Bright, Numeric::Exact),
        (Mode::FixedCandidate, Level::DateBlind, Numeric::Exact),
        (Mode::OpenResearch, Level::StockBlind, Numeric::Rescaled),
        (Mode::OpenResearch, Level::Blinded, Numeric::Rescaled),
    ] {
        let settings = MaskSettings { level, numeric };
        let mut text = ktd_prompts::system(mode, &system_slots(&fixture)).render();
        let slots = UserStepSlots {
            state: Payload::label("{}"),
        };
        let user = ktd_prompts::user_step(settings, &slots);
        write!(text, "\n== user\n{}", user.render()).unwrap();
        insta::assert_snapshot!(format!("opening_{}_{}", mode.label(), level.label()), text);
    }
}
