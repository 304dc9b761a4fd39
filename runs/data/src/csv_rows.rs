//! Long files as text, and tables of stocks side by side.

use super::columns::{Column, Layout, RowSink, code_of_file, read_ticker};
use super::table_rows::{Cells, TableRow};
use super::units::Entry;
use crate::DataFileError;
use crate::error::empty;
use csv::StringRecord;
use ktd_env::{DataError, SourceLocation};
use ktd_io::text_file::TextFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A CSV or CSV.gz file of rows, its header read.
#[derive(Debug)]
pub(super) struct CsvRows {
    pub(super) path: PathBuf,
    /// What cannot be opened a second time; thousands of files are not held open.
    stream: Option<TextFile>,
    /// What a row holds: one stock, or where stocks lie side by side one for each.
    pub(super) layouts: Vec<Layout>,
    header_rows: usize,
}

impl CsvRows {
    pub(super) fn open(path: &Path, map: &[Entry<'_>]) -> Result<Self, DataFileError> {
        let mut file = TextFile::open(path, b',')?;
        let name = file.name();
        let mut next = || match file.next_row()? {
            Some((_, row)) => Ok(row.clone()),
            None => Err(empty(&name)),
        };
        let header = next()?;
        let (layouts, header_rows) = if let Some(first @ ("Price" | "Ticker")) = header.get(0) {
            let (second, _) = (next()?, next()?);
            let (fields, codes) = if first == "Price" {
                (&header, &second)
            } else {
                (&second, &header)
            };
            (side_by_side(&name, fields, codes, map)?, 3)
        } else {
            let heads: Vec<&str> = header.iter().collect();
            let layout = Layout::of_source(&name, &heads, code_of_file(path), map)?;
            (vec![layout], 1)
        };
        Ok(Self {
            path: path.to_owned(),
            stream: (!path.is_file()).then_some(file),
            layouts,
            header_rows,
        })
    }

    pub(super) fn read(self, sink: &mut RowSink<'_>) -> Result<(), DataFileError> {
        let mut file = if let Some(file) = self.stream {
            file
        } else {
            let mut file = TextFile::open(&self.path, b',')?;
            for _ in 0..self.header_rows {
                file.next_row()?;
            }
            file
        };
        let name = file.name();
        let columns = self.layouts.first().map_or(0, |layout| layout.width);
        let mut tickers = BTreeMap::new();
        while let Some((row, record)) = file.next_row()? {
            if record.len() != columns {
                return Err(crate::error::at_row(
                    &name,
                    row,
                    format_args!("{} cells, but the header has {columns}", record.len()),
                )
                .with_hint("the file may be cut short"));
            }
            for layout in &self.layouts {
                let table_row = TableRow {
                    file: &name,
                    row,
                    layout,
                    cells: Cells::Text(record),
                };
                // Of stocks side by side not all have a row on every day.
                if self.header_rows == 1 || !table_row.text(Column::Close).is_empty() {
                    sink(&table_row.source_row(&mut tickers)?)?;
                }
            }
        }
        Ok(())
    }
}

/// The layouts of stocks side by side, yfinance's way: a line of fields, a line of codes, and the date in the first column.
fn side_by_side(
    file: &str,
    fields: &StringRecord,
    codes: &StringRecord,
    map: &[Entry<'_>],
) -> Result<Vec<Layout>, DataFileError> {
    let mut stocks: Vec<&str> = codes.iter().skip(1).filter(|code| !code.is_empty()).collect();
    stocks.sort_unstable();
    stocks.dedup();
    let layout = |stock: &str| {
        let ticker = read_ticker(stock).map_err(|source| DataError::Ticker {
            place: SourceLocation {
                file: file.to_owned(),
                row: 2,
            },
            source,
        })?;
        let heads = fields.iter().zip(codes).skip(1);
        let heads = heads.map(|(field, code)| if code == stock { field } else { "" });
        let heads: Vec<&str> = std::iter::once("Date").chain(heads).collect();
        Layout::of_source(file, &heads, Some(ticker), map)
    };
    stocks.into_iter().map(layout).collect()
}
