//! `ktd report DIR`.

use super::given::study_at;
use super::study;
use crate::CliError;
use crate::output::Console;
use clap::Args;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Examples:
  ktd report results/leak-demo
  ktd report results/leak-demo --all
  ktd report results/factor-code --unfinished   # a model was withdrawn: of what there is

Writes index.html, report.md, CSV and Parquet files beside report.json, all made of it. Nothing is run, and nobody is \
asked. A report of an unfinished study says so first, and lies in DIR/unfinished.";

/// Write the report of a study again from its records, and show it.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct ReportArgs {
    /// The folder of a study's results.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Show every table.
    #[arg(long, alias = "tables")]
    all: bool,
    /// Report what is finished of a study of which other units have no result, and may never have one.
    #[arg(long)]
    unfinished: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a folder without a study, and one that is not finished.
pub(super) fn run(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    let kind = study_at(&args.folder)?;
    let report = if args.unfinished {
        kind.report_unfinished(&args.folder)
    } else {
        kind.report(&args.folder)
    };
    study::show(&report?, args.all, console)
}
