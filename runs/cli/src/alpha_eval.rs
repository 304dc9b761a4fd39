//! `ktd alpha eval`: what pools of formulas are worth.

use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_formula_study::{AlphaEvaluating, cost_table, measure_cost};
use ktd_io::parallel::available_threads;
use ktd_study::{Opening, StudyKind, any, read_study_file};
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLE: &str = "\
Example:
  ktd alpha eval alphas.toml --no-test

  name = \"pools\"
  panel = \"csi300.ktdp\"      # or bins = \"qlib_dir\"; without both the synthetic market
  pools = [{ id = \"alpha158\", builtin = \"alpha158\" }, { id = \"mine\", file = \"mine.csv\" }]
  noise = { mode = \"input\", draws = 5 }
  [splits]
  train = [\"2018-01-02\", \"2021-12-31\"]
  valid = [\"2022-01-04\", \"2022-12-30\"]
  test = [\"2023-01-03\", \"2024-12-31\"]

Each pool is evaluated on each split: predictive power, stability, robustness, diversity, and a portfolio of its top and bottom \
fifth. index.html, report.json and tables are written; the same inputs again change nothing. The test split is opened once: another set of \
formulas in the same folder is counted as another look.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct EvalArgs {
    /// The study's file.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave the test split closed.
    #[arg(long)]
    no_test: bool,
    /// Measure also what each figure costs, into cost.json and cost.csv.
    #[arg(long)]
    cost: bool,
}

/// Evaluates a study of alphas.
pub(super) fn run(args: &EvalArgs, console: Console) -> Result<(), CliError> {
    let mut keys = read_study_file::<AlphaEvaluating>(&args.study)?;
    keys.test_closed |= args.no_test;
    let base = args.study.parent().unwrap_or_else(|| Path::new(""));
    let folder = args
        .out
        .clone()
        .unwrap_or_else(|| base.join("results").join(&keys.name));
    study::run_keys::<AlphaEvaluating>(keys.clone(), (base, &folder), console)?;
    if args.cost {
        let started = Instant::now();
        let at = Opening::unkept(base, &folder, available_threads());
        let open = AlphaEvaluating::open(&keys, &at)?;
        let cost = measure_cost(&open, &folder, &|| started.elapsed().as_secs_f64())?;
        if !console.quiet && !console.json {
            console.result(
                &cost_table(&cost).text_in(console.layout()),
                &serde_json::Value::Null,
            )?;
        }
    }
    Ok(())
}

const REPORT_EXAMPLE: &str = "\
Example:
  ktd alpha report results/pools

The tables and the page are made again of report.json, byte for byte; no formula is evaluated, and no test day is read.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// The folder of `ktd alpha eval`.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Makes tables and page again.
pub(super) fn report(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    study::report(any::<AlphaEvaluating>(), &args.dir, (false, console))
}
