//! A small file that several processes change in turn.

use crate::FileError;
use crate::whole_file::{create_private, owner_alone};
use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Small file that several processes of one user change in turn, each while it holds the file's lock.
///
/// A process that is killed in the middle of a change may leave a part of it: what is read must be allowed to be anything.
#[derive(Debug)]
pub struct SharedFile {
    path: PathBuf,
    bytes_max: u64,
}

impl SharedFile {
    /// The file of this name in a folder that is made where it is missing, of which at most so many bytes are read.
    ///
    /// # Errors
    /// [`FileError::Io`] when the folder cannot be made.
    pub fn new(folder: &Path, name: &str, bytes_max: u64) -> Result<Self, FileError> {
        create_private(folder)?;
        Ok(Self {
            path: folder.join(name),
            bytes_max,
        })
    }

    /// Reads the file, which is empty where it is missing, and writes what `change` makes of it, while no other process does.
    ///
    /// # Errors
    /// [`FileError::Io`] when it cannot be opened, locked, read or written.
    pub fn change<T>(&self, change: impl FnOnce(&[u8]) -> (Vec<u8>, T)) -> Result<T, FileError> {
        let path = &self.path;
        let file = owner_alone(path).create(true).read(true).write(true).open(path);
        let mut file = file.map_err(FileError::io("open", path))?;
        file.lock().map_err(FileError::io("lock", path))?;
        let changed = self.changed(&mut file, change);
        // A process that is just being started has a copy of the open file: closing ours would not end the lock.
        file.unlock().map_err(FileError::io("unlock", path))?;
        changed
    }

    fn changed<T>(
        &self,
        file: &mut File,
        change: impl FnOnce(&[u8]) -> (Vec<u8>, T),
    ) -> Result<T, FileError> {
        let path = &self.path;
        let mut found = Vec::new();
        let read = Read::take(&mut *file, self.bytes_max).read_to_end(&mut found);
        read.map_err(FileError::io("read", path))?;
        let (bytes, value) = change(&found);
        let written = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&bytes))
            .and_then(|()| file.set_len(u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
        written.map_err(FileError::io("write", path))?;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_many_hands() {
        let folder = tempfile::tempdir().unwrap();
        let add = || {
            let file = SharedFile::new(folder.path(), "count", 64).unwrap();
            for _ in 0..200 {
                let add = |found: &[u8]| {
                    let count: u64 = String::from_utf8_lossy(found).parse().unwrap_or(0);
                    ((count + 1).to_string().into_bytes(), ())
                };
                file.change(add).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(add);
            }
        });
        assert_eq!(
            std::fs::read_to_string(folder.path().join("count")).unwrap(),
            "800"
        );
    }
}
