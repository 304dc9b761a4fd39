//! Rows of a table, read alike from text and from Parquet.
//!
//! Numbers of a text are taken exactly as written, doubles of Parquet as the shortest decimal that reads back as them.

use super::columns::{Column, Layout, SourceRow, read_flag, read_ticker};
use super::file_kind::is_parquet;
use super::parquet_columns::{Dates, Flags, Numbers, Texts, WrongKind, written_date, written_number};
use super::parquet_file::ParquetFile;
use super::parquet_values::Values;
use super::side_file::SideFile;
use crate::DataFileError;
use crate::error::at_row;
use csv::StringRecord;
use ktd_env::{DataError, Decimal, DecimalError, RawBar, SourceLocation, Ticker, TradeDate};
use std::collections::BTreeMap;
use std::path::Path;

/// A CSV(.gz) or Parquet file, the names of its columns read.
pub(super) enum TableFile {
    Text(SideFile),
    Parquet(ParquetFile),
}

impl TableFile {
    pub(super) fn open(path: &Path) -> Result<Self, DataFileError> {
        if is_parquet(path)? {
            ParquetFile::open(path).map(Self::Parquet)
        } else {
            SideFile::open(path).map(Self::Text)
        }
    }

    /// The file as messages name it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Text(file) => &file.name,
            Self::Parquet(file) => &file.name,
        }
    }

    pub(super) fn heads(&self) -> Vec<&str> {
        match self {
            Self::Text(file) => file.header.iter().collect(),
            Self::Parquet(file) => file.columns.iter().map(String::as_str).collect(),
        }
    }

    /// Gives every row to `each`; of Parquet no column is decoded but those of the layout.
    pub(super) fn read(
        self,
        layout: &Layout,
        mut each: impl FnMut(&TableRow<'_>) -> Result<(), DataFileError>,
    ) -> Result<(), DataFileError> {
        let name = self.name().to_owned();
        let mut give = |row: u64, cells: Cells<'_>| {
            each(&TableRow {
                file: &name,
                row,
                layout,
                cells,
            })
        };
        match self {
            Self::Text(mut file) => {
                while let Some((row, record)) = file.next_row()? {
                    give(row, Cells::Text(record))?;
                }
            }
            Self::Parquet(file) => {
                let places: Vec<usize> = layout.places.values().map(|place| place.index).collect();
                let mut batches = file.batches(&places)?;
                while let Some(batch) = batches.next_batch()? {
                    let columns = decoded(&name, layout, batch.columns)?;
                    // Row 1 is the header of a text file; Parquet has none, its first row is 1.
                    for (row, place) in (batch.first_row..).zip(0..batch.rows) {
                        let columns = &columns;
                        give(row, Cells::Batch { columns, place })?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The columns of a layout in the types that they are read as.
fn decoded(
    file: &str,
    layout: &Layout,
    values: Vec<Values>,
) -> Result<BTreeMap<Column, Decoded>, DataFileError> {
    let columns = layout.places.iter().zip(values).map(|((column, place), values)| {
        let decoded = Decoded::of(*column, values).map_err(|error| {
            DataFileError::invalid(format_args!("{file}: column {}: {error}", place.head))
                .with_hint("write the column again in a type that fits it")
        });
        Ok((*column, decoded?))
    });
    columns.collect()
}

/// A column of a batch of Parquet.
pub(super) enum Decoded {
    Texts(Texts),
    Dates(Dates),
    Numbers(Numbers),
    Flags(Flags),
}

impl Decoded {
    fn of(column: Column, values: Values) -> Result<Self, WrongKind> {
        match column {
            Column::Symbol | Column::Sector | Column::AdjustFlag => Texts::of(values).map(Self::Texts),
            Column::Date | Column::Listed => Dates::of(values).map(Self::Dates),
            Column::Suspended | Column::Trading | Column::St => Flags::of(values).map(Self::Flags),
            Column::Open
            | Column::High
            | Column::Low
            | Column::Close
            | Column::Volume
            | Column::Amount
            | Column::Factor
            | Column::ChangePercent
            | Column::ChangeRatio
            | Column::Dividend
            | Column::Bonus
            | Column::AdjustedClose
            | Column::FactorSince
            | Column::Score => Numbers::of(values).map(Self::Numbers),
        }
    }
}

/// What is done about prices that were never traded.
const ADJUSTED: &str = "download again with adjustflag=\"3\"; query_adjust_factor has the factors";

/// What is done about a column of dates in another form.
const DATES: &str =
    "write the column of dates as 2024-04-01, 2024/4/1 or 20240401; remove a row that holds no data";

/// Where the cells of a row lie.
#[derive(Clone, Copy)]
pub(super) enum Cells<'r> {
    Text(&'r StringRecord),
    Batch {
        columns: &'r BTreeMap<Column, Decoded>,
        place: usize,
    },
}

/// One row of a table.
pub(super) struct TableRow<'r> {
    pub(super) file: &'r str,
    /// Counted from 1.
    pub(super) row: u64,
    pub(super) layout: &'r Layout,
    pub(super) cells: Cells<'r>,
}

impl<'r> TableRow<'r> {
    /// A text without blanks around it; empty where there is none.
    pub(super) fn text(&self, column: Column) -> &'r str {
        match (self.cells, self.decoded(column)) {
            (Cells::Text(record), _) => {
                let place = self.layout.place(column);
                place.and_then(|place| record.get(place)).unwrap_or_default()
            }
            (_, Some((Decoded::Texts(texts), place))) => texts.get(place).unwrap_or_default().trim(),
            _ => "",
        }
    }

    /// The column of a batch and the row's place in it; none where a cell is text.
    fn decoded(&self, column: Column) -> Option<(&'r Decoded, usize)> {
        match self.cells {
            Cells::Batch { columns, place } => Some((columns.get(&column)?, place)),
            Cells::Text(_) => None,
        }
    }

    /// The day of the row, which must have one.
    pub(super) fn day(&self) -> Result<TradeDate, DataFileError> {
        let day = self.date(Column::Date)?;
        day.ok_or_else(|| self.fail("the date is missing").with_hint(DATES))
    }

    fn date(&self, column: Column) -> Result<Option<TradeDate>, DataFileError> {
        let date = match self.decoded(column) {
            Some((Decoded::Dates(dates), place)) => dates.get(place),
            _ => written_date(self.text(column)),
        };
        date.map_err(|error| {
            let error = self.fail(format_args!("{}: {error}", column.label()));
            if column == Column::Date {
                error.with_hint(DATES)
            } else {
                error
            }
        })
    }

    /// An exact decimal. An open below zero counts as one that is not there (docs/spec/exchange.md#prices).
    fn price(&self, column: Column) -> Result<Option<Decimal>, DataError> {
        let cell = match self.decoded(column) {
            Some((Decoded::Numbers(numbers), place)) => numbers.decimal(place),
            _ => RawBar::cell(self.text(column)),
        };
        let whole = |value: Decimal| {
            let whole = self.layout.unit(column).whole(value);
            whole.ok_or_else(|| DecimalError::TooPrecise {
                text: value.to_string(),
            })
        };
        let error = match cell.and_then(|value| value.map(whole).transpose()) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let (place, label) = (self.place(), column.label());
        Err(match (error, column) {
            (DecimalError::Negative { .. }, Column::Open) => return Ok(Some(Decimal::ZERO)),
            (DecimalError::Negative { text: value }, Column::Volume) => DataError::Quantity {
                place,
                column: label,
                value,
            },
            (DecimalError::Negative { text: value }, _) => DataError::Price {
                place,
                column: label,
                value,
            },
            (source, _) => DataError::Number {
                place,
                column: label,
                source,
            },
        })
    }

    /// A number in the unit of the panel.
    pub(super) fn float(&self, column: Column) -> Result<Option<f64>, DataFileError> {
        let number = self
            .number(column)
            .map_err(|text| self.fail(format_args!("{} is {text:?}, which is no number", column.label())))?;
        Ok(number.map(|number| self.layout.unit(column).whole_float(number)))
    }

    /// A number as the file has it; the error is the text that is none.
    pub(super) fn number(&self, column: Column) -> Result<Option<f64>, &'r str> {
        match self.decoded(column) {
            Some((Decoded::Numbers(numbers), place)) => numbers.float(place),
            _ => written_number(self.text(column)),
        }
    }

    fn flag(&self, column: Column) -> Result<bool, DataFileError> {
        let flag = match self.decoded(column) {
            Some((Decoded::Flags(flags), place)) => flags.get(place),
            _ => read_flag(self.text(column)).ok_or_else(|| self.text(column)),
        };
        flag.map_err(|text| {
            self.fail(format_args!("{}: {text:?} is neither 0 nor 1", column.label()))
                .with_hint("write 0, 1, true or false")
        })
    }

    fn place(&self) -> SourceLocation {
        SourceLocation {
            file: self.file.to_owned(),
            row: self.row,
        }
    }

    pub(super) fn fail(&self, message: impl std::fmt::Display) -> DataFileError {
        at_row(self.file, self.row, message)
    }

    /// The row of a source; `tickers` keeps those that were read from texts.
    pub(super) fn source_row(
        &self,
        tickers: &mut BTreeMap<String, Ticker>,
    ) -> Result<SourceRow<'r>, DataFileError> {
        let ticker = self.ticker(tickers)?;
        let prices = self.text(Column::AdjustFlag);
        if !matches!(prices, "" | "3") {
            let what = format_args!("adjustflag is {prices}: prices that were never traded");
            return Err(self.fail(what).with_hint(ADJUSTED));
        }
        let has_st = self.layout.has(Column::St);
        Ok(SourceRow {
            file: self.file,
            row: self.row,
            ticker,
            date: self.day()?,
            bar: self.bar()?,
            st: has_st.then(|| self.flag(Column::St)).transpose()?,
            listed: self.date(Column::Listed)?,
            sector: Some(self.text(Column::Sector)).filter(|sector| !sector.is_empty()),
            dividend: self.price(Column::Dividend)?,
            adjusted_close: self.price(Column::AdjustedClose)?,
        })
    }

    fn ticker(&self, tickers: &mut BTreeMap<String, Ticker>) -> Result<Ticker, DataError> {
        if let Some(stock) = self.layout.stock {
            return Ok(stock);
        }
        let text = self.text(Column::Symbol);
        if let Some(ticker) = tickers.get(text) {
            return Ok(*ticker);
        }
        let ticker = read_ticker(text).map_err(|source| DataError::Ticker {
            place: self.place(),
            source,
        })?;
        tickers.insert(text.to_owned(), ticker);
        Ok(ticker)
    }

    fn bar(&self) -> Result<RawBar, DataFileError> {
        let ratio = self.float(Column::ChangeRatio)?.map(|ratio| ratio * 100.0);
        let is_halted = self.layout.has(Column::Trading) && !self.flag(Column::Trading)?;
        let since = self.price(Column::FactorSince)?;
        Ok(RawBar {
            open: self.price(Column::Open)?,
            high: self.price(Column::High)?,
            low: self.price(Column::Low)?,
            close: self.price(Column::Close)?,
            volume: self.price(Column::Volume)?,
            amount_cny: self.float(Column::Amount)?,
            factor: if since.is_some() {
                since
            } else {
                self.price(Column::Factor)?
            },
            change_percent: self.float(Column::ChangePercent)?.or(ratio),
            suspended: is_halted || self.flag(Column::Suspended)?,
        })
    }
}
