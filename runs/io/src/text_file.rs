//! Text tables: CSV, TSV and their gzip forms, with the line of every row.

use crate::FileError;
use crate::whole_file::{open_input, starts_with};
use csv::StringRecord;
use flate2::read::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A delimited text file read row by row.
pub struct TextFile {
    path: PathBuf,
    reader: csv::Reader<Box<dyn Read>>,
    record: StringRecord,
}

/// The most that one line may hold: 16 MiB, far above the orders of a day for every stock.
const LINE_LIMIT_BYTES: usize = 16 << 20;

/// Text that fails to be read at a line beyond a bound, before the line fills the memory.
struct BoundedLines<R> {
    text: R,
    line_bytes: usize,
    limit_bytes: usize,
}

impl<R: Read> Read for BoundedLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(buffer)?;
        let last_end = buffer.iter().take(count).rev().position(|byte| *byte == b'\n');
        self.line_bytes = last_end.unwrap_or_else(|| self.line_bytes.saturating_add(count));
        if self.limit_bytes < self.line_bytes {
            let limit = self.limit_bytes >> 20;
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a line is longer than {limit} MiB"),
            ));
        }
        Ok(count)
    }
}

/// Opens a text file for reading, decompressing gzip by its first bytes; a line of more than 16 MiB cannot be read.
///
/// # Errors
/// [`FileError`] when it cannot be read.
pub fn open_text(path: &Path) -> Result<Box<dyn Read>, FileError> {
    let file = open_input(path)?;
    let mut buffered = BufReader::with_capacity(1 << 16, file);
    let start = buffered.fill_buf().map_err(FileError::io("read", path))?;
    let text: Box<dyn Read> = if start.starts_with(&[0x1F, 0x8B]) {
        Box::new(MultiGzDecoder::new(buffered))
    } else {
        Box::new(buffered)
    };
    Ok(Box::new(BoundedLines {
        text,
        line_bytes: 0,
        limit_bytes: LINE_LIMIT_BYTES,
    }))
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
        return at_row(&name, line, message);
    }
    let is_zip = starts_with(path, b"PK").unwrap_or(false);
    let (what, hint) = if is_zip {
        (
            "a workbook of Excel or another zip file, not text",
            "save it as CSV UTF-8 and name that file",
        )
    } else {
        (
            "not UTF-8",
            "save the file as UTF-8 text; where it is GBK: iconv -f GBK -t UTF-8 FILE > NEW",
        )
    };
    FileError::Row {
        file: name,
        row: line,
        what: what.to_owned(),
        hint,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_given_up_before_it_fills_the_memory() {
        let bounded = |text: &'static [u8]| {
            let mut read = Vec::new();
            let mut lines = BoundedLines {
                text,
                line_bytes: 0,
                limit_bytes: 4,
            };
            lines.read_to_end(&mut read).map(|_| read)
        };
        assert_eq!(bounded(b"1234\n1234").unwrap(), b"1234\n1234");
        assert!(bounded(b"12345678").is_err());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("zeros.gz");
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::copy(
            &mut std::io::repeat(0).take(u64::try_from(LINE_LIMIT_BYTES).unwrap() + 1),
            &mut packed,
        )
        .unwrap();
        std::fs::write(&path, packed.finish().unwrap()).unwrap();
        let error = TextFile::open(&path, b',')
            .unwrap()
            .next_row()
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
    }

    #[test]
    fn what_is_no_utf8_is_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        for (bytes, part) in [
            (b"PK\x03\x04\xff\n", "zip file"),
            (b"\xc8\xd5\xc6\xda,\n", "not UTF-8"),
        ] {
            let path = directory.path().join("rows.csv");
            std::fs::write(&path, bytes).unwrap();
            let mut file = TextFile::open(&path, b',').unwrap();
            let error = file.next_row().map(|_| ()).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
