//! Values of formulas as a file, written instrument after instrument.

use crate::FormulaStudyError;
use ktd_env::TradeDate;
use ktd_formulas::NameValues;
use ktd_io::FileError;
use ktd_io::whole_file::{remove_if_exists, rename};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
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
    /// float32, little-endian, row after row without keys; missing cells are NaN.
    Raw,
}

impl ValuesFormat {
    /// By the ending of a file's name.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "parquet" => Some(Self::Parquet),
            "csv" => Some(Self::Csv),
            "f32" => Some(Self::Raw),
            _ => None,
        }
    }
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
    Csv(BufWriter<File>),
    Raw(BufWriter<File>),
}

impl ValuesFile {
    /// Begins a file of columns with these names; `about` says what was computed.
    ///
    /// # Errors
    /// [`FormulaStudyError`] when it cannot be written.
    pub fn create(
        path: &Path,
        format: ValuesFormat,
        calendar: &[TradeDate],
        columns: &[String],
        about: &str,
    ) -> Result<Self, FormulaStudyError> {
        check_columns(columns)?;
        // What a kill leaves of it is written over by the next.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = PartFile(path.with_file_name(format!(".{name}.part")));
        let file = File::create(&part.0).map_err(FileError::io("write", &part.0))?;
        let mut file = BufWriter::new(file);
        let sink = match format {
            ValuesFormat::Parquet => {
                let writer =
                    parquet_writer(file, columns, about).map_err(|error| unwritable(path, &error))?;
                Sink::Parquet(Box::new(writer))
            }
            ValuesFormat::Csv => {
                let quoted = columns.iter().map(|column| csv_cell(column));
                let header = std::iter::once("date,symbol".to_owned()).chain(quoted);
                let header = header.collect::<Vec<_>>().join(",");
                writeln!(file, "{header}").map_err(FileError::io("write", &part.0))?;
                Sink::Csv(file)
            }
            ValuesFormat::Raw => Sink::Raw(file),
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
    /// [`FormulaStudyError`] when it cannot be written.
    pub fn add(&mut self, name: &NameValues) -> Result<(), FormulaStudyError> {
        if name.sessions.is_empty() {
            return Ok(());
        }
        self.rows += name.sessions.len();
        let calendar = &self.calendar;
        match &mut self.sink {
            Sink::Parquet(writer) => {
                write_group(writer, calendar, name).map_err(|error| unwritable(&self.path, &error))
            }
            Sink::Csv(file) => {
                let text = csv_rows(calendar, name);
                Ok(file
                    .write_all(text.as_bytes())
                    .map_err(FileError::io("write", &self.part.0))?)
            }
            Sink::Raw(file) => {
                let bytes: Vec<u8> = (0..name.sessions.len())
                    .flat_map(|row| name.columns.iter().filter_map(move |column| column.get(row)))
                    .flat_map(|cell| cell.to_le_bytes())
                    .collect();
                Ok(file
                    .write_all(&bytes)
                    .map_err(FileError::io("write", &self.part.0))?)
            }
        }
    }

    /// Ends the file and gives it its name; how many rows it has.
    ///
    /// # Errors
    /// [`FormulaStudyError`] when it cannot be written.
    pub fn finish(self) -> Result<usize, FormulaStudyError> {
        let Self {
            path,
            part,
            rows,
            sink,
            ..
        } = self;
        let mut file = match sink {
            Sink::Parquet(writer) => writer.into_inner().map_err(|error| unwritable(&path, &error))?,
            Sink::Csv(file) | Sink::Raw(file) => file,
        };
        file.flush().map_err(FileError::io("write", &part.0))?;
        file.get_ref()
            .sync_all()
            .map_err(FileError::io("sync", &part.0))?;
        rename(&part.0, &path)?;
        Ok(rows)
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
fn check_columns(columns: &[String]) -> Result<(), FormulaStudyError> {
    let mut seen: BTreeSet<&str> = BTreeSet::from(["date", "symbol"]);
    for column in columns {
        if column.trim().is_empty() || !seen.insert(column) {
            return Err(FormulaStudyError::input(
                format_args!("two columns have the name {column:?}, or it is empty"),
                "give each formula an id of its own other than `date` and `symbol`, or write the sets one by one",
            ));
        }
    }
    Ok(())
}

fn unwritable(path: &Path, error: &ParquetError) -> FormulaStudyError {
    FormulaStudyError::input(
        format_args!("cannot write {}: {error}", path.display()),
        "check that the disk has room, or write CSV",
    )
}

fn parquet_writer(
    file: BufWriter<File>,
    columns: &[String],
    about: &str,
) -> Result<SerializedFileWriter<BufWriter<File>>, ParquetError> {
    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    let of =
        |name: &str, physical, logical: Option<LogicalType>, repetition| -> Result<TypePtr, ParquetError> {
            let built = Type::primitive_type_builder(name, physical)
                .with_logical_type(logical)
                .with_repetition(repetition)
                .build()?;
            Ok(Arc::new(built))
        };
    let mut fields = vec![
        of(
            "date",
            Physical::INT32,
            Some(LogicalType::Date),
            Repetition::REQUIRED,
        )?,
        of(
            "symbol",
            Physical::BYTE_ARRAY,
            Some(LogicalType::String),
            Repetition::REQUIRED,
        )?,
    ];
    for column in columns {
        fields.push(of(column, Physical::FLOAT, None, Repetition::OPTIONAL)?);
    }
    let schema = Type::group_type_builder("values").with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![KeyValue::new("ktd".to_owned(), about.to_owned())]))
        .build();
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

type Group<'a> = SerializedRowGroupWriter<'a, BufWriter<File>>;

/// The rows of an instrument as a row group.
fn write_group(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
    calendar: &[TradeDate],
    name: &NameValues,
) -> Result<(), ParquetError> {
    let mut group: Group<'_> = writer.next_row_group()?;
    let days = name.sessions.iter().filter_map(|session| calendar.get(*session));
    let days: Vec<i32> = days.map(|day| day.days_since_epoch()).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int32Type>().write_batch(&days, None, None)?;
        column.close()?;
    }
    if let Some(mut column) = group.next_column()? {
        let codes = vec![ByteArray::from(name.code.as_str()); days.len()];
        column.typed::<ByteArrayType>().write_batch(&codes, None, None)?;
        column.close()?;
    }
    for cells in &name.columns {
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

fn csv_rows(calendar: &[TradeDate], name: &NameValues) -> String {
    let mut text = String::new();
    for (row, session) in name.sessions.iter().enumerate() {
        let day = calendar.get(*session).map(|day| day.reveal()).unwrap_or_default();
        // Writing to a string cannot fail.
        write!(text, "{day},{}", name.code).ok();
        for cells in &name.columns {
            match cells.get(row).filter(|cell| !cell.is_nan()) {
                Some(cell) => write!(text, ",{cell}").ok(),
                None => write!(text, ",").ok(),
            };
        }
        text.push('\n');
    }
    text
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
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
