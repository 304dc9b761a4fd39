//! Rows as a Parquet file: whole numbers as 64-bit integers, other numbers as doubles, everything else as text.

use crate::StudyError;
use crate::report::DataRows;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value;
use std::sync::Arc;

/// The bytes of a file with these rows: missing cells are null.
pub(crate) fn parquet_bytes(rows: &DataRows) -> Result<Vec<u8>, StudyError> {
    written(rows).map_err(|error| {
        StudyError::input(
            format_args!("the rows {} cannot be written as Parquet: {error}", rows.id),
            "this is a defect of the program: report it",
        )
    })
}

/// What the cells of a column are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cells {
    Whole,
    Number,
    Text,
}

impl Cells {
    fn of(rows: &DataRows, column: usize) -> Self {
        let cells = || {
            rows.rows
                .iter()
                .filter_map(|row| row.get(column))
                .filter(|cell| !cell.is_null())
        };
        if cells().next().is_some() && cells().all(Value::is_i64) {
            Self::Whole
        } else if cells().next().is_some() && cells().all(Value::is_number) {
            Self::Number
        } else {
            Self::Text
        }
    }

    fn field(self, name: &str) -> Result<Type, ParquetError> {
        let physical = match self {
            Self::Whole => PhysicalType::INT64,
            Self::Number => PhysicalType::DOUBLE,
            Self::Text => PhysicalType::BYTE_ARRAY,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        let logical = (self == Self::Text).then_some(LogicalType::String);
        field.with_logical_type(logical).build()
    }
}

fn written(rows: &DataRows) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<Cells> = (0..rows.heads.len())
        .map(|column| Cells::of(rows, column))
        .collect();
    let fields: Result<Vec<_>, _> = rows
        .heads
        .iter()
        .zip(&kinds)
        .map(|(head, kind)| Ok::<_, ParquetError>(Arc::new(kind.field(head)?)))
        .collect();
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields?).build()?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("ktd".to_owned());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    for column in 0..kinds.len() {
        let Some(mut writer) = group.next_column()? else {
            break;
        };
        write_column(writer.untyped(), rows, column)?;
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn write_column(writer: &mut ColumnWriter<'_>, rows: &DataRows, column: usize) -> Result<(), ParquetError> {
    let cells: Vec<&Value> = rows
        .rows
        .iter()
        .map(|row| row.get(column).unwrap_or(&Value::Null))
        .collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_null())).collect();
    let there = cells.into_iter().filter(|cell| !cell.is_null());
    match writer {
        ColumnWriter::Int64ColumnWriter(writer) => {
            let values: Vec<i64> = there.filter_map(Value::as_i64).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            let values: Vec<f64> = there.filter_map(Value::as_f64).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
            let values: Vec<ByteArray> = there
                .map(|cell| ByteArray::from(text(cell).into_bytes()))
                .collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::BoolColumnWriter(_)
        | ColumnWriter::Int32ColumnWriter(_)
        | ColumnWriter::Int96ColumnWriter(_)
        | ColumnWriter::FloatColumnWriter(_)
        | ColumnWriter::FixedLenByteArrayColumnWriter(_) => {}
    }
    Ok(())
}
