//! `ktd leak`: what a back-test owes to conventions that let tomorrow in, and whether a signal leaks.

use crate::CliError;
use crate::leak_audit_self::{self, AuditSelfArgs};
use crate::output::Console;
use crate::progress::Progress;
use crate::{leak_audit, leak_check};
use clap::{Args, Subcommand};
use ktd_io::parallel::available_threads;
use ktd_studies::leak::{
    GainRow, LeakConfig, LeakReport, LeakSource, count_runs, read_leak_config, read_report, run_grid, sanity,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Work on leaks.
#[derive(Debug, Subcommand)]
pub(super) enum LeakCommand {
    /// Run the one-switch benchmark: models under a clean protocol and under one changed rule at a time; rerunning continues.
    Run(RunArgs),
    /// Show the tables of a benchmark that was run.
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
  ktd leak report results/leak-demo";

const SANITY_EXAMPLE: &str = "\
Example:
  ktd leak sanity runs/configs/leak_demo.toml

Exit code 1: the clean protocol reads what lies after the cut, which is a defect of the program.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// The results directory of `ktd leak run`.
    dir: PathBuf,
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
        LeakCommand::Report(args) => show(&read_report(&args.dir)?, &args.dir, console),
        LeakCommand::Sanity(args) => run_sanity(args, console),
        LeakCommand::Check(args) => leak_check::run(args, console),
        LeakCommand::Audit(args) => leak_audit::run(args, console),
        LeakCommand::AuditSelf(args) => leak_audit_self::run(args, console),
    }
}

fn source(path: &Path) -> Result<(LeakConfig, LeakSource), CliError> {
    let config = read_leak_config(path)?;
    let source = LeakSource::read(&config, path.parent().unwrap_or_else(|| Path::new("")))?;
    Ok((config, source))
}

fn run_benchmark(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let (config, source) = source(&args.config)?;
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("results").join(&config.name));
    let runs = count_runs(&config, &source.years)?;
    let units = u64::try_from(runs).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "running", units, "runs"));
    let done = |count| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(count);
        }
    };
    let report = run_grid(&config, &source, (&out, available_threads()), done)?;
    drop(bar);
    show(&report, &out, console)
}

fn show(report: &LeakReport, out: &Path, console: Console) -> Result<(), CliError> {
    let text = format!(
        "{}\n{}\n{}: report.json, gains.csv, by_year.csv, costs.csv, manifest.toml\n",
        gains_table(report).text_in(console.layout()),
        years_table(report).text_in(console.layout()),
        out.display()
    );
    let value = serde_json::to_value(report).map_err(CliError::invalid)?;
    console.result(&text, &value)
}

fn gains_table(report: &LeakReport) -> TableData {
    let heads = [
        ("model", Left),
        ("h", Right),
        ("protocol", Left),
        ("SR@5bps", Right),
        ("gain", Right),
        ("rank IC", Right),
        ("turnover", Right),
        ("break-even bps", Right),
    ];
    let row = |row: &GainRow| {
        vec![
            TableCell::Text(row.model.clone()),
            TableCell::Count(row.horizon),
            TableCell::Text(row.protocol.clone()),
            TableCell::optional(row.sharpe, TableCell::Ratio),
            TableCell::optional(row.gain, TableCell::Ratio),
            TableCell::optional(row.rank_ic, TableCell::Ratio),
            TableCell::optional(row.turnover, TableCell::Ratio),
            TableCell::optional(row.break_even_bps, TableCell::Ratio),
        ]
    };
    let has_bands = report.gains.iter().any(|row| row.noise_band.is_some());
    let title = format!(
        "Leakage gains: {} names, test years {}",
        report.names,
        report
            .years
            .iter()
            .map(i32::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    );
    let mut table = TableData::new(title, heads).with_rows(report.gains.iter().map(row));
    table.notes.push(
        "a gain is the annual ratio of mean and deviation, after 5 hundredths of a percent a turnover, less that of CLEAN on the \
         same rows, days and seeds"
            .to_owned(),
    );
    let weak: Vec<String> = report
        .weak_switches()
        .into_iter()
        .filter_map(|(switch, mean)| Some(format!("{switch} {:.2}", mean?)))
        .collect();
    if !weak.is_empty() {
        table.notes.push(format!(
            "mean gain over models of the other switches: {}",
            weak.join(", ")
        ));
    }
    if has_bands {
        table.notes.push(not_distinguishable(report));
    }
    table
        .notes
        .extend(report.left_out.iter().map(|left| format!("no result: {left}")));
    table
}

/// Which gains of weak protocols lie within their noise bands.
fn not_distinguishable(report: &LeakReport) -> String {
    let banded = report.gains.iter().filter(|row| row.noise_band.is_some());
    let within: Vec<String> = banded
        .clone()
        .filter(|row| row.is_distinguishable() == Some(false))
        .map(|row| format!("{} h{} {}", row.model, row.horizon, row.protocol))
        .collect();
    let list = if within.is_empty() {
        "none".to_owned()
    } else {
        within.join(", ")
    };
    format!(
        "not distinguishable from panels whose names go on with each other's paths ({} of {}): {list}",
        within.len(),
        banded.count()
    )
}

fn years_table(report: &LeakReport) -> TableData {
    let heads = [
        ("model", Left),
        ("h", Right),
        ("protocol", Left),
        ("mean gain", Right),
        ("low", Right),
        ("high", Right),
        ("years", Right),
        ("p", Right),
    ];
    let rows = report.by_year.iter().map(|row| {
        vec![
            TableCell::Text(row.model.clone()),
            TableCell::Count(row.horizon),
            TableCell::Text(row.protocol.clone()),
            TableCell::optional(row.mean, TableCell::Ratio),
            TableCell::optional(row.low, TableCell::Ratio),
            TableCell::optional(row.high, TableCell::Ratio),
            TableCell::Text(format!("{}/{}", row.positive, row.gains.len())),
            TableCell::optional(row.p_greater, TableCell::Ratio),
        ]
    });
    TableData::new(
        "By year: mean, 95 % of its bootstrapped means, years above 0, exact one-sided p",
        heads,
    )
    .with_rows(rows)
}

fn run_sanity(args: &SanityArgs, console: Console) -> Result<(), CliError> {
    let (config, source) = source(&args.config)?;
    let rows = sanity(&config, &source)?;
    let heads = [
        ("protocol", Left),
        ("cells changed", Right),
        ("sessions changed", Right),
        ("SR with the bar", Right),
        ("SR without", Right),
        ("change", Right),
    ];
    let table = TableData::new(
        "Interventions: what lies after a cut replaced; the signal day's bar masked",
        heads,
    )
    .with_rows(rows.iter().map(|row| {
        vec![
            TableCell::Text(row.protocol.clone()),
            TableCell::Count(row.suffix_cells_changed),
            TableCell::Count(row.suffix_sessions_changed),
            TableCell::optional(row.sharpe_full, TableCell::Ratio),
            TableCell::optional(row.sharpe_masked, TableCell::Ratio),
            TableCell::optional(row.sharpe_change, TableCell::Ratio),
        ]
    }));
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
