//! Index series: price indices and the total-return index.

use super::columns::{Column, Layout, index_code};
use super::missing_columns::is_index_file;
use super::qlib_bins::{is_qlib_directory, read_levels};
use super::table_rows::{TableFile, TableRow};
use crate::DataFileError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The columns that are read.
const COLUMNS: [Column; 4] = [Column::Date, Column::Symbol, Column::Open, Column::Close];

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
    let file = TableFile::open(&path)?;
    let layout = Layout::of_levels(file.name(), &file.heads())?.only(&COLUMNS);
    file.read(&layout, |row| {
        let day = row.day()?;
        let levels = (level(row, Column::Open)?, level(row, Column::Close)?);
        // A row without a code counts for the file's own.
        let own = Some(row.text(Column::Symbol)).filter(|code| !code.is_empty());
        let Some(code) = own.map(index_code).or_else(|| of_file.clone()) else {
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
        if series.entry(code).or_default().insert(day, levels).is_some() {
            let what = "a second level for the same index and day";
            return Err(row.fail(what).with_hint("keep one row an index and day"));
        }
        Ok(())
    })?;
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
            "an index file has the columns date, symbol, open, close",
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

/// A level of a row; NaN where it is missing.
fn level(row: &TableRow<'_>, column: Column) -> Result<f64, DataFileError> {
    match row.number(column) {
        Ok(None) => Ok(f64::NAN),
        Ok(Some(level)) if level.is_finite() && 0.0 < level => Ok(level),
        Ok(Some(level)) => Err(row.fail(format_args!("{level} is no index level"))),
        Err(text) => Err(row.fail(format_args!("{text:?} is no index level"))),
    }
}
