//! The folder of a study while it is written.

use crate::program_record::ProgramRecord;
use ktd_io::FileError;
use ktd_io::lock::FileLock;
use std::path::{Path, PathBuf};

/// Folder that this process alone writes, with the program that its records are of. Whoever writes a study's folder is
/// handed one, so that nothing in it is read or written by two.
#[derive(Debug)]
pub struct StudyFolder {
    path: PathBuf,
    program: ProgramRecord,
    _lock: FileLock,
}

impl StudyFolder {
    /// Makes the folder where it is missing, and holds it until this value is dropped or the process ends, however it does.
    ///
    /// # Errors
    /// [`FileError::Busy`] when another process holds it, [`FileError::Io`] when it cannot be made.
    pub fn hold(path: &Path, program: &ProgramRecord) -> Result<Self, FileError> {
        Ok(Self {
            _lock: FileLock::of_folder(path)?,
            path: path.to_owned(),
            program: program.clone(),
        })
    }

    /// The same of a folder whose parts are handed to many processes, each part to one: it keeps out who would hold it alone.
    ///
    /// # Errors
    /// As [`StudyFolder::hold`].
    pub fn share(path: &Path, program: &ProgramRecord) -> Result<Self, FileError> {
        Ok(Self {
            _lock: FileLock::share_folder(path)?,
            path: path.to_owned(),
            program: program.clone(),
        })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program that writes it.
    #[must_use]
    pub const fn program(&self) -> &ProgramRecord {
        &self.program
    }
}
