//! `ktd data`: import, check, synth, factors.

use crate::CliError;
use crate::data_import::{self, ImportArgs};
use crate::factors::{self, FactorsArgs};
use crate::output::Console;
use crate::trading_day::read_day;
use clap::{Args, Subcommand};
use ktd_data::CheckedPanel;
use ktd_data::check::report_text;
use ktd_data::{hash_text, load_panel};
use ktd_env::exchange::Rules;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{CheckOptions, DateSpan, TradeDate, check_panel};
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_view::table::grouped;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Commands on market data.
#[derive(Debug, Subcommand)]
pub(super) enum DataCommand {
    /// Read Qlib bins, or Parquet and CSV files of data vendors, into one panel file.
    Import(Box<ImportArgs>),
    /// Generate a synthetic market: seeded, with real price grids, limits, halts, ex-dates and membership changes.
    Synth(SynthArgs),
    /// Report on a panel: coverage, oddities, what it cannot support.
    Check(CheckArgs),
    /// Write the factors of the screen by day and stock, with the return that followed, to train predictors on.
    Factors(FactorsArgs),
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd data import prices.parquet --basis raw --universe members.csv --out csi300.ktdp
  ktd data check csi300.ktdp
  ktd data synth --out synthetic.ktdp --seed 7
  ktd data factors csi300.ktdp --out factors.parquet";

const CHECK_EXAMPLE: &str = "Example:
  ktd data check csi300.ktdp --start 2024-01-02 --end 2026-04-10

Exit code 0 when the panel is usable, 1 when it is not (or, with --strict, when anything was found), \
2 when it cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLE)]
pub(super) struct CheckArgs {
    /// The panel file.
    panel: PathBuf,
    /// First day to check.
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    start: Option<TradeDate>,
    /// Last day to check.
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    end: Option<TradeDate>,
    /// How many examples of each finding to show.
    #[arg(long, default_value_t = 10)]
    examples: usize,
    /// Exit with code 1 when anything was found.
    #[arg(long)]
    strict: bool,
}

const SYNTH_EXAMPLE: &str = "Example:
  ktd data synth --out synthetic.ktdp --seed 7 --names 300 --days 800

The same seed, names and days give the same bytes on every machine.";

#[derive(Debug, Args)]
#[command(after_help = SYNTH_EXAMPLE)]
pub(super) struct SynthArgs {
    /// The panel file to write.
    #[arg(long, value_name = "PANEL")]
    out: PathBuf,
    /// Decides everything.
    #[arg(long, default_value_t = SynthConfig::default().seed)]
    seed: u64,
    /// How many names.
    #[arg(long, default_value_t = SynthConfig::default().names)]
    names: u32,
    /// How many trading days.
    #[arg(long, default_value_t = SynthConfig::default().days)]
    days: u32,
    /// Replace the panel file if it exists.
    #[arg(long)]
    force: bool,
}

/// Runs a command on market data.
pub(super) fn run(command: DataCommand, console: Console) -> Result<(), CliError> {
    match command {
        DataCommand::Import(args) => data_import::run(*args, console),
        DataCommand::Synth(args) => run_synth(&args, console),
        DataCommand::Check(args) => run_check(&args, console),
        DataCommand::Factors(args) => factors::run(&args, console),
    }
}

fn run_synth(args: &SynthArgs, console: Console) -> Result<(), CliError> {
    let overwrite = IfExists::refused_unless(args.force);
    check_writable(&args.out, overwrite)?;
    let config = SynthConfig {
        seed: args.seed,
        names: args.names,
        days: args.days,
    };
    let market = generate(&config).map_err(|error| CliError::invalid(&error).with_hint(error.hint()))?;
    let bytes = market.to_bytes();
    write_file(&args.out, &bytes, overwrite, Durability::Synced)?;
    let hash = hash_text(market.content_hash());
    let days = market.calendar().len();
    let text = format!(
        "{}: {} names, {} trading days, {} bytes, content hash {hash}",
        args.out.display(),
        grouped(market.names().len()),
        grouped(days),
        grouped(bytes.len()),
    );
    let value = GeneratedPanel {
        panel: args.out.display().to_string(),
        bytes: bytes.len(),
        content_hash: hash,
        seed: args.seed,
        names: market.names().len(),
        days,
    };
    console.result(if console.quiet { "" } else { &text }, &value)
}

/// A synthetic panel that was written.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct GeneratedPanel {
    /// Its file.
    panel: String,
    bytes: usize,
    content_hash: String,
    seed: u64,
    names: usize,
    /// Trading days.
    days: usize,
}

fn run_check(args: &CheckArgs, console: Console) -> Result<(), CliError> {
    if let (Some(start), Some(end)) = (args.start, args.end)
        && end < start
    {
        return Err(CliError::input(
            format_args!("--end {} lies before --start {}", end.reveal(), start.reveal()),
            "exchange the two days",
        ));
    }
    let market = load_panel(&args.panel)?;
    let options = CheckOptions {
        span: DateSpan {
            start: args.start.unwrap_or(DateSpan::ALWAYS.start),
            end: args.end.unwrap_or(DateSpan::ALWAYS.end),
        },
        examples: args.examples,
    };
    let report = check_panel(&market, &Rules::default(), options);
    console.result(
        &report_text(&market, &report),
        &CheckedPanel::of(&market, &report),
    )?;
    if !report.is_usable() {
        return Err(CliError::difference(format_args!(
            "{} is not usable: {} trading days and {} member-days with a bar in the days checked",
            args.panel.display(),
            report.days,
            report.member_days().1
        ))
        .with_hint("an episode needs two trading days and a universe: check --universe and the dates"));
    }
    if args.strict && report.has_findings() {
        return Err(
            CliError::difference("the panel has findings, and --strict was given")
                .with_hint("the findings stand above; without --strict they do not fail the check"),
        );
    }
    Ok(())
}
