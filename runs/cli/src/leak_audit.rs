//! `ktd leak audit`: what columns read, proved on cut panels, and what signals of a file go with.

use crate::CliError;
use crate::runtime::runtime;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ktd_client::outside_agent::{ChildCommand, ProgramLimits, run_program};
use ktd_data::load_panel;
use ktd_env::Market;
use ktd_env::synth::generate;
use ktd_formulas::SYNTHETIC_STUDY;
use ktd_io::parallel::available_threads;
use ktd_leakage_study::{
    AuditOptions, AuditPanel, DEFAULT_TIMEOUT_SECONDS, FillRule, KnownAt, LeakManifest, LeakUniverse,
    ManifestCommand, SessionInstant, audit_manifest, audit_planted, audit_program, audit_signals,
    columns_audited, market_bars, read_signals, read_weights,
};
use ktd_study::Audited;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  ktd leak audit results/leak-demo/manifest.toml
  ktd leak audit --panel csi300.ktdp --command python3 mine.py
  ktd leak audit --signals s.csv --panel csi300.ktdp --known-at close
  ktd leak audit --weights weights.csv --panel csi300.ktdp
  ktd leak audit --planted --panel csi300.ktdp         # how often it is right

A program reads `date,symbol,open,high,low,close,volume,amount,factor` as CSV from standard input and writes `date,symbol` and its \
columns. It is started afresh on the whole panel, on panels that end earlier, and on panels whose later sessions are replaced; no cell \
up to a cut may change. It runs as you do, with PATH, HOME and the variables of --pass-env alone.

A file of signals has the lines `date,symbol,score..`, one of weights `date,symbol,weight` as for `ktd attribute --file`: \
they are known at the open of their date and trade there. Either can accuse and never acquit: centred volatilities and scales of the whole \
sample do not show in returns.

Exit code 1: a column reads what is not known when it is declared to be, or a signal is `suspect`; `unusual` is no accusation. Exit code 2: a program failed.";

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
    #[arg(long, value_name = "FILE", requires = "panel", conflicts_with_all = ["signals", "known_at", "fill"])]
    weights: Option<PathBuf>,
    /// Judge clean formulas and planted leaks on the panel: how often the audit of signals is right.
    #[arg(long, conflicts_with_all = ["signals", "weights"])]
    planted: bool,
    /// The seed of planted leaks.
    #[arg(long, default_value_t = 1, requires = "planted")]
    seed: u64,
    /// The panel file [default: the synthetic market of `ktd data synthetic`].
    #[arg(long, value_name = "FILE")]
    panel: Option<PathBuf>,
    /// When the columns of --command are known: `open`, `close`, or with sessions as `close-1`.
    #[arg(long, default_value = "close", value_name = "WHEN")]
    available_at: SessionInstant,
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
    #[arg(long, default_value = "close", value_name = "WHEN", value_parser = one_of(&KNOWN))]
    known_at: KnownAt,
    /// Where orders of a signal are filled.
    #[arg(long, default_value = "next-open", value_name = "WHERE", value_parser = one_of(&FILLS))]
    fill: FillRule,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse::<f64>()
        .ok()
        .filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to below 1, such as 1e-9".to_owned())
}

const KNOWN: [(&str, KnownAt); 2] = [("open", KnownAt::Open), ("close", KnownAt::Close)];

const FILLS: [(&str, FillRule); 5] = [
    ("same-open", FillRule::SameOpen),
    ("same-close", FillRule::SameClose),
    ("next-open", FillRule::NextOpen),
    ("next-close", FillRule::NextClose),
    ("open-after", FillRule::OpenAfter),
];

/// Reads one of these words.
fn one_of<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = choices.iter().map(|(word, _)| *word);
    PossibleValuesParser::new(words.collect::<Vec<_>>()).try_map(|word| {
        let choice = choices.iter().find(|(own, _)| **own == word);
        choice.map(|(_, choice)| *choice).ok_or("it is none of them")
    })
}

/// Audits what is asked for.
pub(super) fn audited(args: &AuditArgs) -> Result<Audited, CliError> {
    if let (Some(file), Some(panel)) = (args.weights.as_ref().or(args.signals.as_ref()), &args.panel) {
        let bars = market_bars(&load_panel(panel)?, LeakUniverse::All)?;
        let (signals, when) = match args.weights {
            Some(_) => (read_weights(file, &bars)?, (KnownAt::Open, FillRule::SameOpen)),
            None => (read_signals(file, &bars)?, (args.known_at, args.fill)),
        };
        return Ok(audit_signals(&bars, &signals, when, available_threads())?);
    }
    if args.planted {
        let market = market(args.panel.as_deref())?;
        return Ok(audit_planted(&market, args.seed, available_threads())?);
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
            let command = ManifestCommand {
                command: command.clone(),
                pass_env: args.pass_env.clone(),
                timeout_seconds: args.timeout_seconds,
            };
            audit_program(&command, args.available_at, &panel, &options)?
        }
        (None, None) => {
            return Err(CliError::input(
                "there is nothing to audit",
                "name a manifest, --command, --signals or --weights",
            ));
        }
    };
    let synthetic = args.panel.is_none();
    let notes = synthetic.then(|| "no --panel: this is the synthetic market".to_owned());
    Ok(columns_audited(columns, notes.into_iter().collect())?)
}

fn market(panel: Option<&Path>) -> Result<Market, CliError> {
    match panel {
        Some(panel) => Ok(load_panel(panel)?),
        None => generate(&SYNTHETIC_STUDY).map_err(CliError::invalid),
    }
}
