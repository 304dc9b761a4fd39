//! Long files as Parquet: doubles are taken as the shortest decimal that reads back as them.

use super::columns::{Column, Layout, RowSink, SourceRow, read_date, read_ticker};
use crate::error::at_row;
use crate::DataFileError;
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Float32Array, Float64Array, RecordBatch, StringArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date32Type, Float32Type, Float64Type};
use ktd_env::{DataError, Decimal, Place, RawBar, Ticker, TradeDate};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

const BATCH_ROWS: usize = 16 * 1024;

/// A Parquet long file, its schema read.
pub(super) struct ParquetRows {
    name: String,
    reader: ParquetRecordBatchReader,
    pub(super) layout: Layout,
    pub(super) rows: u64,
}

impl std::fmt::Debug for ParquetRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetRows")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Opens a Parquet file for reading batch by batch.
pub(super) fn open_batches(path: &Path) -> Result<(ParquetRecordBatchReader, Vec<String>, u64), DataFileError> {
    let file = File::open(path).map_err(DataFileError::io("read", path))?;
    let fail = |error: parquet::errors::ParquetError| {
        DataFileError::invalid(format_args!(
            "{}: not readable as Parquet: {error}",
            path.display()
        ))
        .with_hint("the file may be cut short: copy or write it again")
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(fail)?;
    let columns = builder
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let reader = builder.with_batch_size(BATCH_ROWS).build().map_err(fail)?;
    Ok((reader, columns, rows))
}

impl ParquetRows {
    pub(super) fn open(path: &Path) -> Result<Self, DataFileError> {
        let name = path.display().to_string();
        let (reader, columns, rows) = open_batches(path)?;
        let layout = Layout::of(&name, columns.iter().map(String::as_str))?;
        Ok(Self {
            name,
            reader,
            layout,
            rows,
        })
    }

    pub(super) fn read(self, sink: &mut RowSink<'_>) -> Result<(), DataFileError> {
        // Row 1 is the header of a text file; Parquet has none, its first row is 1.
        let mut first_row = 1;
        let mut tickers = BTreeMap::new();
        for batch in self.reader {
            let batch = batch.map_err(|error| {
                DataFileError::invalid(format_args!(
                    "{}: damaged after row {first_row}: {error}",
                    self.name
                ))
                .with_hint("copy or write the file again")
            })?;
            let columns = Batch::new(&self.name, &self.layout, &batch)?;
            for place in 0..batch.num_rows() {
                let row = first_row + u64::try_from(place).unwrap_or(0);
                sink(&columns.source_row(place, row, &mut tickers)?)?;
            }
            first_row += u64::try_from(batch.num_rows()).unwrap_or(0);
        }
        Ok(())
    }
}

/// A numeric column in the width its file has.
enum Numbers {
    Wide(Float64Array),
    Narrow(Float32Array),
    Text(StringArray),
}

enum Cell {
    Missing,
    Value(Decimal),
    Negative(f64),
    NotANumber,
    TooPrecise,
}

impl Numbers {
    fn of(array: &ArrayRef) -> Result<Self, arrow::error::ArrowError> {
        let kind = array.data_type();
        if *kind == DataType::Float32 {
            return Ok(Self::Narrow(array.as_primitive::<Float32Type>().clone()));
        }
        // Decimals are exact as text; integers and doubles are exact as doubles.
        if is_text(kind) || matches!(kind, DataType::Decimal128(..) | DataType::Decimal256(..)) {
            return Ok(Self::Text(text_array(array)?));
        }
        let wide = cast(array, &DataType::Float64)?;
        Ok(Self::Wide(wide.as_primitive::<Float64Type>().clone()))
    }

    fn cell(&self, place: usize) -> Cell {
        let of_float = |value: f64, decimal: Option<Decimal>| {
            if value.is_nan() || value.is_infinite() {
                Cell::NotANumber
            } else if value < 0.0 {
                Cell::Negative(value)
            } else {
                decimal.map_or(Cell::TooPrecise, Cell::Value)
            }
        };
        match self {
            Self::Wide(array) if array.is_valid(place) => {
                let value = array.value(place);
                of_float(value, Decimal::from_f64(value.abs()))
            }
            Self::Narrow(array) if array.is_valid(place) => {
                let value = array.value(place);
                of_float(f64::from(value), Decimal::from_f32(value.abs()))
            }
            Self::Text(array) if array.is_valid(place) => match RawBar::cell(array.value(place)) {
                Ok(value) => value.map_or(Cell::Missing, Cell::Value),
                Err(ktd_env::DecimalError::Negative { .. }) => Cell::Negative(-1.0),
                Err(ktd_env::DecimalError::TooPrecise { .. }) => Cell::TooPrecise,
                Err(ktd_env::DecimalError::Malformed { .. }) => Cell::NotANumber,
            },
            Self::Wide(_) | Self::Narrow(_) | Self::Text(_) => Cell::Missing,
        }
    }

    fn float(&self, place: usize) -> Option<f64> {
        match self {
            Self::Wide(array) => array.is_valid(place).then(|| array.value(place)),
            Self::Narrow(array) => array.is_valid(place).then(|| f64::from(array.value(place))),
            Self::Text(array) => array
                .is_valid(place)
                .then(|| array.value(place).trim().parse().ok())
                .flatten(),
        }
    }
}

const fn is_text(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..)
    )
}

fn text_array(array: &ArrayRef) -> Result<StringArray, arrow::error::ArrowError> {
    Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// A date column: whatever holds days, or text.
pub(super) enum Dates {
    Days(Date32Array),
    Text(StringArray),
}

impl Dates {
    pub(super) fn of(array: &ArrayRef) -> Result<Self, arrow::error::ArrowError> {
        let kind = array.data_type();
        if is_text(kind) || kind.is_integer() {
            return Ok(Self::Text(text_array(array)?));
        }
        let days = cast(array, &DataType::Date32)?;
        Ok(Self::Days(days.as_primitive::<Date32Type>().clone()))
    }

    /// The date at a place; the error says what stands there.
    pub(super) fn get(&self, place: usize) -> Result<Option<TradeDate>, String> {
        match self {
            Self::Days(array) if array.is_valid(place) => {
                TradeDate::from_days_since_epoch(array.value(place))
                    .map(Some)
                    .ok_or_else(|| format!("{} is outside the calendar", array.value(place)))
            }
            Self::Text(array) if array.is_valid(place) && !array.value(place).trim().is_empty() => {
                read_date(array.value(place).trim())
                    .map(Some)
                    .map_err(|error| error.to_string())
            }
            Self::Days(_) | Self::Text(_) => Ok(None),
        }
    }
}

/// The columns of one batch in the types they are read as.
struct Batch<'b> {
    file: &'b str,
    symbols: StringArray,
    dates: Dates,
    listed: Option<Dates>,
    numbers: BTreeMap<Column, Numbers>,
    flags: BTreeMap<Column, BooleanArray>,
    sectors: Option<StringArray>,
}

const NUMBERS: [Column; 9] = [
    Column::Open,
    Column::High,
    Column::Low,
    Column::Close,
    Column::Volume,
    Column::Amount,
    Column::Factor,
    Column::ChangePercent,
    Column::ChangeRatio,
];

impl<'b> Batch<'b> {
    fn new(file: &'b str, layout: &Layout, batch: &RecordBatch) -> Result<Self, DataFileError> {
        let array = |column: Column| layout.place(column).and_then(|place| batch.columns().get(place));
        let fail = |column: Column| {
            move |error: arrow::error::ArrowError| {
                DataFileError::invalid(format_args!("{file}: column {}: {error}", column.label()))
            }
        };
        let missing =
            |column: Column| DataFileError::invalid(format_args!("{file}: no column {}", column.label()));
        let strings = |column: Column| {
            array(column)
                .map(|array| text_array(array).map_err(fail(column)))
                .transpose()
        };
        let dates = |column: Column| {
            array(column)
                .map(|array| Dates::of(array).map_err(fail(column)))
                .transpose()
        };
        let mut numbers = BTreeMap::new();
        for column in NUMBERS {
            if let Some(array) = array(column) {
                numbers.insert(column, Numbers::of(array).map_err(fail(column))?);
            }
        }
        let mut flags = BTreeMap::new();
        for column in [Column::Suspended, Column::St] {
            if let Some(array) = array(column) {
                let flag = cast(array, &DataType::Boolean).map_err(fail(column))?;
                flags.insert(column, flag.as_boolean().clone());
            }
        }
        Ok(Self {
            file,
            symbols: strings(Column::Symbol)?.ok_or_else(|| missing(Column::Symbol))?,
            dates: dates(Column::Date)?.ok_or_else(|| missing(Column::Date))?,
            listed: dates(Column::Listed)?,
            numbers,
            flags,
            sectors: strings(Column::Sector)?,
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
        Ok(SourceRow {
            file: self.file,
            row,
            ticker: self.ticker(place, row, tickers)?,
            date,
            bar: self.bar(place, row)?,
            st: self
                .flags
                .contains_key(&Column::St)
                .then(|| self.flag(Column::St, place)),
            listed,
            sector: self
                .sectors
                .as_ref()
                .filter(|sectors| sectors.is_valid(place))
                .map(|sectors| sectors.value(place).trim())
                .filter(|sector| !sector.is_empty()),
        })
    }

    fn ticker(
        &self,
        place: usize,
        row: u64,
        tickers: &mut BTreeMap<String, Ticker>,
    ) -> Result<Ticker, DataError> {
        let text = if self.symbols.is_valid(place) {
            self.symbols.value(place)
        } else {
            ""
        };
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

    fn place(&self, row: u64) -> Place {
        Place {
            file: self.file.to_owned(),
            row,
        }
    }

    fn bar(&self, place: usize, row: u64) -> Result<RawBar, DataError> {
        let number = |column| self.number(column, place, row);
        let float = |column| self.numbers.get(&column).and_then(|numbers| numbers.float(place));
        Ok(RawBar {
            open: number(Column::Open)?,
            high: number(Column::High)?,
            low: number(Column::Low)?,
            close: number(Column::Close)?,
            volume: number(Column::Volume)?,
            amount_cny: float(Column::Amount),
            factor: number(Column::Factor)?,
            change_percent: float(Column::ChangePercent)
                .or_else(|| float(Column::ChangeRatio).map(|ratio| ratio * 100.0)),
            suspended: self.flag(Column::Suspended, place),
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
            Cell::Value(value) => Ok(Some(value)),
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

    fn flag(&self, column: Column, place: usize) -> bool {
        self.flags
            .get(&column)
            .is_some_and(|flags| flags.is_valid(place) && flags.value(place))
    }
}
