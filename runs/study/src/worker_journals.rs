//! Journals that workers of one study write beside each other, a file each.

use crate::StudyError;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::{list_if_exists, remove_if_exists};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What is journalled.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WorkerJournal {
    /// Records that are a line each.
    Units,
    /// How the records of finished units looked, on the machine of their worker.
    Index,
}

impl WorkerJournal {
    const fn begins_with(self) -> &'static str {
        match self {
            Self::Units => "units.open-",
            Self::Index => "index.open-",
        }
    }

    /// The journal of a worker.
    pub(crate) fn path(self, folder: &Path, worker: &str) -> PathBuf {
        folder.join(format!("{}{worker}.jsonl", self.begins_with()))
    }

    /// Those that workers have left in a folder, or write.
    fn all(self, folder: &Path) -> Result<Vec<PathBuf>, StudyError> {
        let mut paths = list_if_exists(folder)?;
        paths.retain(|path| self.is(&path.file_name().unwrap_or_default().to_string_lossy()));
        Ok(paths)
    }

    fn is(self, name: &str) -> bool {
        name.starts_with(self.begins_with())
    }

    /// What workers have kept: the lines that are whole.
    pub(crate) fn lines<T: DeserializeOwned>(self, folder: &Path) -> Result<Vec<T>, StudyError> {
        let mut lines = Vec::new();
        for path in self.all(folder)? {
            let bytes = LineKind::Log.bytes_if_exists(&path)?.unwrap_or_default();
            lines.extend(LineKind::Log.lines(&path, &bytes)?.whole_values()?);
        }
        Ok(lines)
    }

    /// Removes those whose lines are kept elsewhere now.
    pub(crate) fn remove(self, folder: &Path) -> Result<(), StudyError> {
        for path in self.all(folder)? {
            remove_if_exists(&path)?;
        }
        Ok(())
    }
}

/// Whether it is the name of an index of how files look on the machine of a worker.
pub(crate) fn is_index_of_a_worker(name: &str) -> bool {
    WorkerJournal::Index.is(name)
}

/// Whether a worker gives a file in its copy of a study's folder to nobody: an index of how files look here, or the journal of another
/// worker, of which its copy may be older than what was added since.
#[must_use]
pub fn is_not_pushed(place: &str, worker: &str) -> bool {
    let own = WorkerJournal::Units.path(Path::new(""), worker);
    is_index_of_a_worker(place) || WorkerJournal::Units.is(place) && Path::new(place) != own
}
