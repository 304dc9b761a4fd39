//! `ktd data import`: what it takes, and what it says.

use crate::CliError;
use crate::output::Console;
use crate::progress::ImportBar;
use crate::trading_day::read_day;
use crate::typed_command::quoted;
use clap::{Args, ValueEnum};
use ktd_data::import::reveal_all;
use ktd_data::{
    DayFact, ImportOptions, ImportReport, JoinedCode, SourceDocument, SourceForm, forms_text, hash_text,
    import,
};
use ktd_env::{IndexSeries, Market, PriceBasis, TradeDate, VolumeBasis};
use ktd_io::whole_file::{Durability, IfExists, check_writable, write_file};
use ktd_view::table::{Align, Table, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

const IMPORT_EXAMPLE: &str = "Examples:
  ktd data import akshare/                 # says what it understands of a folder, writes nothing
  ktd data import tushare/daily tushare/adj_factor.csv --universe members.csv --out csi300.ktdp
  ktd data import 'mine/*.csv' --map date=day,volume=lots:hands,amount=cash:thousands --out m.ktdp
  ktd data import prices.parquet --basis raw --universe members.csv \\
      --index indices.parquet:SH000300 --index indices.parquet:SH000905 \\
      --names names.csv --sectors names.csv:sw_l1 --out csi300.ktdp

A long file (CSV, CSV.gz, Parquet) has the columns date, symbol, open, high, low, close, volume and, where \
known, amount, factor, suspended, st, listed, sector, pct_chg, dividend; volumes are shares, amounts yuan. A file without \
symbol is one stock, whose code is the file's name. Tables of AKShare, Tushare, BaoStock, RiceQuant, JoinQuant and yfinance are known by \
their columns (docs/data-sources.md). A Qlib directory has calendars/, instruments/ and features/.";

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

#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLE)]
pub(super) struct ImportArgs {
    /// Qlib directory, Parquet file, CSV(.gz) file, folder or pattern of files; several are read as one.
    #[arg(required = true, value_name = "SRC")]
    sources: Vec<PathBuf>,
    /// Columns that are not known by their names; units of volume are shares and hands, of amount yuan, thousands,
    /// ten-thousands and millions.
    #[arg(long, value_name = "FIELD=COLUMN[:UNIT],...")]
    map: Option<String>,
    /// Basis of the prices; required where rows of the source have factors.
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
    /// The panel file to write; without it nothing is written.
    #[arg(long, value_name = "PANEL")]
    out: Option<PathBuf>,
    /// Replace the panel file if it exists.
    #[arg(long)]
    force: bool,
}

/// Reads the sources, says what was understood of them, and writes the panel.
///
/// # Errors
/// [`CliError`] for sources that cannot be read, and for a panel file that cannot be written.
pub(super) fn run(args: ImportArgs, console: Console) -> Result<(), CliError> {
    let overwrite = IfExists::refused_unless(args.force);
    if let Some(out) = &args.out {
        check_writable(out, overwrite)?;
    }
    let options = ImportOptions {
        sources: args.sources,
        map: args.map,
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
    if !console.json {
        console.note(forms_text(&imported.report.forms, &imported.report.missing).trim_end());
    }
    let bytes = imported.market.to_bytes();
    let out = match &args.out {
        Some(out) => {
            write_file(out, &bytes, overwrite, Durability::Synced)?;
            Some(out.display().to_string())
        }
        None => None,
    };
    let value = ImportedPanel::of(&imported.market, &imported.report, out.as_deref(), bytes.len());
    let text = import_text(&imported.market, &imported.report, out.as_deref(), bytes.len());
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

/// A panel that was imported.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ImportedPanel {
    /// Its file, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<String>,
    bytes: usize,
    content_hash: String,
    rows_read: u64,
    /// Rows outside the days kept.
    rows_outside: u64,
    rows_without_close: usize,
    bars: usize,
    names: usize,
    /// Trading days.
    days: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_day: Option<String>,
    basis: &'static str,
    volume: &'static str,
    amount_declared: bool,
    prices_off_grid: u64,
    indices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_return_index: Option<String>,
    sectors: usize,
    members_without_rows: Vec<String>,
    sources: Vec<SourceDocument>,
    /// Halts, ST and dividends: a count of 0 says that there are none.
    day_facts: Vec<DayFact>,
    /// What the sources do not have, and what that turns off.
    missing: Vec<String>,
    columns_unknown: Vec<String>,
    columns_unused: Vec<&'static str>,
    indices_skipped: Vec<String>,
    codes_joined: Vec<JoinedDocument>,
    notes: Vec<String>,
}

/// A code that was changed.
#[derive(Debug, JsonSchema, Serialize)]
struct JoinedDocument {
    old: String,
    new: String,
    /// The first day of the new one.
    from: String,
    rows: u64,
}

impl ImportedPanel {
    fn of(market: &Market, report: &ImportReport, out: Option<&str>, bytes: usize) -> Self {
        let day = |date: Option<&TradeDate>| date.map(|date| date.reveal());
        let code = |index: &IndexSeries| index.code.clone();
        let joined = report.joined_codes.iter().map(|joined| JoinedDocument {
            old: joined.old.reveal().to_owned(),
            new: joined.new.reveal().to_owned(),
            from: joined.from.reveal(),
            rows: joined.rows,
        });
        Self {
            panel: out.map(str::to_owned),
            bytes,
            content_hash: hash_text(market.content_hash()),
            rows_read: report.rows_read,
            rows_outside: report.rows_outside,
            rows_without_close: report.build.rows_without_close,
            bars: report.build.bars,
            names: market.names().len(),
            days: market.calendar().len(),
            first_day: day(market.calendar().first()),
            last_day: day(market.calendar().last()),
            basis: basis_label(market.basis()),
            volume: volume_label(report.volume),
            amount_declared: market.amount_declared(),
            prices_off_grid: market.price_grid().off_grid,
            indices: market.indices().iter().map(code).collect(),
            total_return_index: market.total_return_index().map(code),
            sectors: market.sectors().len(),
            members_without_rows: reveal_all(&report.build.members_without_rows),
            sources: report.forms.iter().map(SourceForm::document).collect(),
            day_facts: report.day_facts.clone(),
            missing: report.missing.clone(),
            columns_unknown: report.unknown_columns.clone(),
            columns_unused: report.unused_columns.clone(),
            indices_skipped: report.skipped_indices.clone(),
            codes_joined: joined.collect(),
            notes: market.notes().to_vec(),
        }
    }
}

fn import_text(market: &Market, report: &ImportReport, out: Option<&str>, bytes: usize) -> String {
    let day = |date: Option<&TradeDate>| date.map(|date| date.reveal()).unwrap_or_default();
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut row = |head: &str, cell: String| table.row([head.to_owned(), cell]);
    let next = out.map_or_else(String::new, |out| {
        format!("next: ktd data check {}\n", quoted(out))
    });
    let out = out.unwrap_or("not written: name a file with --out");
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
    for fact in &report.day_facts {
        row(fact.fact, fact.text());
    }
    for (head, items) in import_lists(market, report) {
        if !items.is_empty() {
            row(head, items.join(", "));
        }
    }
    table.render() + &next
}

/// What an import lists by name; an empty list is not shown.
fn import_lists(market: &Market, report: &ImportReport) -> [(&'static str, Vec<String>); 8] {
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
