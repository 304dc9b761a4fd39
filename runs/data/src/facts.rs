//! Facts about names from side files: company names and listing dates.

use super::columns::{read_date, read_ticker};
use super::side_file::SideFile;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{DataError, SourceLocation, Ticker, TickerError, TradeDate};
use std::path::Path;

/// Heads of the column of codes in a side file.
pub(super) const STOCK_HEADS: [&str; 4] = ["symbol", "code", "instrument", "stock"];

/// Company names: every column whose name starts with `name`.
pub(super) fn read_company_names(path: &Path) -> Result<Vec<(Ticker, String)>, DataFileError> {
    let is_name = |head: &str| head.starts_with("name") || head == "company" || head == "company_name";
    let cells = read_cells(path, is_name, "a `name` column")?;
    Ok(cells
        .into_iter()
        .map(|(_, ticker, cell)| (ticker, cell))
        .collect())
}

/// Listing dates: `list_date`, `listed` or `ipo_date`.
pub(super) fn read_listings(path: &Path) -> Result<Vec<(Ticker, TradeDate)>, DataFileError> {
    let is_listing = |head: &str| matches!(head, "listed" | "list_date" | "ipo_date");
    let name = path.display().to_string();
    read_cells(path, is_listing, "a `list_date` column")?
        .into_iter()
        .map(|(row, ticker, cell)| {
            let date = read_date(&cell).map_err(|error| at_row(&name, row, error))?;
            Ok((ticker, date))
        })
        .collect()
}

/// The non-empty cells of the wanted columns, row by row. Codes of funds and indices are passed over.
fn read_cells(
    path: &Path,
    wanted: impl Fn(&str) -> bool,
    needed: &str,
) -> Result<Vec<(u64, Ticker, String)>, DataFileError> {
    let mut file = SideFile::open(path)?;
    let name = file.name.clone();
    let symbol = file.place(&STOCK_HEADS);
    let columns: Vec<usize> = file
        .header
        .iter()
        .enumerate()
        .filter(|(_, head)| wanted(head))
        .map(|(place, _)| place)
        .collect();
    let (Some(symbol), false) = (symbol, columns.is_empty()) else {
        let columns = format_args!("a `symbol` column or {needed}");
        return Err(file.lacks(columns, "name both columns in the first line"));
    };
    let mut cells = Vec::new();
    while let Some((row, record)) = file.next_row()? {
        let Some(ticker) = read_listed(record.get(symbol).unwrap_or_default(), &name, row)? else {
            continue;
        };
        for place in &columns {
            let cell = clean(record.get(*place).unwrap_or_default());
            if !cell.is_empty() {
                cells.push((row, ticker, cell));
            }
        }
    }
    Ok(cells)
}

/// The stock of a row; none where its code belongs to no board that is traded here, such as a fund's.
pub(super) fn read_listed(code: &str, file: &str, row: u64) -> Result<Option<Ticker>, DataFileError> {
    match read_ticker(code) {
        Ok(ticker) => Ok(Some(ticker)),
        Err(TickerError::NoBoard { .. }) => Ok(None),
        Err(source) => {
            let place = SourceLocation {
                file: file.to_owned(),
                row,
            };
            Err(DataError::Ticker { place, source }.into())
        }
    }
}

/// A cell without control characters: vendors fill names of fixed width with NUL bytes.
pub(super) fn clean(cell: &str) -> String {
    let kept: String = cell.chars().filter(|character| !character.is_control()).collect();
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fixed_width_lose_their_filling() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("names.csv");
        std::fs::write(
            &path,
            "symbol,name\nSZ300502,\u{65b0}\u{6613}\u{76db}\0\0\nSZ000001,\0\n",
        )
        .unwrap();
        let names = read_company_names(&path).unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].1, "\u{65b0}\u{6613}\u{76db}");
    }
}
