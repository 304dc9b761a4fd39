//! `ktd alpha mine`: a search for formulas.

use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_formula_study::mine::FormulaMining;
use ktd_study::any;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  ktd alpha mine runs/configs/alpha_mine_demo.toml --out mined

  name = \"gp1\"
  panel = \"csi300.ktdp\"      # or bins = \"qlib_dir\"; without both the synthetic market
  method = \"gp\"              # or \"random\", or \"llm\" with a table [llm]
  seed = 1
  gp = { population = 60, generations = 333 }
  select = { take = 20, correlation = 0.7 }
  [splits]
  train = [\"2018-01-02\", \"2021-12-31\"]
  valid = [\"2022-01-04\", \"2022-12-30\"]

Fitness is computed on train days, and the pool is chosen by valid days, which are read once, at the end. Test days are never \
read. With method = \"llm\" a model is asked in rounds: [llm] has agents (one), rounds = 10, ask = 8, prices, budget and rates as in \
an experiment; it is shown train figures alone, and everything is recorded. A search that was stopped is continued by the same command, and a finished one does nothing. `ktd alpha eval` takes the \
folder as pools = [{ id = \"gp1\", mined = \"mined\" }] and counts every formula that was tried.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct MineArgs {
    /// The search's file.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Searches for formulas.
pub(super) fn run(args: &MineArgs, console: Console) -> Result<(), CliError> {
    let kind = any::<FormulaMining>();
    study::run(kind, (&args.study, args.out.as_deref()), console)
}
