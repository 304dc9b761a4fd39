//! Sectors from a side file: dated where the file dates them.

use super::code_changes::CodeChanges;
use super::facts::{STOCK_HEADS, clean, read_listed};
use super::side_file::SideFile;
use super::span_columns::SpanColumns;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{DateSpan, MarketBuilder, Ticker};
use std::collections::BTreeMap;
use std::path::Path;

/// What a panel says whose sectors are those of one day: on every earlier day they look ahead.
pub(super) const UNDATED: &str = "sectors are undated: each name has the sector of the day the sector file was made, on every day, \
     so that a change of sector is known before it was made";

/// A row of a sector file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SectorRow {
    ticker: Ticker,
    /// From when to when; `None` where the file has no dates.
    span: Option<DateSpan>,
    sector: String,
}

/// Reads `F` or `F:COLUMN`: the named column, or the first of `sector`, `sw_l1`, `industry`; with `start,end` or
/// `from,until_excl` the rows are dated. Codes of funds and indices are passed over.
///
/// # Errors
/// [`DataFileError`] naming the row.
pub(super) fn read_sectors(argument: &str) -> Result<Vec<SectorRow>, DataFileError> {
    let (path, column) = match argument.rsplit_once(':') {
        Some((path, column)) if !Path::new(argument).exists() => (path, Some(column)),
        _ => (argument, None),
    };
    let mut file = SideFile::open(Path::new(path))?;
    let name = file.name.clone();
    let symbol = file.place(&STOCK_HEADS);
    let sector = match column {
        Some(column) => file.place(&[column]),
        None => file.place(&["sector", "sw_l1", "industry"]),
    };
    let (Some(symbol), Some(sector)) = (symbol, sector) else {
        return Err(file.lacks(
            "a `symbol` column or a `sector` or `sw_l1` column",
            "name both columns in the first line, or the column of the sectors: F:COLUMN",
        ));
    };
    let columns = SpanColumns::of(&file.header);
    let mut rows = Vec::new();
    while let Some((row, record)) = file.next_row()? {
        let Some(ticker) = read_listed(record.get(symbol).unwrap_or_default(), &name, row)? else {
            continue;
        };
        let sector = clean(record.get(sector).unwrap_or_default());
        if sector.is_empty() {
            continue;
        }
        let span = columns.map(|columns| columns.read(record)).transpose();
        let span = span.map_err(|error| at_row(&name, row, error))?;
        rows.push((row, SectorRow { ticker, span, sector }));
    }
    check_overlaps(&name, &rows)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// One stock has one sector a day.
fn check_overlaps(file: &str, rows: &[(u64, SectorRow)]) -> Result<(), DataFileError> {
    let mut of_ticker: BTreeMap<Ticker, Vec<(DateSpan, &str, u64)>> = BTreeMap::new();
    for (row, found) in rows {
        let span = found.span.unwrap_or(DateSpan::ALWAYS);
        let spans = of_ticker.entry(found.ticker).or_default();
        spans.push((span, &found.sector, *row));
    }
    for spans in of_ticker.values_mut() {
        spans.sort_unstable();
        for pair in spans.windows(2) {
            let [earlier, later] = pair else { continue };
            if later.0.start <= earlier.0.end && later.1 != earlier.1 {
                let what = format!("a second sector for a stock and day, as in row {}", earlier.2);
                return Err(at_row(file, later.2.max(earlier.2), what));
            }
        }
    }
    Ok(())
}

/// Adds the sectors of a file to a panel, and a note where they are undated. Of two codes of one name the newer one counts.
pub(super) fn add_sectors(builder: &mut MarketBuilder, rows: &[SectorRow], codes: &CodeChanges) {
    let (newest, older): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| codes.newest(row.ticker) == row.ticker);
    for row in older.into_iter().chain(newest) {
        let ticker = codes.newest(row.ticker);
        match row.span {
            Some(span) => builder.add_dated_sector(ticker, span, &row.sector),
            None => builder.set_sector(ticker, &row.sector),
        }
    }
    if rows.iter().any(|row| row.span.is_none()) {
        builder.add_note(UNDATED.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbol, days and sector of a row, as text.
    type SectorText = (String, Option<(String, String)>, String);

    fn read(text: &str) -> Result<Vec<SectorText>, DataFileError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sectors.csv");
        std::fs::write(&path, text).unwrap();
        let days = |span: DateSpan| (span.start.reveal(), span.end.reveal());
        let text = |row: SectorRow| (row.ticker.reveal().to_owned(), row.span.map(days), row.sector);
        let rows = read_sectors(path.to_str().unwrap())?;
        Ok(rows.into_iter().map(text).collect())
    }

    #[test]
    fn rows_with_dates_are_dated_and_rows_without_are_not() {
        let bank = |span: Option<(&str, &str)>| {
            let span = span.map(|(start, end)| (start.to_owned(), end.to_owned()));
            vec![("SH600000".to_owned(), span, "Banks".to_owned())]
        };
        let undated = "symbol,sw_l1\nSH600000,Banks\nSH510300,Funds\nSZ000001,\n";
        assert_eq!(read(undated).unwrap(), bank(None));
        let dated = "symbol,sector,from,until_excl\nSH600000,Banks,2024-01-02,2024-06-15\n";
        assert_eq!(read(dated).unwrap(), bank(Some(("2024-01-02", "2024-06-14"))));
        let open = "symbol,sector,start,end\nSH600000,Banks,2024-01-02,\n";
        assert_eq!(read(open).unwrap(), bank(Some(("2024-01-02", "9999-12-31"))));
    }

    #[test]
    fn wrong_files_are_refused_by_row() {
        for (text, part) in [
            ("", "is empty"),
            ("symbol,mood\nSH600000,good\n", "lacks a `symbol` column"),
            ("symbol,sector\nSH600000,Banks\nSH600000,Media\n", "row 3"),
            (
                "symbol,sector,start,end\nSH600000,Banks,2024-02-01,2024-01-01\n",
                "row 2",
            ),
            (
                "symbol,sector,start,end\nSH600000,Banks,2024-01-01,2024-03-01\nSH600000,Media,2024-03-01,\n",
                "row 3",
            ),
        ] {
            let failure = read(text).unwrap_err();
            assert!(failure.to_string().contains(part), "{text:?}: {failure}");
        }
    }
}
