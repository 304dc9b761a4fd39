//! `ktd leak`: what a back-test owes to conventions that let tomorrow in, and whether a signal leaks.

use crate::CliError;
use crate::leak_audit_self::{self, AuditSelfArgs};
use crate::output::Console;
use crate::progress::Progress;
use crate::this_program::this_program;
use crate::{leak_audit, leak_check};
use clap::{Args, Subcommand};
use ktd_io::lock::FileLock;
use ktd_io::parallel::available_threads;
use ktd_record::study_folder::StudyFolder;
use ktd_studies::leak::{
    LEAK_FILES, LeakReport, LeakSource, controls_table, costs_table, count_runs, gains_table,
    interventions_table, main_table, read_leak_config, read_report, run_grid, sanity, years_table,
};
use ktd_view::draw::paragraph;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Work on leaks.
#[derive(Debug, Subcommand)]
pub(super) enum LeakCommand {
    /// Run the one-switch benchmark: models under a clean protocol and under one changed rule at a time; rerunning continues.
    Run(RunArgs),
    /// Make the page and the tables of a benchmark that was run once more, and show them.
    Report(ReportArgs),
    /// Replace what lies after a cut and mask the signal day's bar: the clean protocol must not move.
    Sanity(SanityArgs),
    /// Check what a declared pipeline knows when: twelve rules that keep tomorrow out.
    Check(leak_check::CheckArgs),
    /// Prove on cut panels what columns read, or ask whether signals of a file go with returns that they cannot know.
    Audit(leak_audit::AuditArgs),
    /// Turn the benchmark on this program: whether its tools, exchange or masks see a later day.
    AuditSelf(AuditSelfArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd leak run runs/configs/leak_demo.toml            # synthetic market, no data
  ktd leak check results/leak-demo/manifest.toml
  ktd leak audit --signals signals.csv --panel csi300.ktdp --known-at close";

const RUN_EXAMPLE: &str = "\
Example:
  ktd leak run runs/configs/leak_demo.toml --out results/leak

A market without any alpha shows what a protocol is worth by itself: a centred window and a fill at the signal day's own open \
pretend annual ratios far above any that is real. Every figure is on the same rows, days and seeds.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment file.
    config: PathBuf,
    /// Where results go [default: results/NAME].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const REPORT_EXAMPLE: &str = "\
Example:
  ktd leak report results/leak-demo --all

Writes index.html, report.md and CSV files beside report.json, all made of it.";

const SANITY_EXAMPLE: &str = "\
Example:
  ktd leak sanity runs/configs/leak_demo.toml

Exit code 1: the clean protocol reads what lies after the cut, which is a defect of the program.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// The results directory of `ktd leak run`.
    dir: PathBuf,
    /// Show all protocols, not the two dominant ones alone, and every run.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = SANITY_EXAMPLE)]
pub(super) struct SanityArgs {
    /// The experiment file.
    config: PathBuf,
}

/// Works on leaks.
pub(super) fn run(command: &LeakCommand, console: Console) -> Result<(), CliError> {
    match command {
        LeakCommand::Run(args) => run_benchmark(args, console),
        LeakCommand::Report(args) => {
            // A folder without a report is left as it is.
            read_report(&args.dir)?;
            let _lock = FileLock::of_folder(&args.dir)?;
            let report = read_report(&args.dir)?;
            report.write(&args.dir, Vec::new())?;
            show(&report, (&args.dir, args.all), console)
        }
        LeakCommand::Sanity(args) => run_sanity(args, console),
        LeakCommand::Check(args) => leak_check::run(args, console),
        LeakCommand::Audit(args) => leak_audit::run(args, console),
        LeakCommand::AuditSelf(args) => leak_audit_self::run(args, console),
    }
}

/// The folder that relative paths of a file start from.
fn beside(file: &Path) -> &Path {
    file.parent().unwrap_or_else(|| Path::new(""))
}

fn run_benchmark(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let config = read_leak_config(&args.config)?;
    let results = Path::new("results").join(&config.name);
    let source = LeakSource::read(&config, beside(&args.config))?;
    let held = StudyFolder::hold(args.out.as_ref().unwrap_or(&results), &this_program())?;
    let runs = count_runs(&config, &source.years)?;
    let units = u64::try_from(runs).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "running", units, "runs"));
    let done = |count| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(count);
        }
    };
    let report = run_grid(&config, &source, (&held, available_threads()), done)?;
    drop(bar);
    show(&report, (held.path(), false), console)
}

fn show(report: &LeakReport, (out, all): (&Path, bool), console: Console) -> Result<(), CliError> {
    let mut tables = vec![main_table(report)];
    if all {
        tables.push(gains_table(report));
    }
    tables.extend([years_table(report, all), costs_table(report, all)]);
    tables.extend([interventions_table(&report.interventions), controls_table(report)]);
    // The first says what was left out, also where nothing was run.
    let tables = tables.iter().enumerate();
    let tables = tables.filter(|(place, table)| *place == 0 || !table.rows.is_empty());
    let texts: Vec<String> = tables.map(|(_, table)| table.text_in(console.layout())).collect();
    let files = paragraph(
        &format!(
            "{}: report.json, {}, manifest.toml",
            out.display(),
            LEAK_FILES.join(", ")
        ),
        console.layout(),
    );
    let value = serde_json::to_value(report).map_err(CliError::invalid)?;
    console.result(&format!("{}\n{files}", texts.join("\n")), &value)
}

fn run_sanity(args: &SanityArgs, console: Console) -> Result<(), CliError> {
    let config = read_leak_config(&args.config)?;
    let source = LeakSource::read(&config, beside(&args.config))?;
    let rows = sanity(&config, &source)?;
    let table = interventions_table(&rows);
    console.result(
        &table.text_in(console.layout()),
        &json!({ "interventions": rows }),
    )?;
    match rows
        .iter()
        .find(|row| row.protocol == "CLEAN" && 0 < row.suffix_cells_changed)
    {
        None => Ok(()),
        Some(row) => Err(CliError::difference(format_args!(
            "{} cells of the clean protocol read what lies after the cut",
            row.suffix_cells_changed
        ))),
    }
}
