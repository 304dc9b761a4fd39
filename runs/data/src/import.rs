//! `ktd data import`: from Qlib bins, Parquet and CSV to one panel.

use super::code_changes::{CodeChanges, JoinedCode};
use super::collector::Collector;
use super::columns::{Column, SourceRow};
use super::day_facts::{DayFact, SaidOfDays, said_in_part};
use super::dividends::add_dividends;
use super::facts::{read_company_names, read_listings};
pub use super::import_progress::ImportProgress;
use super::index_levels::read_index;
use super::members::{NO_MEMBERSHIP, read_members};
use super::qlib_bins::read_calendar;
use super::sectors::{add_sectors, read_sectors};
use super::source::{Source, forms_of};
use super::source_files::files_of;
use super::source_forms::SourceForm;
use super::statuses::add_statuses;
use super::unit_check::{check_as_traded, check_units};
use super::units::read_map;
use crate::DataFileError;
use ktd_env::{
    BuildReport, DateSpan, FactorTable, Market, MarketBuilder, PanelOptions, PriceBasis, Survivors, Ticker,
    TradeDate, UnsupportedRule, VolumeBasis, unsupported_rules,
};
use ktd_view::draw::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What to import and what the sources do not say themselves.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Qlib directories, Parquet files, CSV(.gz) files, folders of them, and patterns with `*`; files of factors too.
    pub sources: Vec<PathBuf>,
    /// Basis of the prices; required where there is a factor column.
    pub basis: Option<PriceBasis>,
    /// Basis of the volumes; by default shares / factor for Qlib, shares for the rest.
    pub volume: Option<VolumeBasis>,
    /// `FIELD=COLUMN[:UNIT],...`: columns that are not known by their names.
    pub map: Option<String>,
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
    /// What was understood of the sources.
    pub forms: Vec<SourceForm>,
    /// Halts, ST and dividends: how many, none, or unknown.
    pub day_facts: Vec<DayFact>,
    /// What the panel lacks and what that turns off.
    pub missing: Vec<String>,
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
    let map = read_map(options.map.as_deref())?;
    let files = files_of(&options.sources)?;
    let sources = files
        .iter()
        .map(|path| Source::open(path, &map))
        .collect::<Result<Vec<_>, _>>()?;
    let (mut forms, of_source) = forms_of(&files, &sources);
    let (factors, sources): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .zip(of_source)
        .partition(|(source, _)| source.is_factors());
    let panel = panel_options(options, &sources, !factors.is_empty())?;
    let (volume, has_factors) = (panel.volume, panel.has_factors);
    let keep = DateSpan {
        start: options.start.unwrap_or(DateSpan::ALWAYS.start),
        end: options.end.unwrap_or(DateSpan::ALWAYS.end),
    };
    let codes = CodeChanges::read(options.codes.as_deref())?;
    let mut collector = Collector::new(panel, keep, codes.clone());
    let (unknown_columns, unused_columns, skipped_indices) = leftovers(&sources);
    let beside = [options.statuses.is_some(), options.dividends.is_some()];
    let said = SaidOfDays::of(&sources, beside);
    let (spans_end, empty) = read_all(factors, sources, &mut forms, &mut collector, &codes, progress)?;
    let (rows_read, rows_outside) = (collector.rows_read, collector.rows_outside);
    let (mut builder, joined_codes) = collector.finish()?;
    // Qlib says itself where a name's rows end; a halt at the end of the data is no delisting.
    for (ticker, date) in spans_end {
        builder.declare_last_row(ticker, date);
    }
    add_facts(&mut builder, options, &codes)?;
    if let Some(map) = &options.map {
        builder.add_note(format!("columns were named by hand: --map {map}"));
    }
    let (market, build) = builder.build()?;
    check_units(&market, &forms)?;
    check_as_traded(&market, has_factors)?;
    let mut missing = missing(&market, options, &forms, has_factors);
    missing.extend(said_in_part(&forms, beside));
    missing.extend(without_rows(&empty, files.len()));
    let report = ImportReport {
        rows_read,
        rows_outside,
        build,
        volume,
        unknown_columns,
        unused_columns,
        skipped_indices,
        joined_codes,
        forms,
        day_facts: said.facts(&market),
        missing,
    };
    Ok(Imported { market, report })
}

/// Reads factors first, then prices; the days on which sources say that a name's rows end, and files of prices without a row.
fn read_all(
    factors: Vec<(Source, Option<usize>)>,
    prices: Vec<(Source, Option<usize>)>,
    forms: &mut [SourceForm],
    collector: &mut Collector,
    codes: &CodeChanges,
    progress: &mut dyn ImportProgress,
) -> Result<(BTreeMap<Ticker, TradeDate>, Vec<String>), DataFileError> {
    let mut see = |form: Option<usize>, row: &SourceRow<'_>| {
        if let Some(form) = form.and_then(|form| forms.get_mut(form)) {
            form.see(row);
        }
    };
    for (source, form) in factors {
        let is_by_ex_day = source.has(Column::FactorSince);
        source.read(progress, &mut |row| {
            see(form, row);
            collector.add_factor(row, is_by_ex_day);
            Ok(())
        })?;
    }
    let (mut spans_end, mut empty) = (BTreeMap::new(), Vec::new());
    for (source, form) in prices {
        if let Source::Qlib(bins) = &source {
            for (code, date) in bins.last_rows() {
                let end = spans_end.entry(codes.newest(code)).or_insert(date);
                *end = date.max(*end);
            }
        }
        let (file, rows_before) = (source.file(), collector.rows_read);
        source.read(progress, &mut |row| {
            see(form, row);
            collector.add(row)
        })?;
        empty.extend(file.filter(|_| collector.rows_read == rows_before));
    }
    Ok((spans_end, empty))
}

/// What is said of files of prices without a row.
fn without_rows(empty: &[String], files: usize) -> Option<String> {
    const SHOWN: usize = 5;
    let mut shown: Vec<&str> = empty.iter().take(SHOWN).map(String::as_str).collect();
    if SHOWN < empty.len() {
        shown.push("...");
    }
    (!empty.is_empty()).then(|| {
        format!(
            "no rows in {} of {files} files, whose stocks or days are not in the panel: {}",
            empty.len(),
            shown.join(", ")
        )
    })
}

/// What the panel lacks and what that turns off.
fn missing(market: &Market, options: &ImportOptions, forms: &[SourceForm], has_factors: bool) -> Vec<String> {
    let read = |column| Some(forms.iter().find_map(|form| form.taken(column))?.0);
    let (st, dividend) = (read(Column::St), read(Column::Dividend));
    let said = |rule: UnsupportedRule| match (rule, option_of(rule), st, dividend) {
        // A panel without ST dates tells no run which of the two it is: the words are one, and import alone knows more.
        (UnsupportedRule::StLimit, _, Some(column), _) => format!(
            "{}; the column {column} was read, and no stock was ST on any day of it",
            rule.text()
        ),
        (UnsupportedRule::DividendTax, _, _, Some(column)) => {
            format!("no dividends: the column {column} was read, and no stock paid one on any day of it")
        }
        (_, Some(option), ..) => rule.text().replacen(':', &format!(" ({option}):"), 1),
        (_, None, ..) => rule.text().to_owned(),
    };
    let unsupported = unsupported_rules(market).into_iter();
    // Factors that were read may all be 1.
    let unsupported = unsupported.filter(|rule| *rule != UnsupportedRule::Factors || !has_factors);
    let mut missing: Vec<String> = unsupported.map(said).collect();
    if market.basis() == PriceBasis::Adjusted && !has_factors {
        let taken = "no factor of these adjusted prices: they are taken as those traded, so lots, limits and fees may be of prices that never were";
        missing.push(taken.to_owned());
    }
    missing.extend(Survivors::of_panel(market).text("the panel"));
    let names = market.names().count();
    if names < FactorTable::MIN_NAMES {
        missing.push(format!(
            "{}, and the factor model needs {}: boards show returns, without selection and ranks",
            counted(names, "stock"),
            FactorTable::MIN_NAMES
        ));
    }
    if options.universe.is_none() {
        missing.push("no index membership (--universe): every name is a member on every day".to_owned());
    }
    missing
}

/// The option that gives import what is missing.
const fn option_of(rule: UnsupportedRule) -> Option<&'static str> {
    Some(match rule {
        UnsupportedRule::StLimit => "--status",
        UnsupportedRule::FirstDays => "--listing",
        UnsupportedRule::Amount => "--map amount=COLUMN",
        UnsupportedRule::PriceIndex => "--index",
        UnsupportedRule::Calendar => "--calendar",
        UnsupportedRule::FactorCheck => "--map pct_chg=COLUMN",
        UnsupportedRule::CompanyNames => "--names",
        UnsupportedRule::Sectors => "--sectors",
        UnsupportedRule::DividendTax => "--dividends",
        UnsupportedRule::Factors | UnsupportedRule::ChangedCodes => return None,
    })
}

/// Columns nothing reads, columns known but not used, index series passed over.
fn leftovers(sources: &[(Source, Option<usize>)]) -> (Vec<String>, Vec<&'static str>, Vec<String>) {
    let sources = || sources.iter().map(|(source, _)| source);
    let mut unknown: Vec<String> = sources().flat_map(Source::unknown_columns).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let has_bonus = sources().any(|source| source.has(Column::Bonus));
    let unused = has_bonus.then_some(Column::Bonus.label()).into_iter().collect();
    let mut skipped: Vec<String> = sources().flat_map(Source::skipped_indices).collect();
    skipped.sort_unstable();
    skipped.dedup();
    (unknown, unused, skipped)
}

fn panel_options(
    options: &ImportOptions,
    sources: &[(Source, Option<usize>)],
    has_factor_files: bool,
) -> Result<PanelOptions, DataFileError> {
    let Some((first, _)) = sources.first() else {
        return Err(DataFileError::input(
            "no source of prices is given",
            "name a Qlib directory, a Parquet file, a CSV file, or a folder of files",
        ));
    };
    let has_own_factors = first.has_factors();
    let has_amounts = first.has(Column::Amount);
    let differs = |source: &Source| {
        source.has_factors() != has_own_factors || source.has(Column::Amount) != has_amounts
    };
    if sources.iter().any(|(source, _)| differs(source)) {
        return Err(DataFileError::invalid(
            "some of the sources have a factor or amount column and some have none",
        )
        .with_hint("import sources of one layout together"));
    }
    if has_own_factors && has_factor_files {
        return Err(DataFileError::input(
            "the files of prices have factors, and there are files of factors too",
            "leave out one of the two",
        ));
    }
    let has_factors = has_own_factors || has_factor_files;
    let basis = match (options.basis, first.has(Column::Factor)) {
        (Some(basis), _) => basis,
        // Vendors' files of factors and adjusted closes stand beside prices as traded.
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
        builder.add_note(NO_MEMBERSHIP.to_owned());
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
