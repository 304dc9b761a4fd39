//! A lock between processes.

use crate::FileError;
use crate::whole_file::{create_directory, owner_alone};
use std::fs::{File, TryLockError};
use std::path::Path;

/// A lock held by the one process that writes a directory; the system drops it with the process, however that ends.
#[derive(Debug)]
pub struct FileLock(File);

/// A lock belongs to the open file, and a process that is just being started has a copy of it until it runs its program: closing
/// ours would not end it, and who takes it at once would find it held.
impl Drop for FileLock {
    fn drop(&mut self) {
        // Where it cannot be given up it ends when the last copy is closed.
        self.0.unlock().ok();
    }
}

/// The name of the lock in the folder of a study. What is published but for its `private` has it there: a bundle, which may
/// lie in such a folder.
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
        Self::locked(path, root, File::try_lock)
    }

    /// The same lock of a folder for many who write different parts of it: it keeps out who takes it alone.
    ///
    /// # Errors
    /// As [`FileLock::of_folder`].
    pub fn share_folder(folder: &Path) -> Result<Self, FileError> {
        create_directory(folder)?;
        Self::locked(&folder.join(NAME), folder, File::try_lock_shared)
    }

    fn locked(
        path: &Path,
        root: &Path,
        lock: impl FnOnce(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, FileError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(FileError::io("open", path))?;
        match lock(&file) {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(FileError::Busy {
                path: root.to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(FileError::io("lock", path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_although_a_copy_of_its_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let lock = FileLock::of_folder(folder.path()).unwrap();
        let copy = lock.0.try_clone().unwrap();
        let second = FileLock::of_folder(folder.path());
        assert!(matches!(second, Err(FileError::Busy { .. })));
        drop(lock);
        FileLock::of_folder(folder.path()).unwrap();
        drop(copy);
    }
}
