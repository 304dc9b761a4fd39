//! Values by instrument and day as a file, written instrument after instrument.

use crate::DataFileError;
use ktd_env::TradeDate;
use ktd_io::FileError;
use ktd_io::whole_file::{remove_if_exists, rename};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuesFormat {
    /// `date` (day), `symbol`, and a column of float32 a formula; missing cells are null. What was computed stands in the
    /// file's key `ktd`.
    Parquet,
    /// The same as text, missing cells empty, floats with the digits that give the same float32 back.
    Csv,
}

impl ValuesFormat {
    /// By the ending of a file's name.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Rows of one instrument.
#[derive(Debug, Clone, Copy)]
pub struct InstrumentRows<'v> {
    /// Its code.
    pub code: &'v str,
    /// Places of the rows in the calendar.
    pub sessions: &'v [usize],
    /// A column a value, a cell a session; NaN where missing.
    pub columns: &'v [Vec<f32>],
}

/// A file in the making; it has its name when it is whole.
#[derive(Debug)]
pub struct ValuesFile {
    path: PathBuf,
    part: PartFile,
    calendar: Vec<TradeDate>,
    rows: usize,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Parquet(Box<SerializedFileWriter<BufWriter<File>>>),
    Csv(Box<csv::Writer<File>>),
}

impl ValuesFile {
    /// Begins a file of columns with these names; `about` says what was computed.
    ///
    /// # Errors
    /// [`DataFileError`] when it cannot be written.
    pub fn create(
        path: &Path,
        format: ValuesFormat,
        calendar: &[TradeDate],
        columns: &[String],
        about: &str,
    ) -> Result<Self, DataFileError> {
        check_columns(columns)?;
        // What a kill leaves of it is written over by the next.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = PartFile(path.with_file_name(format!(".{name}.part")));
        let file = File::create(&part.0).map_err(FileError::io("write", &part.0))?;
        let sink = match format {
            ValuesFormat::Parquet => {
                let writer = parquet_writer(BufWriter::new(file), columns, about);
                Sink::Parquet(Box::new(writer.map_err(|error| unwritable(path, &error))?))
            }
            ValuesFormat::Csv => {
                let mut writer = csv::Writer::from_writer(file);
                let heads = ["date", "symbol"]
                    .into_iter()
                    .chain(columns.iter().map(String::as_str));
                writer
                    .write_record(heads)
                    .map_err(|error| unwritable(path, &error))?;
                Sink::Csv(Box::new(writer))
            }
        };
        Ok(Self {
            path: path.to_owned(),
            part,
            calendar: calendar.to_vec(),
            rows: 0,
            sink,
        })
    }

    /// Adds the rows of an instrument.
    ///
    /// # Errors
    /// [`DataFileError`] when it cannot be written.
    pub fn add(&mut self, name: &InstrumentRows<'_>) -> Result<(), DataFileError> {
        if name.sessions.is_empty() {
            return Ok(());
        }
        self.rows += name.sessions.len();
        match &mut self.sink {
            Sink::Parquet(writer) => {
                write_group(writer, &self.calendar, name).map_err(|error| unwritable(&self.path, &error))
            }
            Sink::Csv(writer) => {
                write_rows(writer, &self.calendar, name).map_err(|error| unwritable(&self.path, &error))
            }
        }
    }

    /// Ends the file and gives it its name; how many rows it has.
    ///
    /// # Errors
    /// [`DataFileError`] when it cannot be written.
    pub fn finish(self) -> Result<usize, DataFileError> {
        let unwritten = |error: &dyn Display| unwritable(&self.path, error);
        let file = match self.sink {
            Sink::Parquet(writer) => {
                let buffered = writer.into_inner().map_err(|error| unwritten(&error))?;
                buffered.into_inner().map_err(|error| unwritten(&error))?
            }
            Sink::Csv(writer) => writer.into_inner().map_err(|error| unwritten(&error))?,
        };
        file.sync_all().map_err(FileError::io("sync", &self.part.0))?;
        rename(&self.part.0, &self.path)?;
        Ok(self.rows)
    }
}

/// The unfinished file; it is removed with whatever has failed.
#[derive(Debug)]
struct PartFile(PathBuf);

impl Drop for PartFile {
    fn drop(&mut self) {
        // Finished, it has another name; else the failure is what is reported.
        remove_if_exists(&self.0).ok();
    }
}

/// Refuses columns that a reader could not tell apart.
fn check_columns(columns: &[String]) -> Result<(), DataFileError> {
    let mut seen: BTreeSet<&str> = BTreeSet::from(["date", "symbol"]);
    for column in columns {
        if column.trim().is_empty() || !seen.insert(column) {
            return Err(DataFileError::input(
                format_args!("two columns have the name {column:?}, or it is empty"),
                "give each formula an id of its own other than `date` and `symbol`, or write the sets one by one",
            ));
        }
    }
    Ok(())
}

fn unwritable(path: &Path, error: &dyn Display) -> DataFileError {
    DataFileError::input(
        format_args!("cannot write {}: {error}", path.display()),
        "check that the disk has room, or write CSV",
    )
}

fn parquet_writer(
    file: BufWriter<File>,
    columns: &[String],
    about: &str,
) -> Result<SerializedFileWriter<BufWriter<File>>, ParquetError> {
    let key = |name, physical, logical| {
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        column.with_logical_type(Some(logical)).build().map(Arc::new)
    };
    let mut fields = vec![
        key("date", Physical::INT32, LogicalType::Date)?,
        key("symbol", Physical::BYTE_ARRAY, LogicalType::String)?,
    ];
    for column in columns {
        let column = Type::primitive_type_builder(column, Physical::FLOAT);
        fields.push(Arc::new(column.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Type::group_type_builder("values").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![KeyValue::new("ktd".to_owned(), about.to_owned())]))
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

/// The rows of an instrument as a row group.
fn write_group(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
    calendar: &[TradeDate],
    name: &InstrumentRows<'_>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    let days = name.sessions.iter().filter_map(|session| calendar.get(*session));
    let days: Vec<i32> = days.map(|day| day.days_since_epoch()).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int32Type>().write_batch(&days, None, None)?;
        column.close()?;
    }
    if let Some(mut column) = group.next_column()? {
        let codes = vec![ByteArray::from(name.code); days.len()];
        column.typed::<ByteArrayType>().write_batch(&codes, None, None)?;
        column.close()?;
    }
    for cells in name.columns {
        let present: Vec<f32> = cells.iter().copied().filter(|cell| !cell.is_nan()).collect();
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_nan())).collect();
        if let Some(mut column) = group.next_column()? {
            column
                .typed::<FloatType>()
                .write_batch(&present, Some(&levels), None)?;
            column.close()?;
        }
    }
    group.close()?;
    Ok(())
}

/// The rows of an instrument as lines.
fn write_rows(
    writer: &mut csv::Writer<File>,
    calendar: &[TradeDate],
    name: &InstrumentRows<'_>,
) -> Result<(), csv::Error> {
    for (row, session) in name.sessions.iter().enumerate() {
        let day = calendar.get(*session).map(|day| day.reveal()).unwrap_or_default();
        let cells = name
            .columns
            .iter()
            .map(|cells| cells.get(row).filter(|cell| !cell.is_nan()));
        let cells = cells.map(|cell| cell.map(f32::to_string).unwrap_or_default());
        writer.write_record([day, name.code.to_owned()].into_iter().chain(cells))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ValuesFile, ValuesFormat};

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("values.csv");
        let create = |columns: &[&str]| {
            let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
            ValuesFile::create(&path, ValuesFormat::Csv, &[], &columns, "{}")
        };
        let files = || ktd_io::whole_file::list(folder.path()).unwrap();
        let file = create(&["a", "b"]).unwrap();
        assert_eq!(files().len(), 1);
        drop(file);
        assert!(files().is_empty());
        create(&["a"]).unwrap().finish().unwrap();
        assert_eq!(files().len(), 1);
        for columns in [&["a", "a"][..], &["date"], &["symbol"], &[""]] {
            let error = create(columns).unwrap_err();
            assert!(error.to_string().contains("columns"), "{error}");
        }
    }
}
