//! `ktd leak audit`: what columns read, proved on cut panels, and what signals of a file go with.

use crate::CliError;
use crate::leak_signals::{self, SignalsAudit, SignalsSource};
use crate::output::Console;
use crate::runtime::runtime;
use clap::{Args, ValueEnum};
use ktd_client::outside_agent::{ChildCommand, ProgramLimits, run_program};
use ktd_data::load_panel;
use ktd_env::Market;
use ktd_env::synth::generate;
use ktd_formulas::SYNTHETIC_STUDY;
use ktd_io::parallel::available_threads;
use ktd_leakage_study::{
    AuditOptions, AuditPanel, AuditedColumn, DEFAULT_TIMEOUT_SECONDS, FillRule, KnownAt, LeakManifest,
    ManifestCommand, SessionInstant, audit_manifest, audit_program,
};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  ktd leak audit results/leak-demo/manifest.toml
  ktd leak audit --panel csi300.ktdp --command python3 mine.py
  ktd leak audit --signals s.csv --panel csi300.ktdp --known-at close
  ktd leak audit --weights weights.csv --panel csi300.ktdp
  ktd leak audit --planted 20 --panel csi300.ktdp

A program reads `date,symbol,open,high,low,close,volume,amount,factor` as CSV from standard input and writes `date,symbol` and its \
columns. It is started afresh on the whole panel, on panels that end earlier, and on panels whose later sessions are replaced; no cell \
up to a cut may change. It runs as you do, with PATH, HOME and the variables of --pass-env alone.

A file of signals has the lines `date,symbol,score..`, one of weights `date,symbol,weight` as for `ktd attribute --file`: \
they are known at the open of their date and trade there. Either can accuse and never acquit: centred volatilities and scales of the whole \
sample do not show in returns.

Exit code 1: a column reads what is not known when it is declared to be, or a signal is suspect. Exit code 2: a program failed.";

/// The most that a program may write: so much, and so many times what it read.
const OUTPUT_BYTES: usize = 16 << 20;
const OUTPUT_TIMES: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct AuditArgs {
    /// A manifest whose features are computed again.
    #[arg(value_name = "MANIFEST", conflicts_with_all = ["command", "signals", "weights", "planted"], required_unless_present_any = ["command", "signals", "weights", "planted"])]
    manifest: Option<PathBuf>,
    /// A program and its arguments, behind all other options.
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true, conflicts_with_all = ["signals", "weights", "planted"])]
    command: Option<Vec<String>>,
    /// CSV with the columns `date,symbol` and one a signal.
    #[arg(long, value_name = "FILE", requires = "panel")]
    signals: Option<PathBuf>,
    /// CSV with the columns `date,symbol,weight`: each date with rows lists all that is held from its open on.
    #[arg(long, value_name = "FILE", requires = "panel", conflicts_with_all = ["signals", "known_at", "fill", "planted"])]
    weights: Option<PathBuf>,
    /// How often the audit of signals is right: 40 signals with known leaks on so many random halves of the panel's names, or on so many synthetic markets.
    #[arg(long, value_name = "DRAWS", conflicts_with = "signals", value_parser = clap::value_parser!(u64).range(1..=1000))]
    planted: Option<u64>,
    /// The panel file [default: the synthetic market of `ktd data synthetic`].
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
    /// When the columns of --command are known.
    #[arg(long, value_enum, default_value = "close", value_name = "WHEN")]
    available_at: Known,
    /// A variable of the environment that --command gets.
    #[arg(long, value_name = "NAME")]
    pass_env: Vec<String>,
    /// The longest that a run of --command may take.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TIMEOUT_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    timeout_seconds: u64,
    /// Numbers are equal within this share of the larger one; 0 asks for equal bits.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    tolerance: f64,
    /// When a signal of a day is known.
    #[arg(long, value_enum, default_value = "close", value_name = "WHEN")]
    known_at: Known,
    /// Where orders of a signal are filled.
    #[arg(long, value_enum, default_value = "next-open", value_name = "WHERE")]
    fill: Fill,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse::<f64>()
        .ok()
        .filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to below 1, such as 1e-9".to_owned())
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

/// Runs the command.
pub(super) fn run(args: &AuditArgs, console: Console) -> Result<(), CliError> {
    if let Some(draws) = args.planted {
        return leak_signals::rates(args.panel.as_deref(), draws, console);
    }
    if let (Some(weights), Some(panel)) = (&args.weights, &args.panel) {
        let audit = SignalsAudit {
            file: SignalsSource::Weights(weights),
            panel,
            known_at: KnownAt::Open,
            fill: FillRule::SameOpen,
        };
        return leak_signals::audit(&audit, console);
    }
    if let (Some(signals), Some(panel)) = (&args.signals, &args.panel) {
        let audit = SignalsAudit {
            file: SignalsSource::Scores(signals),
            panel,
            known_at: match args.known_at {
                Known::Open => KnownAt::Open,
                Known::Close => KnownAt::Close,
            },
            fill: args.fill.rule(),
        };
        return leak_signals::audit(&audit, console);
    }
    let manifest = args.manifest.as_deref().map(LeakManifest::read).transpose()?;
    let folder = manifest
        .as_ref()
        .map_or(Path::new(""), |manifest| &manifest.folder);
    let runtime = runtime()?;
    let run_one = |command: &ManifestCommand, input: Vec<u8>| {
        let child = ChildCommand::new(&command.command, &command.pass_env, folder)
            .map_err(|error| error.to_string())?;
        let limits = ProgramLimits {
            time: Duration::from_secs(command.timeout_seconds),
            output_bytes: OUTPUT_BYTES.saturating_add(OUTPUT_TIMES.saturating_mul(input.len())),
        };
        let ran = runtime.block_on(run_program(&child, input, limits));
        ran.map_err(|failure| failure.to_string())
    };
    let options = AuditOptions {
        tolerance: args.tolerance,
        threads: available_threads(),
        run_program: &run_one,
    };
    let panel = AuditPanel::of(&market(args.panel.as_deref())?)?;
    let columns = match (&manifest, &args.command) {
        (Some(manifest), _) => audit_manifest(manifest, &panel, &options)?,
        (None, Some(command)) => {
            let known = match args.available_at {
                Known::Open => SessionInstant::open(0),
                Known::Close => SessionInstant::close(0),
            };
            let command = ManifestCommand {
                command: command.clone(),
                pass_env: args.pass_env.clone(),
                timeout_seconds: args.timeout_seconds,
            };
            audit_program(&command, known, &panel, &options)?
        }
        (None, None) => {
            return Err(CliError::input(
                "there is nothing to audit",
                "name a manifest, --command, --signals or --weights",
            ));
        }
    };
    show(&columns, args.panel.is_none(), console)
}

fn market(panel: Option<&Path>) -> Result<Market, CliError> {
    match panel {
        Some(panel) => Ok(load_panel(panel)?),
        None => generate(&SYNTHETIC_STUDY).map_err(CliError::invalid),
    }
}

fn show(columns: &[AuditedColumn], is_synthetic: bool, console: Console) -> Result<(), CliError> {
    let mut table = table(columns);
    if is_synthetic {
        table
            .notes
            .push("no --panel: this is the synthetic market".to_owned());
    }
    console.result(&table.text_in(console.layout()), &json!({ "columns": columns }))?;
    if let Some(failed) = columns.iter().find(|column| column.verdict == "failed") {
        return Err(CliError::input(
            format_args!("{}: {}", failed.column, failed.text),
            "run the program by hand on the rows of the panel; a verdict needs every run",
        ));
    }
    let broken: Vec<&AuditedColumn> = columns.iter().filter(|column| column.is_broken).collect();
    let Some(first) = broken.first() else {
        return Ok(());
    };
    let more = match broken.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more columns break their contracts"),
    };
    Err(CliError::difference(format_args!(
        "{} is declared known at the {}: {}{more}",
        first.column,
        first.available_at,
        if first.verdict == "clean" {
            "it reads the day's own bar"
        } else {
            &first.text
        }
    )))
}

fn table(columns: &[AuditedColumn]) -> TableData {
    let heads = [
        ("column", Left),
        ("verdict", Left),
        ("declared", Left),
        ("own bar", Left),
        ("contract", Left),
        ("first difference", Left),
        ("whole", Right),
        ("in the run", Right),
    ];
    let rows = columns.iter().map(|column| {
        let own_bar = match column.reads_own_bar {
            Some(true) => "read",
            Some(false) => "not read",
            None => "",
        };
        // What the day's own bar says is no leak where the column is declared for its close.
        let first = column
            .first
            .as_ref()
            .filter(|_| column.verdict != "clean" || column.is_broken);
        let place = first.map(|first| format!("{} {}: {}", first.date, first.symbol, first.run));
        vec![
            TableCell::Text(column.column.clone()),
            TableCell::Text(column.text.clone()),
            TableCell::Text(column.available_at.clone()),
            TableCell::Text(own_bar.to_owned()),
            TableCell::Text(if column.is_broken { "broken" } else { "" }.to_owned()),
            TableCell::Text(place.unwrap_or_default()),
            TableCell::Text(first.map_or_else(String::new, |first| cell(first.whole))),
            TableCell::Text(first.map_or_else(String::new, |first| cell(first.replayed))),
        ]
    });
    let title = format!("{} columns on cut and changed panels", columns.len());
    let mut table = TableData::new(title, heads).with_rows(rows);
    table
        .notes
        .push("clean: no cell up to a cut changed at the cuts that were tested".to_owned());
    table
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "missing".to_owned(), |value| value.to_string())
}
