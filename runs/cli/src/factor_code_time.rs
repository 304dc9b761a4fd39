//! `ktd factor-code time`: how long accepted functions take.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use clap::Args;
use ktd_boxed::BoxLauncher;
use ktd_code::{FactorCodeReport, FactorCodeTimes, TIMED_RUNS};
use ktd_view::report_table::ReportTable;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;

const EXAMPLE: &str = "\
Example:
  ktd factor-code time results/factor-code
  ktd --json factor-code time results/factor-code --runs 3 > times.json

Runs every function that is safe and right by the strict rules on 5,000 rows, one after the other. Use an idle machine.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct TimeArgs {
    /// A folder of bundles, such as `ktd factor-code run` writes.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Runs of each function.
    #[arg(long, default_value_t = TIMED_RUNS, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Measures the functions of finished bundles.
pub(super) fn run(args: &TimeArgs, console: Console) -> Result<(), CliError> {
    let report = FactorCodeReport::read(&args.folder)?;
    let launcher = BoxLauncher::prove(args.boxes.setup())?;
    let began = Instant::now();
    let mut bar: Option<Progress> = None;
    let progress = |functions: usize, done: usize| {
        let units = u64::try_from(functions).unwrap_or(u64::MAX);
        let bar = bar.get_or_insert_with(|| Progress::new(console, "timing", units, "functions"));
        bar.advance(u64::from(0 < done));
    };
    let times = FactorCodeTimes::measure(&report, &launcher, args.runs, &|| began.elapsed(), progress)?;
    drop(bar);
    let tables = times.tables();
    let texts: Vec<String> = tables
        .iter()
        .map(|table| table.data.text_in(console.layout()))
        .collect();
    let document = json!({
        "rows": times.rows,
        "runs": times.runs,
        "tables": tables.iter().map(ReportTable::json).collect::<Vec<Value>>(),
    });
    console.result(&texts.join("\n"), &document)
}
