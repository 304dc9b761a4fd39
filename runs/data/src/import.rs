//! `ktd data import`: from Qlib bins, Parquet and CSV to one panel.

use super::code_changes::{CodeChanges, JoinedCode};
use super::collector::Collector;
use super::columns::{Column, Layout};
use super::csv_rows::CsvRows;
use super::dividends::add_dividends;
use super::facts::{read_company_names, read_listings};
use super::file_kind::is_parquet;
use super::index_levels::read_index;
use super::members::read_members;
use super::panel_file::is_panel;
use super::parquet_rows::ParquetRows;
use super::qlib_bins::{QlibBins, read_calendar};
use super::sectors::{add_sectors, read_sectors};
use super::statuses::add_statuses;
use crate::DataFileError;
use ktd_env::{
    BuildReport, DateSpan, Market, MarketBuilder, PanelOptions, PriceBasis, Ticker, TradeDate, VolumeBasis,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// An observer of long reading.
pub trait ImportProgress {
    /// Reading begins; `unit` names so many units in the plural.
    fn begin(&mut self, what: &'static str, units: u64, unit: &'static str);

    /// So many more units are read.
    fn advance(&mut self, units: u64);
}

/// No observer.
impl ImportProgress for () {
    fn begin(&mut self, _: &'static str, _: u64, _: &'static str) {}

    fn advance(&mut self, _: u64) {}
}

/// What to import and what the sources do not say themselves.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Qlib directories, Parquet files, CSV(.gz) files.
    pub sources: Vec<PathBuf>,
    /// Basis of the prices; required where there is a factor column.
    pub basis: Option<PriceBasis>,
    /// Basis of the volumes; by default shares / factor for Qlib, shares for the rest.
    pub volume: Option<VolumeBasis>,
    /// Index membership; without it every name is a member on every day.
    pub universe: Option<PathBuf>,
    /// Price indices, `F` or `F:SYMBOL`; the first is that of the universe.
    pub indices: Vec<String>,
    /// The total-return index of the universe, `F` or `F:SYMBOL`.
    pub total_return_index: Option<String>,
    /// Company names.
    pub names: Option<PathBuf>,
    /// Sectors, `F` or `F:COLUMN`; dated where the file has dates.
    pub sectors: Option<String>,
    /// Listing dates.
    pub listings: Option<PathBuf>,
    /// ST, S shares and delisting periods by date.
    pub statuses: Option<PathBuf>,
    /// Cash dividends by ex-day.
    pub dividends: Option<PathBuf>,
    /// Changes of codes beside the known ones.
    pub codes: Option<PathBuf>,
    /// Trading days; by default Qlib's own calendar or the union of the rows' dates.
    pub calendar: Option<PathBuf>,
    /// First day to keep.
    pub start: Option<TradeDate>,
    /// Last day to keep.
    pub end: Option<TradeDate>,
}

/// A panel and what importing it found.
#[derive(Debug)]
pub struct Imported {
    /// The panel.
    pub market: Market,
    /// What was read and what was left out.
    pub report: ImportReport,
}

/// What import tells its user.
#[derive(Debug, Clone)]
pub struct ImportReport {
    /// Rows in all sources.
    pub rows_read: u64,
    /// Rows before `start` or after `end`.
    pub rows_outside: u64,
    /// Bars, rows without a close, members without rows.
    pub build: BuildReport,
    /// Basis of the volumes.
    pub volume: VolumeBasis,
    /// Columns or fields that nothing reads.
    pub unknown_columns: Vec<String>,
    /// Columns that are known but not used.
    pub unused_columns: Vec<&'static str>,
    /// Index series among Qlib's instruments, passed over.
    pub skipped_indices: Vec<String>,
    /// Old codes whose rows are those of a newer code.
    pub joined_codes: Vec<JoinedCode>,
}

/// Reads all sources and builds the panel.
///
/// # Errors
/// [`DataFileError`] naming file and row, and how to fix it.
pub fn import(options: &ImportOptions, progress: &mut dyn ImportProgress) -> Result<Imported, DataFileError> {
    if let (Some(start), Some(end)) = (options.start, options.end)
        && end < start
    {
        return Err(DataFileError::input(
            format_args!("--end {} lies before --start {}", end.reveal(), start.reveal()),
            "exchange the two days",
        ));
    }
    let sources = options
        .sources
        .iter()
        .map(|path| Source::open(path))
        .collect::<Result<Vec<_>, _>>()?;
    let panel = panel_options(options, &sources)?;
    let volume = panel.volume;
    let keep = DateSpan {
        start: options.start.unwrap_or(DateSpan::ALWAYS.start),
        end: options.end.unwrap_or(DateSpan::ALWAYS.end),
    };
    let codes = CodeChanges::read(options.codes.as_deref())?;
    let mut collector = Collector::new(panel, keep, codes.clone());
    let (unknown_columns, unused_columns, skipped_indices) = leftovers(&sources);
    let mut spans_end = BTreeMap::new();
    for source in sources {
        if let Source::Qlib(bins) = &source {
            for (code, date) in bins.last_rows() {
                let end = spans_end.entry(codes.newest(code)).or_insert(date);
                *end = date.max(*end);
            }
        }
        source.read(&mut collector, progress)?;
    }
    let (rows_read, rows_outside) = (collector.rows_read, collector.rows_outside);
    let (mut builder, joined_codes) = collector.finish()?;
    // Qlib says itself where a name's rows end; a halt at the end of the data is no delisting.
    for (ticker, date) in spans_end {
        builder.declare_last_row(ticker, date);
    }
    add_facts(&mut builder, options, &codes)?;
    let (market, build) = builder.build()?;
    let report = ImportReport {
        rows_read,
        rows_outside,
        build,
        volume,
        unknown_columns,
        unused_columns,
        skipped_indices,
        joined_codes,
    };
    Ok(Imported { market, report })
}

/// Columns nothing reads, columns known but not used, index series passed over.
fn leftovers(sources: &[Source]) -> (Vec<String>, Vec<&'static str>, Vec<String>) {
    let mut unknown: Vec<String> = sources.iter().flat_map(Source::unknown_columns).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let has_bonus = sources.iter().any(|source| source.has(Column::Bonus));
    let unused = has_bonus.then_some(Column::Bonus.label()).into_iter().collect();
    let mut skipped: Vec<String> = sources.iter().flat_map(Source::skipped_indices).collect();
    skipped.sort_unstable();
    skipped.dedup();
    (unknown, unused, skipped)
}

fn panel_options(options: &ImportOptions, sources: &[Source]) -> Result<PanelOptions, DataFileError> {
    let Some(first) = sources.first() else {
        return Err(DataFileError::input(
            "no source is given",
            "name a Qlib directory, a Parquet file or a CSV file",
        ));
    };
    let has_factors = first.has(Column::Factor);
    let has_amounts = first.has(Column::Amount);
    if sources
        .iter()
        .any(|source| source.has(Column::Factor) != has_factors || source.has(Column::Amount) != has_amounts)
    {
        return Err(DataFileError::invalid(
            "some of the sources have a factor or amount column and some have none",
        )
        .with_hint("import sources of one layout together"));
    }
    let basis = match (options.basis, has_factors) {
        (Some(basis), _) => basis,
        (None, false) => PriceBasis::Raw,
        (None, true) => {
            return Err(
                DataFileError::invalid("the source has factors, but the basis of its prices is not declared").with_hint(
                    "pass --basis raw when prices are as traded, --basis adjusted when they are price x factor (Qlib)",
                ),
            );
        }
    };
    let is_qlib = matches!(first, Source::Qlib(_));
    let by_kind = if is_qlib && has_factors {
        VolumeBasis::Adjusted
    } else {
        VolumeBasis::Real
    };
    let declared = match (&options.calendar, first) {
        (Some(path), _) => Some(read_calendar(path)?),
        (None, Source::Qlib(bins)) => Some(bins.calendar.clone()),
        (None, Source::Csv(_) | Source::Parquet(_)) => None,
    };
    let within = |day: &TradeDate| {
        options.start.is_none_or(|start| start <= *day) && options.end.is_none_or(|end| *day <= end)
    };
    Ok(PanelOptions {
        basis,
        volume: options.volume.unwrap_or(by_kind),
        has_factors,
        has_amounts,
        calendar: declared.map(|days| days.into_iter().filter(within).collect()),
    })
}

fn add_facts(
    builder: &mut MarketBuilder,
    options: &ImportOptions,
    codes: &CodeChanges,
) -> Result<(), DataFileError> {
    if let Some(path) = &options.universe {
        for (ticker, span) in read_members(path)? {
            builder.add_member(codes.newest(ticker), span);
        }
    } else {
        builder.declare_all_members();
        builder.add_note("no index membership was given: every name is a member on every day".to_owned());
    }
    add_indices(builder, options)?;
    if let Some(path) = &options.names {
        for (ticker, name) in read_company_names(path)? {
            builder.add_company_name(codes.newest(ticker), &name);
        }
    }
    if let Some(argument) = &options.sectors {
        add_sectors(builder, &read_sectors(argument)?, codes);
    }
    if let Some(path) = &options.listings {
        let listings = read_listings(path)?;
        for (ticker, date) in listings
            .into_iter()
            .filter_map(|(code, date)| codes.listing(code, date))
        {
            builder.set_listed(ticker, date);
        }
    }
    if let Some(path) = &options.statuses {
        add_statuses(builder, path, codes)?;
    }
    if let Some(path) = &options.dividends {
        add_dividends(builder, path, codes)?;
    }
    Ok(())
}

/// Index series, each once, and the total-return index.
fn add_indices(builder: &mut MarketBuilder, options: &ImportOptions) -> Result<(), DataFileError> {
    let mut seen = BTreeSet::new();
    for argument in &options.indices {
        let (code, levels) = read_index(argument)?;
        if !seen.insert(code.clone()) {
            return Err(DataFileError::input(
                format_args!("--index {argument}: {code} is imported twice"),
                "name each index once",
            ));
        }
        builder.add_index(&code, levels);
    }
    if let Some(argument) = &options.total_return_index {
        let (code, levels) = read_index(argument)?;
        builder.set_total_return_index(&code, levels);
    }
    Ok(())
}

/// The bars of these names in a panel's report: codes in the order of the panel.
#[must_use]
pub fn reveal_all(tickers: &[Ticker]) -> Vec<String> {
    tickers.iter().map(|ticker| ticker.reveal().to_owned()).collect()
}

/// A source, by its content.
#[derive(Debug)]
enum Source {
    Qlib(QlibBins),
    Parquet(ParquetRows),
    Csv(CsvRows),
}

impl Source {
    fn open(path: &Path) -> Result<Self, DataFileError> {
        if path.is_dir() {
            return QlibBins::open(path).map(Self::Qlib);
        }
        if is_panel(path)? {
            return Err(
                DataFileError::invalid(format_args!("{} is a panel already", path.display()))
                    .with_hint("look at it with `ktd data check`"),
            );
        }
        if is_parquet(path)? {
            ParquetRows::open(path).map(Self::Parquet)
        } else {
            CsvRows::open(path).map(Self::Csv)
        }
    }

    const fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Qlib(_) => None,
            Self::Parquet(rows) => Some(&rows.layout),
            Self::Csv(rows) => Some(&rows.layout),
        }
    }

    fn has(&self, column: Column) -> bool {
        match (self, column) {
            (Self::Qlib(bins), Column::Factor) => bins.has_factors,
            (Self::Qlib(bins), Column::Amount) => bins.has_amounts,
            _ => self.layout().is_some_and(|layout| layout.has(column)),
        }
    }

    fn unknown_columns(&self) -> Vec<String> {
        match self {
            Self::Qlib(bins) => bins.unknown_fields.clone(),
            Self::Parquet(rows) => rows.layout.unknown.clone(),
            Self::Csv(rows) => rows.layout.unknown.clone(),
        }
    }

    fn skipped_indices(&self) -> Vec<String> {
        match self {
            Self::Qlib(bins) => bins.skipped_indices.clone(),
            Self::Parquet(_) | Self::Csv(_) => Vec::new(),
        }
    }

    fn read(self, collector: &mut Collector, progress: &mut dyn ImportProgress) -> Result<(), DataFileError> {
        match self {
            Self::Qlib(bins) => {
                progress.begin("reading bins", bins.instrument_count(), "instruments");
                bins.read(&mut |row| collector.add(row), |units| progress.advance(units))
            }
            Self::Parquet(rows) => {
                progress.begin("reading Parquet", rows.rows, "rows");
                rows.read(&mut |row| {
                    progress.advance(1);
                    collector.add(row)
                })
            }
            Self::Csv(rows) => rows.read(&mut |row| collector.add(row)),
        }
    }
}
