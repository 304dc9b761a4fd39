//! Rows as a Parquet file: whole numbers as 64-bit integers, other numbers as doubles, everything else as text.

use crate::StudyError;
use crate::report::DataRows;
use ktd_io::FileError;
use ktd_io::whole_file::rename;
use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCells {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Yes or no.
    Flag,
}

impl RowCells {
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
            Self::Flag => PhysicalType::BOOLEAN,
        };
        let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        let logical = (self == Self::Text).then_some(LogicalType::String);
        field.with_logical_type(logical).build()
    }
}

fn written(rows: &DataRows) -> Result<Vec<u8>, ParquetError> {
    let heads = rows.heads.iter().enumerate();
    let columns: Vec<(&str, RowCells)> = heads
        .map(|(column, head)| (head.as_str(), RowCells::of(rows, column)))
        .collect();
    let mut bytes = Vec::new();
    let mut file = writer(&mut bytes, &columns)?;
    write_group(&mut file, &rows.rows)?;
    file.close()?;
    Ok(bytes)
}

fn writer<W: Write + Send>(
    sink: W,
    columns: &[(&str, RowCells)],
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields = columns.iter().map(|(head, kind)| Ok(Arc::new(kind.field(head)?)));
    let fields: Result<Vec<_>, ParquetError> = fields.collect();
    let schema = Arc::new(Type::group_type_builder("rows").with_fields(fields?).build()?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("ktd".to_owned());
    SerializedFileWriter::new(sink, schema, Arc::new(properties.build()))
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[Vec<Value>],
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    let mut column = 0;
    while let Some(mut writer) = group.next_column()? {
        write_column(writer.untyped(), rows, column)?;
        writer.close()?;
        column += 1;
    }
    group.close()?;
    Ok(())
}

/// Parquet file of rows that is written group after group: too many to stand in memory. It has its name when it is whole.
#[derive(Debug)]
pub struct RowsFile {
    path: PathBuf,
    part: PathBuf,
    file: SerializedFileWriter<BufWriter<File>>,
}

impl RowsFile {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// [`StudyError`] when it cannot be written.
    pub fn create(path: &Path, columns: &[(&str, RowCells)]) -> Result<Self, StudyError> {
        // What a kill leaves of it is written over by the next.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!(".{name}.part"));
        let file = File::create(&part).map_err(FileError::io("write", &part))?;
        Ok(Self {
            file: writer(BufWriter::new(file), columns).map_err(|error| unwritable(path, &error))?,
            path: path.to_owned(),
            part,
        })
    }

    /// Adds rows, a cell a column; a cell that is null is missing.
    ///
    /// # Errors
    /// [`StudyError`] when they cannot be written.
    pub fn add(&mut self, rows: &[Vec<Value>]) -> Result<(), StudyError> {
        if rows.is_empty() {
            return Ok(());
        }
        write_group(&mut self.file, rows).map_err(|error| unwritable(&self.path, &error))
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// [`StudyError`] when it cannot be written.
    pub fn finish(self) -> Result<(), StudyError> {
        self.file
            .close()
            .map_err(|error| unwritable(&self.path, &error))?;
        Ok(rename(&self.part, &self.path)?)
    }
}

fn unwritable(path: &Path, error: &ParquetError) -> StudyError {
    StudyError::input(
        format_args!("cannot write {}: {error}", path.display()),
        "check that the disk has room",
    )
}

fn write_column(
    writer: &mut ColumnWriter<'_>,
    rows: &[Vec<Value>],
    column: usize,
) -> Result<(), ParquetError> {
    let cells: Vec<&Value> = rows
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
        ColumnWriter::BoolColumnWriter(writer) => {
            let values: Vec<bool> = there.filter_map(Value::as_bool).collect();
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::Int32ColumnWriter(_)
        | ColumnWriter::Int96ColumnWriter(_)
        | ColumnWriter::FloatColumnWriter(_)
        | ColumnWriter::FixedLenByteArrayColumnWriter(_) => {}
    }
    Ok(())
}
