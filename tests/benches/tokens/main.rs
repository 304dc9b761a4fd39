//! Tokens of a decision day, and how much of its prompts a vendor's prompt cache can read.
//!
//! Runs built-in agents through whole episodes on the synthetic market, two seeds each, and counts what the recorded
//! requests and replies would cost with a real tokenizer (`o200k_base`). `momentum` makes one tool call a day,
//! `researcher` eight.

mod count;

use count::{Cache, Counter};
use ktd_bundle::BundlePaths;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::episode::run_grid;
use ktd_record::exchanges::{ExchangeOutcome, read_sends};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

/// Cells in the order in which a run of one key would make them: the seeds of a cell one after the other.
const EXPERIMENT: &str = r#"
    name = "tokens"
    mask_key_file = "mask.key"
    seeds = [1, 2]
    windows = [{ id = "last", last_days = 20 }]
    modes = ["memory-only", "fixed-candidate", "open-research"]
    masks = [
        { level = "bright", numeric = "exact" },
        { level = "bright", numeric = "rescaled" },
        { level = "stock-blind", numeric = "exact" },
        { level = "stock-blind", numeric = "rescaled" },
        { level = "date-blind", numeric = "exact" },
        { level = "date-blind", numeric = "rescaled" },
        { level = "blinded", numeric = "exact" },
        { level = "blinded", numeric = "rescaled" },
        { level = "blinded", numeric = "rounded-0.1" },
        { level = "blinded", numeric = "rounded-0.5" },
        { level = "blinded", numeric = "ranked" },
        { level = "blinded", numeric = "banded" },
    ]
    agents = [
        { id = "momentum", builtin = "momentum" },
        { id = "researcher", builtin = "researcher" },
    ]
"#;

/// One line of the table: a mode, who decides, what is hidden.
type Row = (&'static str, String, &'static str, &'static str);

/// What the days of a row cost, summed over all requests.
#[derive(Default)]
struct Cost {
    days: u64,
    requests: u64,
    prompt: u64,
    completion: u64,
    readable: u64,
    largest_day: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // A key of its own, because aliases decide a few tokens.
    std::fs::write(folder.path().join("mask.key"), ktd_kit::MASK_KEY)?;
    let plan = RunPlan {
        config: ExperimentConfig::parse(EXPERIMENT)?,
        base: folder.path().to_owned(),
        output: folder.path().join("results"),
        program: Some(ktd_kit::this_program()),
    };
    let mut counter = Counter::new()?;
    let mut rows: BTreeMap<Row, (Cache, Cost)> = BTreeMap::new();
    for ended in run_grid(Grid::open(plan)?, 1) {
        ended.result?;
        let cell = ended.cell;
        // Without tools a thorough agent does no more than the other.
        if cell.agent.id == "researcher" && cell.mode.label() != "open-research" {
            continue;
        }
        let row = (
            cell.mode.label(),
            cell.agent.id,
            cell.mask.level.label(),
            cell.mask.numeric.label(),
        );
        let (cache, cost) = rows.entry(row).or_default();
        add(&mut counter, cache, cost, &ended.bundle)?;
    }
    tell(&rows);
    Ok(())
}

/// Counts one episode's requests in their order.
fn add(
    counter: &mut Counter,
    cache: &mut Cache,
    cost: &mut Cost,
    bundle: &Path,
) -> Result<(), Box<dyn Error>> {
    let sends = read_sends(&BundlePaths::new(bundle).exchanges())?;
    let mut of_days: BTreeMap<usize, u64> = BTreeMap::new();
    for sent in sends.iter().filter(|sent| sent.answer().is_some()) {
        let prompt = counter.prompt(&serde_json::from_str(&sent.intent.request)?);
        let reply = sent.outcome.as_ref().and_then(ExchangeOutcome::reply);
        let reply = reply.ok_or("a built-in agent always answers")?;
        let completion = counter.completion(&serde_json::from_slice(&reply.body)?);
        cost.requests += 1;
        cost.prompt += count::length(&prompt);
        cost.completion += completion;
        cost.readable += cache.read_and_keep(&prompt);
        *of_days.entry(sent.intent.at.step).or_default() += count::length(&prompt) + completion;
    }
    cost.days += u64::try_from(of_days.len())?;
    cost.largest_day = of_days.into_values().fold(cost.largest_day, u64::max);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
fn tell(rows: &BTreeMap<Row, (Cache, Cost)>) {
    println!(
        "| mode | agent | level | numbers | requests a day | prompt a day | completion a day | tokens a day | dearest day | readable |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for ((mode, agent, level, numeric), (_, cost)) in rows {
        let a_day = |tokens: u64| tokens / cost.days.max(1);
        println!(
            "| {mode} | {agent} | {level} | {numeric} | {}.{} | {} | {} | {} | {} | {}.{} % |",
            a_day(cost.requests),
            a_day(cost.requests * 10) % 10,
            a_day(cost.prompt),
            a_day(cost.completion),
            a_day(cost.prompt + cost.completion),
            cost.largest_day,
            cost.readable * 100 / cost.prompt.max(1),
            cost.readable * 1000 / cost.prompt.max(1) % 10,
        );
    }
}
