//! `ktd factor-code run`: models write factor functions.

use super::boxed_options::BoxArgs;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use ktd_boxed::BoxSetup;
use ktd_factor_study::{FactorCodeStudy, read_factor_code_config};
use ktd_study::run_any;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Example:
  ktd plan code.toml
  ktd factor-code run code.toml
  ktd report results/factor-code

  kind = \"factor-code\"
  tasks = \"all\"                       # or ids, categories, a file of tasks of one's own
  styles = [\"original\"]               # concise, cot
  rounds = 3
  feedback = \"layers\"                 # execution: failures of layer 1 alone
  samples = 1
  panel_seed = 20260401
  real = { panel = \"csi300.ktdp\", symbol = \"SH600519\" }    # without it panel Q is synthetic
  prices = \"prices.json\"
  budget = { experiment = \"5.00\" }
  [[agents]]
  id = \"gpt\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 4096

Everything is recorded: the same command again asks nothing twice. Exit code 3 when the budget is used up.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment file.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Results directory [default: the file's `output`, else `results/NAME`].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Boxes side by side, instead of the file's `jobs`.
    #[arg(long)]
    jobs: Option<usize>,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Asks models for functions and judges them.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let mut config = read_factor_code_config(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    config.boxes = BoxSetup {
        side_by_side: args.jobs.unwrap_or(0),
        ..args.boxes.setup()
    };
    study::run_by(true, console, |run| {
        run_any::<FactorCodeStudy>(config, (base, args.out.as_deref()), run)
    })
    .map(drop)
}
