//! Index series: price indices and the total-return index.

use super::columns::{Column, Layout, index_code, read_date};
use super::missing_columns::is_index_file;
use super::parquet_columns::{Dates, Numbers, Texts, WrongKind};
use super::parquet_file::ParquetFile;
use super::parquet_rows::wrong_kind;
use super::qlib_bins::{is_qlib_directory, read_levels};
use crate::DataFileError;
use crate::error::{at_row, empty};
use ktd_env::TradeDate;
use ktd_io::text_file::TextFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Opening and closing level by date, index points.
type Levels = ktd_env::IndexLevels;

/// Reads `F` or `F:SYMBOL`; without a symbol the file must hold one series.
///
/// # Errors
/// [`DataFileError`] when the file cannot be read or the series cannot be told.
pub(super) fn read_index(argument: &str) -> Result<(String, Levels), DataFileError> {
    let (path, symbol) = split_symbol(argument);
    if is_qlib_directory(&path) {
        let symbol = symbol.ok_or_else(|| {
            DataFileError::invalid(format_args!("--index {argument}: which instrument?"))
                .with_hint("a Qlib directory needs one: --index DIR:SH000300")
        })?;
        let levels = read_levels(&path, &symbol)?;
        return Ok((symbol, levels));
    }
    let mut series: BTreeMap<String, Levels> = BTreeMap::new();
    let of_file = symbol.clone().or_else(|| code_of_file(&path));
    let mut add = |row: IndexRow<'_>, place: &dyn Fn() -> String| {
        let Some(code) = row.symbol.map(index_code).or_else(|| of_file.clone()) else {
            return Err(DataFileError::input(
                format_args!(
                    "{}: neither a column nor the file's name says which index it is",
                    path.display()
                ),
                format_args!("say it behind the file: --index {}:SH000300", path.display()),
            ));
        };
        if symbol.as_ref().is_some_and(|wanted| *wanted != code) {
            return Ok(());
        }
        let levels = series.entry(code).or_default();
        if levels.insert(row.date, (row.open, row.close)).is_some() {
            return Err(DataFileError::input(
                format_args!("{}: a second level for the same index and day", place()),
                "keep one row an index and day",
            ));
        }
        Ok(())
    };
    if super::file_kind::is_parquet(&path)? {
        read_parquet(&path, &mut add)?;
    } else {
        read_csv(&path, &mut add)?;
    }
    let mut found = series.into_iter();
    match (found.next(), found.next(), symbol) {
        (Some(only), None, _) => Ok(only),
        (Some((first, _)), Some(_), _) => Err(DataFileError::invalid(format_args!(
            "{} holds several index series",
            path.display()
        ))
        .with_hint(format_args!("name one: --index {}:{first}", path.display()))),
        (None, _, Some(symbol)) => Err(DataFileError::input(
            format_args!("{} has no rows of {symbol}", path.display()),
            "name a symbol of the file: --index FILE:SYMBOL",
        )),
        (None, _, None) => Err(DataFileError::input(
            format_args!("{} has no rows", path.display()),
            NEEDED,
        )),
    }
}

/// A colon before the last part separates a symbol, unless a file of the whole name exists.
fn split_symbol(argument: &str) -> (PathBuf, Option<String>) {
    let whole = PathBuf::from(argument);
    match argument.rsplit_once(':') {
        Some((path, symbol)) if !whole.exists() && !symbol.contains('/') => {
            (PathBuf::from(path), Some(index_code(symbol)))
        }
        _ => (whole, None),
    }
}

/// The index whose code is the name of a file: `sh000300.csv`, `000300.SH.csv`, `399001_daily.csv`.
fn code_of_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let starts = name
        .char_indices()
        .filter(|(_, letter)| !letter.is_ascii_alphanumeric());
    // The longest start that is a code, so that an exchange behind the digits is read.
    let mut codes = starts.filter_map(|(end, _)| Some(index_code(name.get(..end)?)));
    let code = codes.rfind(|code| code.len() == 8 && code.starts_with(['S', 'B']));
    code.filter(|_| is_index_file(path))
}

struct IndexRow<'r> {
    /// The code as written, where a column has it.
    symbol: Option<&'r str>,
    date: TradeDate,
    open: f64,
    close: f64,
}

type AddRow<'a> = dyn FnMut(IndexRow<'_>, &dyn Fn() -> String) -> Result<(), DataFileError> + 'a;

const NEEDED: &str = "an index file has the columns date, symbol, open, close";

fn read_csv(path: &Path, add: &mut AddRow<'_>) -> Result<(), DataFileError> {
    let mut file = TextFile::open(path, b',')?;
    let name = file.name();
    let header = file
        .next_row()?
        .map(|(_, header)| header.clone())
        .ok_or_else(|| empty(&name))?;
    let layout = Layout::of_levels(&name, &header.iter().collect::<Vec<_>>())?;
    let symbol = layout.place(Column::Symbol);
    while let Some((row, record)) = file.next_row()? {
        let cell = |column| layout.place(column).and_then(|place| record.get(place));
        let level = |column| {
            let text = cell(column).unwrap_or_default();
            written_level(text).map_err(|error| at_row(&name, row, error))
        };
        let date = read_date(cell(Column::Date).unwrap_or_default());
        let found = IndexRow {
            symbol: symbol.and_then(|place| record.get(place)),
            date: date.map_err(|error| at_row(&name, row, error))?,
            open: level(Column::Open)?,
            close: level(Column::Close)?,
        };
        add(found, &|| format!("{name}, row {row}"))?;
    }
    Ok(())
}

/// A level as text; blank is a level that is missing.
fn written_level(text: &str) -> Result<f64, String> {
    if text.is_empty() {
        return Ok(f64::NAN);
    }
    text.parse::<f64>()
        .ok()
        .filter(|level| level.is_finite() && *level > 0.0)
        .ok_or_else(|| format!("{text:?} is no index level"))
}

/// The level at a place of a column; null is a level that is missing.
fn level(column: &Numbers, place: usize) -> Result<f64, String> {
    if let Numbers::Texts(texts) = column {
        return written_level(texts.get(place).unwrap_or_default().trim());
    }
    match column.float(place) {
        None => Ok(f64::NAN),
        Some(level) if level.is_finite() && level > 0.0 => Ok(level),
        Some(level) => Err(format!("{level} is no index level")),
    }
}

fn read_parquet(path: &Path, add: &mut AddRow<'_>) -> Result<(), DataFileError> {
    let file = ParquetFile::open(path)?;
    let name = file.name.clone();
    let layout = Layout::of_levels(
        &name,
        &file.columns.iter().map(String::as_str).collect::<Vec<_>>(),
    )?;
    let columns = [Column::Date, Column::Open, Column::Close, Column::Symbol];
    let places: Vec<usize> = columns
        .into_iter()
        .filter_map(|column| layout.place(column))
        .collect();
    let mut batches = file.batches(&places)?;
    while let Some(batch) = batches.next_batch()? {
        let mut columns = batch.columns.into_iter();
        let (Some(dates), Some(opens), Some(closes)) = (columns.next(), columns.next(), columns.next())
        else {
            return Err(
                DataFileError::invalid(format_args!("{name}: a column is missing")).with_hint(NEEDED),
            );
        };
        let wrong = |column: &'static str| {
            let name = &name;
            move |error: WrongKind| wrong_kind(name, column, &error)
        };
        let dates = Dates::of(dates).map_err(wrong("date"))?;
        let symbols = columns
            .next()
            .map(Texts::of)
            .transpose()
            .map_err(wrong("symbol"))?;
        let opens = Numbers::of(opens).map_err(wrong("open"))?;
        let closes = Numbers::of(closes).map_err(wrong("close"))?;
        for place in 0..batch.rows {
            let row = batch.first_row + u64::try_from(place).unwrap_or(0);
            let fail = |error: String| at_row(&name, row, error);
            let date = dates.get(place).map_err(fail)?;
            let found = IndexRow {
                symbol: symbols
                    .as_ref()
                    .map(|symbols| symbols.get(place).unwrap_or_default()),
                date: date.ok_or_else(|| at_row(&name, row, "the date is missing"))?,
                open: level(&opens, place).map_err(fail)?,
                close: level(&closes, place).map_err(fail)?,
            };
            add(found, &|| format!("{name}, row {row}"))?;
        }
    }
    Ok(())
}
