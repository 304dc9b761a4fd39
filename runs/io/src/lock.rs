//! A lock between processes.

use crate::FileError;
use crate::whole_file::owner_alone;
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock held by the one process that writes a directory; the system drops it with the process, however that ends.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "held, not read")] File);

impl FileLock {
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
