//! A lock between processes.

use crate::FileError;
use crate::whole_file::{create_directory, if_found, open_regular, owner_alone};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

/// Longer than [`FileLock::is_held`] takes.
const LOOK: Duration = Duration::from_millis(20);

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

    /// Whether another process holds the lock of a folder, alone or with others. It holds up nobody: who takes the lock in the very
    /// instant in which it is looked at tries again.
    ///
    /// # Errors
    /// [`FileError::Io`] when it cannot be looked at.
    pub fn is_held(folder: &Path) -> Result<bool, FileError> {
        let path = folder.join(NAME);
        let Some(file) = if_found(open_regular(&path))? else {
            return Ok(false);
        };
        match file.try_lock() {
            Ok(()) => {
                file.unlock().ok();
                Ok(false)
            }
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(FileError::io("lock", &path)(error)),
        }
    }

    fn locked(
        path: &Path,
        root: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, FileError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(FileError::io("open", path))?;
        let locked = lock(&file).or_else(|_| {
            // Somebody may only have looked.
            std::thread::sleep(LOOK);
            lock(&file)
        });
        match locked {
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
        assert!(FileLock::is_held(folder.path()).unwrap());
        drop(lock);
        assert!(!FileLock::is_held(folder.path()).unwrap());
        FileLock::of_folder(folder.path()).unwrap();
        drop(copy);
    }
}
