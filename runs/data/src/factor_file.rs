//! Factors as a Parquet file, to train predictors elsewhere.

use crate::DataFileError;
use crate::training_rows::TrainingRow;
use ktd_env::Market;
use ktd_env::factors::Factor;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fmt::Write as _;
use std::sync::Arc;

/// The column that is not known at its row's date.
pub const LABEL: &str = "future_return";

/// What the file says of the label.
const LABEL_NOTE: &str = "unknown at `date`: the adjusted open of the first trading day after `date` to that of the second; a \
                          label to train on, never a feature";

/// Rows of a row group.
const GROUP_ROWS: usize = 100_000;

/// The bytes of a Parquet file: `date`, `code`, each factor, each z-score under the factor's name with `_Z` behind it, and
/// the label. What is missing is null.
///
/// # Errors
/// [`DataFileError::Input`] when the rows cannot be written.
pub fn factor_file(market: &Market, rows: &[TrainingRow]) -> Result<Vec<u8>, DataFileError> {
    written(market, rows).map_err(|error| {
        DataFileError::input(
            format_args!("cannot write Parquet: {error}"),
            "report this defect",
        )
    })
}

fn written(market: &Market, rows: &[TrainingRow]) -> Result<Vec<u8>, ParquetError> {
    let mut schema =
        "message factors { required int32 date (DATE); required binary code (STRING);".to_owned();
    for suffix in ["", "_Z"] {
        for factor in Factor::ALL {
            // Writing to a string cannot fail.
            write!(schema, " optional double {}{suffix};", factor.name()).ok();
        }
    }
    write!(schema, " optional double {LABEL}; }}").ok();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![KeyValue::new(LABEL.to_owned(), LABEL_NOTE.to_owned())]));
    let mut bytes = Vec::new();
    let schema = Arc::new(parse_message_type(&schema)?);
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    for rows in rows.chunks(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        write_keys(&mut group, market, rows)?;
        for place in 0..Factor::ALL.len() {
            write_numbers(&mut group, rows, |row| row.factors.get(place).copied().flatten())?;
        }
        for place in 0..Factor::ALL.len() {
            write_numbers(&mut group, rows, |row| row.z_scores.get(place).copied().flatten())?;
        }
        write_numbers(&mut group, rows, |row| row.future_return)?;
        group.close()?;
    }
    writer.close()?;
    Ok(bytes)
}

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut Vec<u8>>;

fn write_keys(group: &mut Group<'_, '_>, market: &Market, rows: &[TrainingRow]) -> Result<(), ParquetError> {
    let epoch = |row: &TrainingRow| {
        market
            .date(row.day)
            .map_or(0, ktd_env::TradeDate::days_since_epoch)
    };
    let dates: Vec<i32> = rows.iter().map(epoch).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int32Type>().write_batch(&dates, None, None)?;
        column.close()?;
    }
    let code = |row: &TrainingRow| {
        let info = market.name(row.name);
        ByteArray::from(info.map_or("", |info| info.ticker.reveal()))
    };
    let codes: Vec<ByteArray> = rows.iter().map(code).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<ByteArrayType>().write_batch(&codes, None, None)?;
        column.close()?;
    }
    Ok(())
}

fn write_numbers(
    group: &mut Group<'_, '_>,
    rows: &[TrainingRow],
    number: impl Fn(&TrainingRow) -> Option<f64>,
) -> Result<(), ParquetError> {
    let numbers: Vec<Option<f64>> = rows.iter().map(number).collect();
    let known: Vec<f64> = numbers.iter().copied().flatten().collect();
    let levels: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
    if let Some(mut column) = group.next_column()? {
        column
            .typed::<DoubleType>()
            .write_batch(&known, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}
