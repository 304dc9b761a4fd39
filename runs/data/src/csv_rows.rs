//! Long files as text: prices and factors are taken exactly as written.

use super::columns::{Column, Layout, RowSink, SourceRow, code_of_file, read_date, read_flag, read_ticker};
use super::units::Entry;
use crate::DataFileError;
use crate::error::empty;
use csv::StringRecord;
use ktd_env::{DataError, Decimal, DecimalError, RawBar, SourceLocation};
use ktd_io::text_file::TextFile;
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
                let cells = Cells {
                    file: &name,
                    row,
                    record,
                    layout,
                };
                // Of stocks side by side not all have a row on every day.
                if self.header_rows == 1 || !cells.text(Column::Close).is_empty() {
                    sink(&cells.source_row()?)?;
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

/// What is done about prices that were never traded.
pub(super) const ADJUSTED: &str = "download again with adjustflag=\"3\"; query_adjust_factor has the factors";

/// What is done about a column of dates in another form.
const DATES: &str =
    "write the column of dates as 2024-04-01, 2024/4/1 or 20240401; remove a row that holds no data";

struct Cells<'c> {
    file: &'c str,
    row: u64,
    record: &'c StringRecord,
    layout: &'c Layout,
}

impl<'c> Cells<'c> {
    fn text(&self, column: Column) -> &'c str {
        self.layout
            .place(column)
            .and_then(|place| self.record.get(place))
            .unwrap_or_default()
    }

    fn place(&self) -> SourceLocation {
        SourceLocation {
            file: self.file.to_owned(),
            row: self.row,
        }
    }

    fn fail(&self, message: impl std::fmt::Display) -> DataFileError {
        crate::error::at_row(self.file, self.row, message)
    }

    fn source_row(&self) -> Result<SourceRow<'c>, DataFileError> {
        let ticker = match self.layout.stock {
            Some(stock) => stock,
            None => read_ticker(self.text(Column::Symbol)).map_err(|source| DataError::Ticker {
                place: self.place(),
                source,
            })?,
        };
        let prices = self.text(Column::AdjustFlag);
        if !matches!(prices, "" | "3") {
            return Err(self
                .fail(format_args!(
                    "adjustflag is {prices}: prices that were never traded"
                ))
                .with_hint(ADJUSTED));
        }
        let date = read_date(self.text(Column::Date)).map_err(|error| self.fail(error).with_hint(DATES))?;
        let listed = self.text(Column::Listed);
        let sector = self.text(Column::Sector);
        Ok(SourceRow {
            file: self.file,
            row: self.row,
            ticker,
            date,
            bar: self.bar()?,
            st: if self.layout.has(Column::St) {
                Some(self.flag(Column::St)?)
            } else {
                None
            },
            listed: if listed.is_empty() {
                None
            } else {
                Some(read_date(listed).map_err(|error| self.fail(format_args!("listed: {error}")))?)
            },
            sector: Some(sector).filter(|sector| !sector.is_empty()),
            dividend: self.price(Column::Dividend)?,
            adjusted_close: self.price(Column::AdjustedClose)?,
        })
    }

    fn bar(&self) -> Result<RawBar, DataFileError> {
        let ratio = self.float(Column::ChangeRatio)?.map(|ratio| ratio * 100.0);
        let is_halted = self.layout.has(Column::Trading) && !self.flag(Column::Trading)?;
        let factor = match self.price(Column::FactorSince)? {
            Some(factor) => Some(factor),
            None => self.price(Column::Factor)?,
        };
        Ok(RawBar {
            open: self.price(Column::Open)?,
            high: self.price(Column::High)?,
            low: self.price(Column::Low)?,
            close: self.price(Column::Close)?,
            volume: self.price(Column::Volume)?,
            amount_cny: self.float(Column::Amount)?,
            factor,
            change_percent: self.float(Column::ChangePercent)?.or(ratio),
            suspended: is_halted || self.flag(Column::Suspended)?,
        })
    }

    /// An exact decimal. An open below zero counts as one that is not there (docs/spec/exchange.md#prices).
    fn price(&self, column: Column) -> Result<Option<Decimal>, DataError> {
        let text = self.text(column);
        let unit = self.layout.unit(column);
        let whole = |value: Decimal| {
            unit.whole(value).ok_or_else(|| DecimalError::TooPrecise {
                text: text.to_owned(),
            })
        };
        match RawBar::cell(text).and_then(|value| value.map(whole).transpose()) {
            Ok(value) => Ok(value),
            Err(DecimalError::Negative { .. }) if column == Column::Open => Ok(Some(Decimal::ZERO)),
            Err(DecimalError::Negative { .. }) if column == Column::Volume => Err(DataError::Quantity {
                place: self.place(),
                column: column.label(),
                value: text.to_owned(),
            }),
            Err(DecimalError::Negative { .. }) => Err(DataError::Price {
                place: self.place(),
                column: column.label(),
                value: text.to_owned(),
            }),
            Err(source) => Err(DataError::Number {
                place: self.place(),
                column: column.label(),
                source,
            }),
        }
    }

    fn float(&self, column: Column) -> Result<Option<f64>, DataFileError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        let value: f64 = text
            .parse()
            .map_err(|_| self.fail(format_args!("{}: {text:?} is not a number", column.label())))?;
        Ok(Some(self.layout.unit(column).whole_float(value)))
    }

    fn flag(&self, column: Column) -> Result<bool, DataFileError> {
        let text = self.text(column);
        read_flag(text).ok_or_else(|| {
            self.fail(format_args!("{}: {text:?} is neither 0 nor 1", column.label()))
                .with_hint("write 0, 1, true or false")
        })
    }
}
