//! `ktd strategy-code run` and `marks`: models write strategies, mend them, and review each other's; people mark them.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_strategy_study::{StrategyExperiment, StrategyReport, StrategyStudy, people_table};
use ktd_study::{any, run_any};
use std::path::{Path, PathBuf};

const RUN_EXAMPLE: &str = "\
Examples:
  ktd plan strategies.toml
  ktd strategy-code run strategies.toml

  kind = \"strategy-code\"
  name = \"first\"                       # results go to output, by default results/NAME
  strategies = [\"S01\", \"my/channel\"]   # default \"all\"; or folders of your own
  iterations = 3                        # patches that may be asked for
  drift = \"reference\"                   # or \"published\"
  contract = \"run\"                      # or \"step\": programs get one bar at a time
  goal = \"none\"                         # \"profit\" shows models what they earn on train days
  real = { panel = \"csi300.ktdp\", symbols = [\"SH600519\"] }
  continues = \"results/zeroth\"         # patches of reviewed versions; default: builds
  arena = { repetitions = 16 }          # agents review each other's programs; default: they do not
  prices = \"prices.json\"
  budget = { experiment = \"20.00\" }
  [[agents]]
  id = \"writer\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 16384

Everything is recorded: the same command again asks nothing twice, and judges nothing twice. Reviewers get the ranked
program of every submission, and each of three planted ones so many times, once all submissions are
finished.
Exit code 1: a submission was ended by its endpoint, or by a reference of your own that fails with its
values. Exit code 3: the budget is used up.";

const MARKS_EXAMPLE: &str = "\
Example:
  ktd strategy-code marks results/first marks.csv

A table with the columns rater, model, strategy, seed, D1, D2 (seed may be left out where a model has one submission of a
strategy): whole numbers from 1 to 10 for the ranked version, or empty. Nothing is written.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment's file.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Folder of results [default: the file's `output`, else `results/NAME` beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = MARKS_EXAMPLE)]
pub(super) struct MarksArgs {
    /// The folder of results.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Marks that people gave the ranked versions: a CSV file.
    #[arg(value_name = "FILE")]
    marks: PathBuf,
}

/// Asks models for strategies.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let experiment = StrategyExperiment::read(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    let own = || Path::new("results").join(&experiment.name);
    let folder = args.out.clone();
    let folder = folder.unwrap_or_else(|| base.join(experiment.output.clone().unwrap_or_else(own)));
    let experiment = StrategyExperiment {
        boxes: args.boxes.setup(),
        ..experiment
    };
    let finished = study::run_by(true, console, |run| {
        run_any::<StrategyStudy>(experiment, (base, Some(&folder)), run)
    })?;
    let report: StrategyReport = serde_json::from_value(finished.summary).map_err(CliError::invalid)?;
    let lost = report.lost();
    match lost.first() {
        None => Ok(()),
        Some((name, reason)) => Err(CliError::difference(format!(
            "{} of the submissions are lost, and count in no table; {name}: {reason}",
            lost.len()
        ))
        .with_hint("move their folders away, and run the same command again to ask anew")),
    }
}

/// Lays what people say of programs beside what was measured and what models say.
pub(super) fn marks(args: &MarksArgs, console: Console) -> Result<(), CliError> {
    let found = any::<StrategyStudy>().report(&args.folder)?;
    let report: StrategyReport = serde_json::from_value(found.summary).map_err(CliError::invalid)?;
    let people = people_table(&report, &args.marks)?;
    console.result(&people.data.text_in(console.layout()), &people.document())
}
