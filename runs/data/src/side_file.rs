//! A text file of facts beside the rows: its header and its rows.

use crate::DataFileError;
use crate::error::{at_row, empty};
use csv::StringRecord;
use ktd_io::text_file::TextFile;
use std::fmt::Display;
use std::path::Path;

/// A CSV file whose first line names its columns.
pub(super) struct SideFile {
    file: TextFile,
    /// The file as messages name it.
    pub(super) name: String,
    pub(super) header: StringRecord,
}

impl SideFile {
    /// # Errors
    /// [`DataFileError`] for a file that cannot be read or has no line.
    pub(super) fn open(path: &Path) -> Result<Self, DataFileError> {
        let mut file = TextFile::open(path, b',')?;
        let name = file.name();
        let header = file.next_row()?.map(|(_, header)| header.clone());
        let header = header.ok_or_else(|| empty(&name))?;
        Ok(Self { file, name, header })
    }

    /// The place of the first column that has one of these names.
    pub(super) fn place(&self, names: &[&str]) -> Option<usize> {
        self.header.iter().position(|head| names.contains(&head))
    }

    /// The next row and its number.
    pub(super) fn next_row(&mut self) -> Result<Option<(u64, &StringRecord)>, DataFileError> {
        Ok(self.file.next_row()?)
    }

    /// The same of every row by `read`, which says in words what is wrong with one.
    ///
    /// # Errors
    /// [`DataFileError`] naming the row.
    pub(super) fn rows<T>(
        mut self,
        mut read: impl FnMut(&StringRecord) -> Result<T, String>,
    ) -> Result<Vec<(u64, T)>, DataFileError> {
        let mut rows = Vec::new();
        while let Some((row, record)) = self.file.next_row()? {
            rows.push((row, read(record).map_err(|what| at_row(&self.name, row, what))?));
        }
        Ok(rows)
    }

    /// What is said of a file whose header lacks a column.
    pub(super) fn lacks(&self, columns: impl Display, hint: impl Display) -> DataFileError {
        DataFileError::input(format_args!("{}: the header lacks {columns}", self.name), hint)
    }
}
