//! `ktd doctor --repeat`: how alike an agent answers the same step.

use super::run::plan;
use super::runtime::runtime;
use crate::CliError;
use crate::output::{Console, visible_lines};
use clap::Args;
use ktd_bundle::canary::CanaryRecord;
use ktd_episode::canary::CanarySteps;
use ktd_episode::grid::{Grid, RunPlan};
use ktd_episode::transports::Transports;
use ktd_experiment::config::{CanaryConfig, ExperimentConfig, SyntheticConfig};
use ktd_experiment::window_config::{WindowConfig, Windows};
use ktd_view::table::{Align, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What is to be repeated.
#[derive(Debug, Clone, Args)]
pub(super) struct RepeatArgs {
    /// Ask a model of the experiment file the same fixed step again and again, billed by its vendor, and say how alike its
    /// answers are.
    #[arg(long, value_name = "AGENT", requires = "experiment", conflicts_with = "probe")]
    pub repeat: Option<String>,
    /// How often, besides the answers that are kept already.
    #[arg(long, requires = "repeat", default_value_t = 5)]
    times: usize,
}

/// Asks, and prints what all answers so far come to.
///
/// # Errors
/// [`CliError`] when the file has no such model, and when a step cannot be asked.
pub(super) fn run(
    (args, wanted): (&RepeatArgs, &str),
    experiment: &Path,
    out: Option<&Path>,
    console: Console,
) -> Result<(), CliError> {
    let plan = of_one(plan(experiment, out)?, wanted)?;
    let grid = Grid::open(plan)?;
    let canaries = CanarySteps::of(&grid, CanaryConfig { every_cells: 1 }, &grid.accounts()?)?;
    let transports = Transports::default();
    runtime()?.block_on(async {
        for _ in 0..args.times {
            canaries.ask_all((&transports, &grid.plan.base)).await?;
        }
        Ok::<(), CliError>(())
    })?;
    let records = canaries.records()?;
    console.result(&render(&records), &Repeated { repeated: &records })
}

/// How alike agents answer.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Repeated<'r> {
    repeated: &'r [CanaryRecord],
}

/// The plan with this agent alone, on a market that is made at once: the repeated step has its own.
fn of_one(plan: RunPlan, wanted: &str) -> Result<RunPlan, CliError> {
    let models = plan.config.agents.iter().filter(|agent| agent.model().is_some());
    let known: Vec<&str> = models.map(|agent| agent.id.as_str()).collect();
    if !known.contains(&wanted) {
        let known = known.join(", ");
        return Err(CliError::invalid(format_args!(
            "the file has no model {wanted:?} behind an endpoint"
        ))
        .with_hint(format!("it is one of: {known}")));
    }
    let mut config = plan.config;
    config.agents.retain(|agent| agent.id == wanted);
    let keys: Vec<String> = config
        .agents
        .iter()
        .filter_map(|agent| agent.model()?.api_key.as_ref())
        .map(ToString::to_string)
        .collect();
    config.rates.retain(|key, _| keys.contains(key));
    let config = ExperimentConfig {
        panel: None,
        synthetic: Some(SyntheticConfig {
            seed: None,
            names: Some(20),
            days: Some(200),
        }),
        windows: Windows::Listed(vec![WindowConfig {
            id: "last".to_owned(),
            preset: None,
            start: None,
            end: None,
            last_days: Some(1),
        }]),
        ..config
    };
    Ok(RunPlan { config, ..plan })
}

fn render(records: &[CanaryRecord]) -> String {
    let mut table = Table::new(&[
        ("agent", Align::Left),
        ("vendor", Align::Left),
        ("model", Align::Left),
        ("answers", Align::Right),
        ("lost", Align::Right),
        ("same orders", Align::Right),
        ("same words", Align::Right),
        ("same bytes", Align::Right),
        ("served by", Align::Left),
    ]);
    let share = |share: Option<f64>| {
        share.map_or_else(|| "n/a".to_owned(), |share| format!("{:.0} %", share * 100.0))
    };
    for record in records {
        table.row([
            record.agent.clone(),
            record.vendor.clone(),
            record.model.clone(),
            record.answers.to_string(),
            record.lost.to_string(),
            share(record.same_orders),
            share(record.same_words),
            share(record.same_bytes),
            visible_lines(&record.served_models.join(", ")),
        ]);
    }
    let mut text = table.render();
    text.push_str("same: share of the answers that are the most common one; vendors number and date their replies, so bytes differ\n");
    for record in records {
        for change in &record.changes {
            text.push_str("note: ");
            text.push_str(&visible_lines(change));
            text.push('\n');
        }
    }
    text
}
