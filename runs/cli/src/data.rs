//! `ktd data`: import, check, synth, factors.

use crate::CliError;
use crate::factors::{self, FactorsArgs};
use crate::output::Console;
use crate::progress::ImportBar;
use crate::trading_day::read_day;
use clap::{Args, Subcommand, ValueEnum};
use ktd_data::check::{report_json, report_text};
use ktd_data::import::reveal_all;
use ktd_data::{ImportOptions, ImportReport, JoinedCode, hash_text, import, load_panel};
use ktd_env::exchange::Rules;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{CheckOptions, DateSpan, IndexSeries, Market, PriceBasis, TradeDate, VolumeBasis, check_panel};
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_view::table::{Align, Table, grouped};
use serde_json::json;
use std::path::PathBuf;

/// Commands on market data.
#[derive(Debug, Subcommand)]
pub(super) enum DataCommand {
    /// Read Qlib bins, Parquet or CSV into one panel file.
    Import(Box<ImportArgs>),
    /// Generate a synthetic market: seeded, with real price grids, limits, halts, ex-dates and membership changes.
    Synth(SynthArgs),
    /// Report on a panel: coverage, oddities, what it cannot support.
    Check(CheckArgs),
    /// Write the factors of the screen by day and stock, with the return that followed, to train predictors on.
    Factors(FactorsArgs),
}

/// Basis of prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BasisArg {
    /// As traded.
    Raw,
    /// As traded x factor.
    Adjusted,
}

impl BasisArg {
    pub(super) const fn basis(self) -> PriceBasis {
        match self {
            Self::Raw => PriceBasis::Raw,
            Self::Adjusted => PriceBasis::Adjusted,
        }
    }
}

/// Basis of volumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum VolumeArg {
    /// Shares.
    Real,
    /// Shares / factor.
    Adjusted,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  ktd data import prices.parquet --basis raw --universe members.csv --out csi300.ktdp
  ktd data check csi300.ktdp
  ktd data synth --out synthetic.ktdp --seed 7
  ktd data factors csi300.ktdp --out factors.parquet";

const IMPORT_EXAMPLE: &str = "Example:
  ktd data import prices.parquet --basis raw --universe members.csv \\
      --index indices.parquet:SH000300 --index indices.parquet:SH000905 \\
      --names names.csv --sectors names.csv:sw_l1 --out csi300.ktdp

A long file (CSV, CSV.gz, Parquet) has the columns date, symbol, open, high, low, close, volume and, where \
known, amount, factor, suspended, st, listed, sector, pct_chg, dividend. A Qlib directory has calendars/, instruments/ \
and features/.";

#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLE)]
pub(super) struct ImportArgs {
    /// Qlib directory, Parquet file or CSV(.gz) file; several are read as one.
    #[arg(required = true, value_name = "SRC")]
    sources: Vec<PathBuf>,
    /// Basis of the prices; required where the source has factors.
    #[arg(long, value_enum)]
    basis: Option<BasisArg>,
    /// Basis of the volumes [default: adjusted for Qlib directories, real for the rest].
    #[arg(long, value_enum)]
    volume: Option<VolumeArg>,
    /// Index membership: CSV `symbol,start,end` or `symbol,from,until_excl`, or a Qlib list.
    #[arg(long, value_name = "F")]
    universe: Option<PathBuf>,
    /// Price index: a long file or a Qlib directory; repeat for more, the first is that of the universe.
    #[arg(long = "index", value_name = "F[:SYMBOL]")]
    indices: Vec<String>,
    /// Total-return index of the universe, the benchmark instead of the members' own total return.
    #[arg(long, value_name = "F[:SYMBOL]")]
    total_return_index: Option<String>,
    /// Company names, for the guard: CSV with a symbol column and columns that start with `name`.
    #[arg(long, value_name = "F")]
    names: Option<PathBuf>,
    /// Sectors: CSV with a symbol column and `sector`, `sw_l1` or the column named; with `start,end` or
    /// `from,until_excl` they are dated.
    #[arg(long, value_name = "F[:COLUMN]")]
    sectors: Option<String>,
    /// Listing dates: CSV with the columns `symbol`, `list_date`.
    #[arg(long = "listing", value_name = "F")]
    listings: Option<PathBuf>,
    /// ST, S shares, delisting periods: CSV `symbol,status,start,end`; ST, *ST, S or delisting.
    #[arg(long = "status", value_name = "F")]
    statuses: Option<PathBuf>,
    /// Cash dividends: CSV `symbol,ex_day,cash`, CNY a share before tax.
    #[arg(long, value_name = "F")]
    dividends: Option<PathBuf>,
    /// Changed codes beside the known ones: CSV `old,new,from`, the first day of the new code.
    #[arg(long, value_name = "F")]
    codes: Option<PathBuf>,
    /// Trading days, one a line [default: Qlib's own calendar, or the union of the rows' dates].
    #[arg(long, value_name = "F")]
    calendar: Option<PathBuf>,
    /// First day to keep.
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    start: Option<TradeDate>,
    /// Last day to keep.
    #[arg(long, value_name = "DATE", value_parser = read_day)]
    end: Option<TradeDate>,
    /// The panel file to write.
    #[arg(long, value_name = "PANEL")]
    out: PathBuf,
    /// Replace the panel file if it exists.
    #[arg(long)]
    force: bool,
}

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
        DataCommand::Import(args) => run_import(*args, console),
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
    let value = json!({
        "panel": args.out.display().to_string(),
        "bytes": bytes.len(),
        "content_hash": hash,
        "seed": args.seed,
        "names": market.names().len(),
        "days": days,
    });
    console.result(if console.quiet { "" } else { &text }, &value)
}

fn run_import(args: ImportArgs, console: Console) -> Result<(), CliError> {
    let overwrite = IfExists::refused_unless(args.force);
    check_writable(&args.out, overwrite)?;
    let options = ImportOptions {
        sources: args.sources,
        basis: args.basis.map(BasisArg::basis),
        volume: args.volume.map(|volume| match volume {
            VolumeArg::Real => VolumeBasis::Real,
            VolumeArg::Adjusted => VolumeBasis::Adjusted,
        }),
        universe: args.universe,
        indices: args.indices,
        total_return_index: args.total_return_index,
        names: args.names,
        sectors: args.sectors,
        listings: args.listings,
        statuses: args.statuses,
        dividends: args.dividends,
        codes: args.codes,
        calendar: args.calendar,
        start: args.start,
        end: args.end,
    };
    let imported = import(&options, &mut ImportBar::new(console))?;
    let bytes = imported.market.to_bytes();
    write_file(&args.out, &bytes, overwrite, Durability::Synced)?;
    let out = args.out.display().to_string();
    let value = import_json(&imported.market, &imported.report, &out, bytes.len());
    let text = import_text(&imported.market, &imported.report, &out, bytes.len());
    console.result(if console.quiet { "" } else { &text }, &value)
}

const fn basis_label(basis: PriceBasis) -> &'static str {
    match basis {
        PriceBasis::Raw => "raw",
        PriceBasis::Adjusted => "adjusted",
    }
}

const fn volume_label(volume: VolumeBasis) -> &'static str {
    match volume {
        VolumeBasis::Real => "real",
        VolumeBasis::Adjusted => "adjusted",
    }
}

fn import_json(market: &Market, report: &ImportReport, out: &str, bytes: usize) -> serde_json::Value {
    let day = |date: Option<&TradeDate>| date.map(|date| date.reveal());
    json!({
        "panel": out,
        "bytes": bytes,
        "content_hash": hash_text(market.content_hash()),
        "rows_read": report.rows_read,
        "rows_outside": report.rows_outside,
        "rows_without_close": report.build.rows_without_close,
        "bars": report.build.bars,
        "names": market.names().len(),
        "days": market.calendar().len(),
        "first_day": day(market.calendar().first()),
        "last_day": day(market.calendar().last()),
        "basis": basis_label(market.basis()),
        "volume": volume_label(report.volume),
        "amount_declared": market.amount_declared(),
        "prices_off_grid": market.price_grid().off_grid,
        "indices": market.indices().iter().map(|index| index.code.clone()).collect::<Vec<_>>(),
        "total_return_index": market.total_return_index().map(|index| index.code.clone()),
        "sectors": market.sectors().len(),
        "members_without_rows": reveal_all(&report.build.members_without_rows),
        "columns_unknown": report.unknown_columns,
        "columns_unused": report.unused_columns,
        "indices_skipped": report.skipped_indices,
        "codes_joined": report.joined_codes.iter().map(|joined| json!({
            "old": joined.old.reveal(),
            "new": joined.new.reveal(),
            "from": joined.from.reveal(),
            "rows": joined.rows,
        })).collect::<Vec<_>>(),
        "notes": market.notes(),
    })
}

fn import_text(market: &Market, report: &ImportReport, out: &str, bytes: usize) -> String {
    let day = |date: Option<&TradeDate>| date.map(|date| date.reveal()).unwrap_or_default();
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut row = |head: &str, cell: String| table.row([head.to_owned(), cell]);
    row("panel", format!("{out} ({} bytes)", grouped(bytes)));
    row("content hash", hash_text(market.content_hash()));
    let count = |rows: u64| grouped(usize::try_from(rows).unwrap_or(usize::MAX));
    row(
        "rows",
        format!(
            "{} read, {} outside the days kept, {} without a close",
            count(report.rows_read),
            count(report.rows_outside),
            grouped(report.build.rows_without_close)
        ),
    );
    row("bars", grouped(report.build.bars));
    row("names", grouped(market.names().len()));
    row(
        "trading days",
        format!(
            "{} ({} to {})",
            grouped(market.calendar().len()),
            day(market.calendar().first()),
            day(market.calendar().last())
        ),
    );
    row(
        "basis",
        format!(
            "prices {}, volumes {}",
            basis_label(market.basis()),
            volume_label(report.volume)
        ),
    );
    let grid = market.price_grid();
    row(
        "price grid",
        format!(
            "{} of {} prices off the 0.01 yuan grid",
            count(grid.off_grid),
            count(grid.prices)
        ),
    );
    let amount = if market.amount_declared() {
        "from the source"
    } else {
        "approximated as volume x (high + low + close) / 3"
    };
    row("amount", amount.to_owned());
    for (head, items) in import_lists(market, report) {
        if !items.is_empty() {
            row(head, items.join(", "));
        }
    }
    table.render()
}

/// What an import lists by name; an empty list is not shown.
fn import_lists(market: &Market, report: &ImportReport) -> [(&'static str, Vec<String>); 9] {
    let code = |index: &IndexSeries| index.code.clone();
    let sectors = market.sectors().len();
    let unused = report.unused_columns.iter();
    [
        ("price indices", market.indices().iter().map(code).collect()),
        (
            "total-return index",
            market.total_return_index().map(code).into_iter().collect(),
        ),
        (
            "sectors",
            (0 < sectors).then(|| grouped(sectors)).into_iter().collect(),
        ),
        (
            "members without rows",
            reveal_all(&report.build.members_without_rows),
        ),
        ("columns not read", report.unknown_columns.clone()),
        (
            "columns not used",
            unused.map(|column| (*column).to_owned()).collect(),
        ),
        ("indices passed over", report.skipped_indices.clone()),
        (
            "codes joined",
            report.joined_codes.iter().map(joined_text).collect(),
        ),
        ("notes", market.notes().to_vec()),
    ]
}

fn joined_text(joined: &JoinedCode) -> String {
    let (old, new) = (joined.old.reveal(), joined.new.reveal());
    format!(
        "{old} to {new} on {} ({} rows)",
        joined.from.reveal(),
        joined.rows
    )
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
    console.result(&report_text(&market, &report), &report_json(&market, &report))?;
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
