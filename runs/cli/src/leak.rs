//! `ktd leak`: what a back-test owes to conventions that let tomorrow in, and whether a signal leaks.

use crate::CliError;
use crate::leak_audit_self::{self, AuditSelfArgs};
use crate::output::Console;
use crate::progress::Progress;
use clap::{Args, Subcommand, ValueEnum};
use ktd_data::load_panel;
use ktd_io::parallel::available_threads;
use ktd_studies::leak::{
    AuditedSignal, FillRule, GainRow, KnownAt, LeakConfig, LeakGrid, LeakReport, LeakSource, LeakUniverse,
    SignalVerdict, audit_signals, market_bars, read_leak_config, read_report, read_signals, run_grid, sanity,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};
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
    /// Ask whether signals of a file go with returns that they cannot know.
    Audit(AuditArgs),
    /// Turn the benchmark on this program: whether its tools, exchange or masks see a later day.
    AuditSelf(AuditSelfArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd leak run runs/configs/leak_demo.toml            # synthetic market, no data
  ktd leak audit signals.csv --panel csi300.ktdp --known-at close";

const RUN_EXAMPLE: &str = "\
Example:
  ktd leak run runs/configs/leak_demo.toml --out results/leak

A market without any alpha shows what a protocol is worth by itself: a centred window and a fill at the signal day's own open \
pretend annual ratios far above any that is real. Every figure is on the same rows, days and seeds.";

const AUDIT_EXAMPLE: &str = "\
Example:
  ktd leak audit signals.csv --panel csi300.ktdp --known-at close --fill next-open

The file has the lines `date,symbol,score..`, a column a signal. Exit code 1: a signal is suspect. A file of scores can accuse and \
never acquit: centred volatilities and scales of the whole sample do not show in returns.";

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

#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLE)]
pub(super) struct AuditArgs {
    /// CSV with the columns `date,symbol` and one a signal.
    signals: PathBuf,
    /// The panel file.
    #[arg(long, value_name = "FILE")]
    panel: PathBuf,
    /// When a signal of a day is known.
    #[arg(long, value_enum, default_value = "close")]
    known_at: Known,
    /// Where its orders are filled.
    #[arg(long, value_enum, default_value = "next-open")]
    fill: Fill,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Known {
    /// At the day's open.
    Open,
    /// At the day's close.
    Close,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Fill {
    SameOpen,
    SameClose,
    NextOpen,
    NextClose,
    OpenAfter,
}

impl Fill {
    const fn rule(self) -> FillRule {
        match self {
            Self::SameOpen => FillRule::SameOpen,
            Self::SameClose => FillRule::SameClose,
            Self::NextOpen => FillRule::NextOpen,
            Self::NextClose => FillRule::NextClose,
            Self::OpenAfter => FillRule::OpenAfter,
        }
    }
}

/// Works on leaks.
pub(super) fn run(command: &LeakCommand, console: Console) -> Result<(), CliError> {
    match command {
        LeakCommand::Run(args) => run_benchmark(args, console),
        LeakCommand::Report(args) => show(&read_report(&args.dir)?, &args.dir, console),
        LeakCommand::Sanity(args) => run_sanity(args, console),
        LeakCommand::Audit(args) => audit(args, console),
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
    let runs = LeakGrid::of(&config, &source.years)?.keys.len();
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
        "{}\n{}\n{}: report.json, gains.csv, by_year.csv, costs.csv\n",
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
    table
        .notes
        .extend(report.left_out.iter().map(|left| format!("no result: {left}")));
    table
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

fn audit(args: &AuditArgs, console: Console) -> Result<(), CliError> {
    let bars = market_bars(&load_panel(&args.panel)?, LeakUniverse::All)?;
    let signals = read_signals(&args.signals, &bars)?;
    let known_at = match args.known_at {
        Known::Open => KnownAt::Open,
        Known::Close => KnownAt::Close,
    };
    let audited = audit_signals(&bars, &signals, (known_at, args.fill.rule()), available_threads())?;
    let heads = [
        ("signal", Left),
        ("verdict", Left),
        ("days", Right),
        ("goes with", Left),
        ("rank IC", Right),
        ("t", Right),
        ("largest far", Right),
        ("SR same open", Right),
        ("SR next open", Right),
    ];
    let mut table = TableData::new(
        format!(
            "{} signals, known at the {}",
            audited.len(),
            if matches!(args.known_at, Known::Open) {
                "open"
            } else {
                "close"
            }
        ),
        heads,
    )
    .with_rows(audited.iter().map(audit_row));
    table.notes.push(
        "a file of scores can accuse and never acquit: centred volatilities and scales of the whole sample do not show in returns"
            .to_owned(),
    );
    for (what, count) in [
        ("rows of codes that the panel lacks", signals.unknown_codes),
        ("rows of days that are no sessions", signals.unknown_days),
        ("cells that are empty or not finite", signals.missing_cells),
    ] {
        if 0 < count {
            table.notes.push(format!("{count} {what} were left out"));
        }
    }
    let value = json!({ "signals": audited.iter().map(audit_json).collect::<Vec<_>>(), "rows": signals.rows,
        "unknown_codes": signals.unknown_codes, "unknown_days": signals.unknown_days, "missing_cells": signals.missing_cells });
    console.result(&table.text_in(console.layout()), &value)?;
    let suspect: Vec<&str> = audited
        .iter()
        .filter(|signal| matches!(signal.audit.verdict, SignalVerdict::Suspect { .. }))
        .map(|signal| signal.name.as_str())
        .collect();
    if suspect.is_empty() {
        return Ok(());
    }
    Err(CliError::difference(format_args!(
        "{} goes with returns that it cannot know",
        suspect.join(", ")
    )))
}

/// The annual ratio of a signal's best tenth at a fill.
fn rung(signal: &AuditedSignal, fill: FillRule) -> Option<f64> {
    let rung = signal.audit.ladder.iter().find(|rung| rung.fill == fill)?;
    rung.sharpe.as_ref().ok().copied()
}

fn piece(verdict: &SignalVerdict) -> Option<String> {
    let SignalVerdict::Suspect { piece, .. } = verdict else {
        return None;
    };
    let part = if piece.is_night() {
        "night into"
    } else {
        "session of"
    };
    Some(format!("{part} day {:+}", piece.sessions_after()))
}

fn audit_row(signal: &AuditedSignal) -> Vec<TableCell> {
    let verdict = &signal.audit.verdict;
    let (ic, t, far) = match verdict {
        SignalVerdict::Suspect {
            ic, t, largest_far, ..
        } => (Some(*ic), *t, Some(*largest_far)),
        SignalVerdict::NothingSeen | SignalVerdict::TooLittle { .. } => (None, None, None),
    };
    vec![
        TableCell::Text(signal.name.clone()),
        TableCell::Text(verdict.name().to_owned()),
        TableCell::Count(signal.days),
        TableCell::Text(piece(verdict).unwrap_or_default()),
        TableCell::optional(ic, TableCell::Ratio),
        TableCell::optional(t, TableCell::Ratio),
        TableCell::optional(far, TableCell::Ratio),
        TableCell::optional(rung(signal, FillRule::SameOpen), TableCell::Ratio),
        TableCell::optional(rung(signal, FillRule::NextOpen), TableCell::Ratio),
    ]
}

fn audit_json(signal: &AuditedSignal) -> Value {
    let profile = signal
        .audit
        .profile
        .iter()
        .map(|row| json!({ "piece": row.piece.0, "days": row.days, "ic": row.ic, "t": row.t }));
    let ladder = signal.audit.ladder.iter().map(|rung| {
        json!({ "fill": format!("{:?}", rung.fill), "sharpe": rung.sharpe.as_ref().ok(), "turnover": rung.turnover })
    });
    json!({
        "signal": signal.name,
        "verdict": signal.audit.verdict.name(),
        "goes_with": piece(&signal.audit.verdict),
        "days": signal.days,
        "profile": profile.collect::<Vec<_>>(),
        "fill_ladder": ladder.collect::<Vec<_>>(),
        "delayed_sharpe": signal.audit.delayed.sharpe.as_ref().ok(),
    })
}
