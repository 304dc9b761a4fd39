//! A lock between processes.

use crate::FileError;
use crate::whole_file::{create_directory, owner_alone};
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock held by the one process that writes a directory; the system drops it with the process, however that ends.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held, not read")] File);

/// The name of the lock in the folder of a study. What is published but for its `private` has it there: a bundle, which may
/// lie in such a folder, and a certificate.
const NAME: &str = "lock";

impl FileLock {
    /// Takes the lock of a folder, which is made where it is missing, before anything in it is read.
    ///
    /// # Errors
    /// As [`FileLock::take`], and [`FileError::Io`] when the folder cannot be made.
    pub fn of_folder(folder: &Path) -> Result<Self, FileError> {
        create_directory(folder)?;
        Self::take(&folder.join(NAME), folder)
    }

    /// Takes a lock whose file is `path`, before anything below `root` is read.
    ///
    /// # Errors
    /// [`FileError::Busy`] when another process holds it, [`FileError::Io`] when there can be no lock.
    pub fn take(path: &Path, root: &Path) -> Result<Self, FileError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(FileError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(FileError::Busy {
                path: root.to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(FileError::io("lock", path)(error)),
        }
    }
}
