//! Long files as Parquet: doubles are taken as the shortest decimal that reads back as them.

use super::columns::{Column, Layout, RowSink, SourceRow, code_of_file, read_ticker};
use super::csv_rows::ADJUSTED;
use super::parquet_columns::{Cell, Dates, Flags, Numbers, Texts, WrongKind};
use super::parquet_file::{Batch, ParquetFile};
use super::parquet_values::Values;
use super::units::Entry;
use crate::DataFileError;
use crate::error::at_row;
use ktd_env::{DataError, Decimal, RawBar, SourceLocation, Ticker};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A Parquet long file, its schema read.
#[derive(Debug)]
pub(super) struct ParquetRows {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    pub(super) rows: u64,
}

impl ParquetRows {
    pub(super) fn open(path: &Path, map: &[Entry<'_>]) -> Result<Self, DataFileError> {
        let file = ParquetFile::open(path)?;
        let heads: Vec<&str> = file.columns.iter().map(String::as_str).collect();
        Ok(Self {
            path: path.to_owned(),
            layout: Layout::of_source(&file.name, &heads, code_of_file(path), map)?,
            rows: file.rows,
        })
    }

    pub(super) fn read(self, sink: &mut RowSink<'_>) -> Result<(), DataFileError> {
        let file = ParquetFile::open(&self.path)?;
        let name = file.name.clone();
        let (columns, places): (Vec<Column>, Vec<usize>) = TEXTS
            .into_iter()
            .chain(FLAGS)
            .chain(NUMBERS)
            .filter_map(|column| Some((column, self.layout.place(column)?)))
            .unzip();
        let mut batches = file.batches(&places)?;
        let mut tickers = BTreeMap::new();
        while let Some(batch) = batches.next_batch()? {
            // Row 1 is the header of a text file; Parquet has none, its first row is 1.
            let (rows, first_row) = (batch.rows, batch.first_row);
            let columns = Rows::new(&name, &self.layout, &columns, batch)?;
            for place in 0..rows {
                let row = first_row + u64::try_from(place).unwrap_or(0);
                sink(&columns.source_row(place, row, &mut tickers)?)?;
            }
        }
        Ok(())
    }
}

/// The columns of one batch in the types they are read as.
struct Rows<'b> {
    file: &'b str,
    layout: &'b Layout,
    symbols: Option<Texts>,
    dates: Dates,
    listed: Option<Dates>,
    numbers: BTreeMap<Column, Numbers>,
    flags: BTreeMap<Column, Flags>,
    sectors: Option<Texts>,
    adjust_flags: Option<Texts>,
}

const TEXTS: [Column; 5] = [
    Column::Symbol,
    Column::Date,
    Column::Listed,
    Column::Sector,
    Column::AdjustFlag,
];
const FLAGS: [Column; 3] = [Column::Suspended, Column::Trading, Column::St];

const NUMBERS: [Column; 12] = [
    Column::Open,
    Column::High,
    Column::Low,
    Column::Close,
    Column::Volume,
    Column::Amount,
    Column::Factor,
    Column::ChangePercent,
    Column::ChangeRatio,
    Column::Dividend,
    Column::FactorSince,
    Column::AdjustedClose,
];

impl<'b> Rows<'b> {
    fn new(
        file: &'b str,
        layout: &'b Layout,
        columns: &[Column],
        batch: Batch,
    ) -> Result<Self, DataFileError> {
        let mut values: BTreeMap<Column, Values> = columns.iter().copied().zip(batch.columns).collect();
        let mut taken = Taken {
            file,
            values: &mut values,
        };
        let mut numbers = BTreeMap::new();
        for column in NUMBERS {
            if let Some(found) = taken.column(column, Numbers::of)? {
                numbers.insert(column, found);
            }
        }
        let mut flags = BTreeMap::new();
        for column in FLAGS {
            if let Some(found) = taken.column(column, Flags::of)? {
                flags.insert(column, found);
            }
        }
        let missing = |column: Column| {
            DataFileError::input(
                format_args!("{file}: no column {}", column.label()),
                "add the column",
            )
        };
        Ok(Self {
            file,
            layout,
            symbols: taken.column(Column::Symbol, Texts::of)?,
            dates: taken
                .column(Column::Date, Dates::of)?
                .ok_or_else(|| missing(Column::Date))?,
            listed: taken.column(Column::Listed, Dates::of)?,
            numbers,
            flags,
            sectors: taken.column(Column::Sector, Texts::of)?,
            adjust_flags: taken.column(Column::AdjustFlag, Texts::of)?,
        })
    }

    fn source_row<'r>(
        &'r self,
        place: usize,
        row: u64,
        tickers: &mut BTreeMap<String, Ticker>,
    ) -> Result<SourceRow<'r>, DataFileError> {
        let date_at = |dates: &Dates, column: Column| {
            dates
                .get(place)
                .map_err(|error| at_row(self.file, row, format_args!("{}: {error}", column.label())))
        };
        let date = date_at(&self.dates, Column::Date)?
            .ok_or_else(|| at_row(self.file, row, "the date is missing"))?;
        let listed = match &self.listed {
            Some(dates) => date_at(dates, Column::Listed)?,
            None => None,
        };
        let flags = self.adjust_flags.as_ref();
        if let Some(prices) = flags
            .and_then(|flags| flags.get(place))
            .filter(|flag| !matches!(*flag, "" | "3"))
        {
            let what = format_args!("adjustflag is {prices}: prices that were never traded");
            return Err(at_row(self.file, row, what).with_hint(ADJUSTED));
        }
        Ok(SourceRow {
            file: self.file,
            row,
            ticker: self.ticker(place, row, tickers)?,
            date,
            bar: self.bar(place, row)?,
            st: if self.flags.contains_key(&Column::St) {
                Some(self.flag(Column::St, place, row)?)
            } else {
                None
            },
            listed,
            sector: self
                .sectors
                .as_ref()
                .and_then(|sectors| sectors.get(place))
                .map(str::trim)
                .filter(|sector| !sector.is_empty()),
            dividend: self.number(Column::Dividend, place, row)?,
            adjusted_close: self.number(Column::AdjustedClose, place, row)?,
        })
    }

    fn ticker(
        &self,
        place: usize,
        row: u64,
        tickers: &mut BTreeMap<String, Ticker>,
    ) -> Result<Ticker, DataError> {
        if let Some(stock) = self.layout.stock {
            return Ok(stock);
        }
        let symbols = self.symbols.as_ref();
        let text = symbols.and_then(|symbols| symbols.get(place)).unwrap_or_default();
        if let Some(ticker) = tickers.get(text) {
            return Ok(*ticker);
        }
        let ticker = read_ticker(text.trim()).map_err(|source| DataError::Ticker {
            place: self.place(row),
            source,
        })?;
        tickers.insert(text.to_owned(), ticker);
        Ok(ticker)
    }

    fn place(&self, row: u64) -> SourceLocation {
        SourceLocation {
            file: self.file.to_owned(),
            row,
        }
    }

    fn bar(&self, place: usize, row: u64) -> Result<RawBar, DataFileError> {
        let number = |column| self.number(column, place, row);
        let float = |column| {
            let number = self.numbers.get(&column).and_then(|numbers| numbers.float(place));
            number.map(|number| self.layout.unit(column).whole_float(number))
        };
        let is_halted = self.layout.has(Column::Trading) && !self.flag(Column::Trading, place, row)?;
        let since = number(Column::FactorSince)?;
        Ok(RawBar {
            open: number(Column::Open)?,
            high: number(Column::High)?,
            low: number(Column::Low)?,
            close: number(Column::Close)?,
            volume: number(Column::Volume)?,
            amount_cny: float(Column::Amount),
            factor: if since.is_some() {
                since
            } else {
                number(Column::Factor)?
            },
            change_percent: float(Column::ChangePercent)
                .or_else(|| float(Column::ChangeRatio).map(|ratio| ratio * 100.0)),
            suspended: is_halted || self.flag(Column::Suspended, place, row)?,
        })
    }

    fn number(&self, column: Column, place: usize, row: u64) -> Result<Option<Decimal>, DataError> {
        let Some(numbers) = self.numbers.get(&column) else {
            return Ok(None);
        };
        let price = |value: String| DataError::Price {
            place: self.place(row),
            column: column.label(),
            value,
        };
        match numbers.cell(place) {
            Cell::Missing => Ok(None),
            Cell::Value(value) => match self.layout.unit(column).whole(value) {
                Some(whole) => Ok(Some(whole)),
                None => Err(price("a number with too many digits".to_owned())),
            },
            Cell::Negative(_) if column == Column::Open => Ok(Some(Decimal::ZERO)),
            Cell::Negative(value) if column == Column::Volume => Err(DataError::Quantity {
                place: self.place(row),
                column: column.label(),
                value: value.to_string(),
            }),
            Cell::Negative(value) => Err(price(value.to_string())),
            Cell::NotANumber if column == Column::Volume => Err(DataError::Quantity {
                place: self.place(row),
                column: column.label(),
                value: "not a number".to_owned(),
            }),
            Cell::NotANumber => Err(price("not a number".to_owned())),
            Cell::TooPrecise => Err(price("a number with too many digits".to_owned())),
        }
    }

    fn flag(&self, column: Column, place: usize, row: u64) -> Result<bool, DataFileError> {
        let flag = self.flags.get(&column).map(|flags| flags.get(place));
        flag.unwrap_or(Ok(false))
            .map_err(|error| at_row(self.file, row, format_args!("{}: {error}", column.label())))
    }
}

/// The columns of a batch, taken one by one into the types that they are read as.
struct Taken<'t> {
    file: &'t str,
    values: &'t mut BTreeMap<Column, Values>,
}

impl Taken<'_> {
    fn column<T>(
        &mut self,
        column: Column,
        read: impl Fn(Values) -> Result<T, WrongKind>,
    ) -> Result<Option<T>, DataFileError> {
        let values = self.values.remove(&column);
        values
            .map(read)
            .transpose()
            .map_err(|error| wrong_kind(self.file, column.label(), &error))
    }
}

/// A column whose values are of another kind than it needs.
pub(super) fn wrong_kind(file: &str, column: &str, error: &WrongKind) -> DataFileError {
    DataFileError::invalid(format_args!("{file}: column {column}: {error}"))
        .with_hint("write the column again in a type that fits it")
}
