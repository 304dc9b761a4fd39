//! Text tables: CSV, TSV and their gzip forms, with the line of every row.

use crate::FileError;
use crate::whole_file::open_input;
use csv::StringRecord;
use flate2::read::MultiGzDecoder;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A delimited text file read row by row.
pub struct TextFile {
    path: PathBuf,
    reader: csv::Reader<Box<dyn Read>>,
    record: StringRecord,
}

/// Opens a text file for reading, decompressing gzip by its first bytes.
///
/// # Errors
/// [`FileError`] when it cannot be read.
pub fn open_text(path: &Path) -> Result<Box<dyn Read>, FileError> {
    let file = open_input(path)?;
    let mut buffered = BufReader::with_capacity(1 << 16, file);
    let start = buffered.fill_buf().map_err(FileError::io("read", path))?;
    if start.starts_with(&[0x1F, 0x8B]) {
        Ok(Box::new(MultiGzDecoder::new(buffered)))
    } else {
        Ok(Box::new(buffered))
    }
}

impl TextFile {
    /// Opens a file whose first line is a header or already a row: the caller sees it as the first row.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be read.
    pub fn open(path: &Path, delimiter: u8) -> Result<Self, FileError> {
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(open_text(path)?);
        Ok(Self {
            path: path.to_owned(),
            reader,
            record: StringRecord::new(),
        })
    }

    /// The file's name as the user gave it.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The next row with its 1-based line; `None` at the end.
    ///
    /// # Errors
    /// [`FileError`] when the row cannot be read.
    pub fn next_row(&mut self) -> Result<Option<(u64, &StringRecord)>, FileError> {
        let found = self
            .reader
            .read_record(&mut self.record)
            .map_err(|error| read_failure(&self.path, error))?;
        if !found {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        // A byte order mark belongs to no column's name.
        if line <= 1
            && let Some(first) = self.record.get(0)
            && let Some(clean) = first.strip_prefix('\u{feff}')
        {
            let rest = self.record.iter().skip(1);
            let mut cleaned: StringRecord = std::iter::once(clean).chain(rest).collect();
            cleaned.set_position(self.record.position().cloned());
            self.record = cleaned;
        }
        Ok(Some((line, &self.record)))
    }
}

fn read_failure(path: &Path, error: csv::Error) -> FileError {
    let line = error.position().map_or(0, csv::Position::line);
    let message = error.to_string();
    let is_text = !matches!(error.kind(), csv::ErrorKind::Utf8 { .. });
    if let csv::ErrorKind::Io(error) = error.into_kind() {
        return FileError::io("read", path)(error);
    }
    let name = path.display().to_string();
    if is_text {
        at_row(&name, line, message)
    } else {
        FileError::Row {
            file: name,
            row: line,
            what: "not UTF-8".to_owned(),
            hint: "save the file as UTF-8 text",
        }
    }
}

/// A fault at a row of a file; rows count from 1.
#[must_use]
pub fn at_row(file: &str, row: u64, message: impl std::fmt::Display) -> FileError {
    FileError::Row {
        file: file.to_owned(),
        row,
        what: message.to_string(),
        hint: "fix that row or remove it, then run the command again",
    }
}

impl std::fmt::Debug for TextFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
