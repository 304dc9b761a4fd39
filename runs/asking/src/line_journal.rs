//! What was found so far, a line each: a run that was killed reads it and goes on.

use crate::AskingError;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::owner_alone;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Journal of values, one JSON object a line, which is safe to kill at any byte.
#[derive(Debug)]
pub struct LineJournal {
    path: PathBuf,
    file: File,
}

impl LineJournal {
    /// A journal, and what an earlier run has left in it. A last line that is not whole is cut off: it was being written
    /// when the run was killed.
    ///
    /// # Errors
    /// [`AskingError`] with the line of what is no such value.
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<T>), AskingError> {
        let bytes = LineKind::Log.bytes_if_exists(path)?.unwrap_or_default();
        let mut lines = LineKind::Log.lines(path, &bytes)?;
        let known = lines.whole_values()?;
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(AskingError::io("open", path))?;
        if 0 < lines.torn_bytes() {
            file.set_len(lines.whole_bytes())
                .map_err(AskingError::io("cut", path))?;
        }
        let path = path.to_owned();
        Ok((Self { path, file }, known))
    }

    /// Adds a value.
    ///
    /// # Errors
    /// [`AskingError`] where it cannot be written.
    pub fn add<T: Serialize>(&mut self, value: &T) -> Result<(), AskingError> {
        let mut line =
            serde_json::to_vec(value).map_err(|error| AskingError::damaged(&self.path, error.to_string()))?;
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(AskingError::io("write", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_cut_off_and_the_rest_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let (mut journal, known) = LineJournal::open::<(u32, String)>(&path).unwrap();
        assert!(known.is_empty());
        let values = [(1, "a\nb".to_owned()), (2, "é".to_owned())];
        for value in &values {
            journal.add(value).unwrap();
        }
        let whole = std::fs::read(&path).unwrap();
        for torn in 0..whole.len() {
            std::fs::write(&path, &whole[..torn]).unwrap();
            let (mut journal, known) = LineJournal::open::<(u32, String)>(&path).unwrap();
            assert!(values.starts_with(&known), "{torn}");
            for value in values.iter().skip(known.len()) {
                journal.add(value).unwrap();
            }
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{torn}");
        }
    }

    #[test]
    fn another_value_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "1\n\"x\"\n").unwrap();
        let error = LineJournal::open::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
