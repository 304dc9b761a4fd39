//! `ktd plan FILE`.

use super::given::check_file;
use super::runtime::runtime;
use super::step_bar::StepBar;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_client::opening::price_cells;
use ktd_data::market_source::MarketSource;
use ktd_episode::EpisodesStudy;
use ktd_experiment::cells::cells;
use ktd_experiment::config::{ExperimentConfig, SyntheticConfig};
use ktd_plan::estimate::{measure, steps_measured};
use ktd_plan::{ExperimentPlan, text};
use ktd_study::StudyKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  ktd plan code.toml                        # a study: units, finished ones, who is asked, cost
  ktd plan experiment.toml                  # episodes: cells, calls, cost, detectable differences
  ktd plan experiment.toml --synthetic      # before there is a panel
  ktd plan experiment.toml --json

No key is needed: calls and tokens are those of built-in agents on the first days, asked of nobody.";

/// Days of the market of `--synthetic`: from 2022 to the end of 2026, around the preset windows.
const SYNTHETIC_DAYS: u32 = 1_200;

/// Say what a file asks and costs, and what of it is finished; of episodes, also the smallest difference that they can
/// detect. Nothing is run and nothing is written.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    /// The file of an experiment or a study.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Of a study: where its results go (default: the file's `output`, else `results/NAME` beside the file).
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Of episodes: plan on a synthetic market of 300 names instead of the file's panel: the counts hold, the luck is not a real one's.
    #[arg(long, conflicts_with = "out")]
    synthetic: bool,
}

#[cfg(feature = "server")]
impl PlanArgs {
    /// Of a file, its results going there.
    pub(super) fn of(file: &std::path::Path, out: Option<&std::path::Path>) -> Self {
        Self {
            experiment: file.to_owned(),
            out: out.map(std::path::Path::to_owned),
            synthetic: false,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for an experiment that `ktd run` would refuse before it asks anybody.
pub(super) fn run(args: &PlanArgs, console: Console) -> Result<(), CliError> {
    check_file(&args.experiment)?;
    let kind = study::kind_for(&args.experiment)?;
    if kind.name() != EpisodesStudy::NAME {
        return study::plan(kind, (&args.experiment, args.out.as_deref()), console);
    }
    let mut config = ExperimentConfig::read(&args.experiment)?;
    if args.synthetic {
        (config.panel, config.synthetic) = (None, Some(synthetic()));
    }
    let base = args.experiment.parent().map_or_else(PathBuf::new, Path::to_owned);
    let source = MarketSource::of(&config, &base)?;
    let mut cells = cells(&config, &source.market, None)?;
    price_cells(&mut cells, &config, &base)?;
    let measured = if cells.iter().all(|cell| cell.agent.is_ours()) {
        Vec::new()
    } else {
        let bar = Arc::new(StepBar::of_steps(console, steps_measured(&cells)));
        runtime()?.block_on(measure(&config, &source, bar))?
    };
    let plan = ExperimentPlan::of(&config, &source, &cells, &measured)?;
    console.result(&text(&plan, &config.budget, console.layout()), &Plan { plan })
}

/// What episodes would ask, cost and detect.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Plan {
    plan: ExperimentPlan,
}

const fn synthetic() -> SyntheticConfig {
    SyntheticConfig {
        seed: None,
        names: None,
        days: Some(SYNTHETIC_DAYS),
    }
}
