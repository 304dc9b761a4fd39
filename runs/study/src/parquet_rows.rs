//! Rows as a Parquet file: whole numbers as 64-bit integers, other numbers as doubles, everything else as text. What a column
//! holds is said by its table and not by its cells, so that files of several studies are one table.

use crate::StudyError;
use crate::report::DataRows;
use ktd_io::FileError;
use ktd_io::whole_file::rename;
use ktd_view::draw::RowCells;
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

fn field(name: &str, cells: RowCells) -> Result<Type, ParquetError> {
    let physical = match cells {
        RowCells::Whole => PhysicalType::INT64,
        RowCells::Number => PhysicalType::DOUBLE,
        RowCells::Text => PhysicalType::BYTE_ARRAY,
        RowCells::Flag => PhysicalType::BOOLEAN,
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    let logical = (cells == RowCells::Text).then_some(LogicalType::String);
    field.with_logical_type(logical).build()
}

fn written(rows: &DataRows) -> Result<Vec<u8>, ParquetError> {
    let columns: Vec<(&str, RowCells)> = rows
        .columns
        .iter()
        .map(|(head, cells)| (head.as_str(), *cells))
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
    let fields = columns
        .iter()
        .map(|(head, cells)| Ok(Arc::new(field(head, *cells)?)));
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
    let cells = || rows.iter().map(|row| row.get(column).unwrap_or(&Value::Null));
    match writer {
        ColumnWriter::Int64ColumnWriter(writer) => {
            let (values, levels) = with_levels(cells().map(Value::as_i64));
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(writer) => {
            let (values, levels) = with_levels(cells().map(Value::as_f64));
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let text = |cell: &Value| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
            let text = |cell: &Value| (!cell.is_null()).then(|| ByteArray::from(text(cell).into_bytes()));
            let (values, levels) = with_levels(cells().map(text));
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::BoolColumnWriter(writer) => {
            let (values, levels) = with_levels(cells().map(Value::as_bool));
            writer.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::Int32ColumnWriter(_)
        | ColumnWriter::Int96ColumnWriter(_)
        | ColumnWriter::FloatColumnWriter(_)
        | ColumnWriter::FixedLenByteArrayColumnWriter(_) => {}
    }
    Ok(())
}

/// The values that are there, and of each row whether it has one.
fn with_levels<T>(cells: impl Iterator<Item = Option<T>> + Clone) -> (Vec<T>, Vec<i16>) {
    let levels = cells.clone().map(|cell| i16::from(cell.is_some())).collect();
    (cells.flatten().collect(), levels)
}
