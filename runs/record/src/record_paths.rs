//! The paths of what any recorded talk with a model has.

use ktd_io::FileError;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::create_private;
use std::path::{Path, PathBuf};

/// The folder of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPaths {
    root: PathBuf,
}

impl RecordPaths {
    /// The record in a folder.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `events.jsonl`.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// `exchanges.jsonl.zst`: the compressed part of the exchanges, all of them once the record is closed. The open part
    /// is `exchanges.jsonl` beside it.
    #[must_use]
    pub fn exchanges(&self) -> PathBuf {
        self.root.join("exchanges.jsonl.zst")
    }

    /// `exchanges.jsonl`: the open part of the exchanges, while the record is written.
    #[must_use]
    pub fn open_exchanges(&self) -> PathBuf {
        self.root.join("exchanges.jsonl")
    }

    /// `private/`: what its owner alone may see.
    #[must_use]
    pub fn private(&self) -> PathBuf {
        self.root.join("private")
    }

    /// `private/lock`: held by the one process that writes the record.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.private().join("lock")
    }

    /// Makes the directories.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub fn create(&self) -> Result<(), FileError> {
        create_private(&self.private())
    }

    /// Takes the record's lock, before anything of it is read.
    ///
    /// # Errors
    /// [`FileError::Busy`] when another process holds it, [`FileError::Io`] when there can be no lock.
    pub fn lock_for_writing(&self) -> Result<FileLock, FileError> {
        FileLock::take(&self.lock(), &self.root)
    }
}
