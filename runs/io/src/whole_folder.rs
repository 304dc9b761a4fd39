//! Folders that are written whole.
//!
//! A folder NAME is made in `.NAME.part` beside it, which its owner alone may enter, and takes its name when all of it is
//! written. Whoever writes it holds a lock, so that what a killed process left is told from what another one is writing:
//! the next writer of the same folder removes the former and is refused by the latter.

use crate::FileError;
use crate::file_set::replace_report;
use crate::lock::FileLock;
use crate::whole_file::{
    create_directory, create_private, list, list_if_exists, remove_directory, rename, write_whole,
};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The lock of whoever writes, in the unfinished folder.
const LOCK: &str = "lock";
/// What will be the folder.
const CONTENT: &str = "whole";

/// Whether this process was told to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Ends every folder that this process is writing, before its next file: what was written of it is removed.
pub fn end_unfinished() {
    IS_ENDING.store(true, Ordering::Relaxed);
}

/// A folder that is being written. Dropped before [`WholeFolder::finish`], it leaves nothing.
#[derive(Debug)]
pub struct WholeFolder {
    target: PathBuf,
    unfinished: PathBuf,
    _lock: FileLock,
}

impl WholeFolder {
    /// Begins the folder `target`, which is absent or empty; the folders above it are made.
    ///
    /// # Errors
    /// [`FileError::NotEmpty`], [`FileError::Busy`] while another process writes it, [`FileError::Io`].
    pub fn begin(target: &Path) -> Result<Self, FileError> {
        let target = std::path::absolute(target).map_err(FileError::io("write", target))?;
        check_vacant(&target)?;
        let unfinished = unfinished(&target)?;
        if unfinished.is_symlink() {
            return Err(FileError::io("write", &unfinished)(
                io::ErrorKind::NotADirectory.into(),
            ));
        }
        create_private(&unfinished)?;
        let lock = FileLock::take(&unfinished.join(LOCK), &target)?;
        let begun = Self {
            target,
            unfinished,
            _lock: lock,
        };
        // Under the lock, whatever lies there is what a kill left.
        if begun.content().exists() {
            remove_directory(&begun.content())?;
        }
        create_directory(&begun.content())?;
        Ok(begun)
    }

    fn content(&self) -> PathBuf {
        self.unfinished.join(CONTENT)
    }

    /// Where a path of the folder lies until it is finished.
    ///
    /// # Errors
    /// [`FileError::Io`] once this process was told to end.
    pub fn at(&self, path: impl AsRef<Path>) -> Result<PathBuf, FileError> {
        if IS_ENDING.load(Ordering::Relaxed) {
            return Err(FileError::io("go on writing", &self.target)(
                io::ErrorKind::Interrupted.into(),
            ));
        }
        Ok(self.content().join(path))
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// [`FileError::Io`], also where something has got that name in the meantime.
    pub fn finish(self) -> Result<(), FileError> {
        let content = self.at("")?;
        if self.target.exists() {
            // It removes an empty folder alone.
            std::fs::remove_dir(&self.target).map_err(FileError::io("replace", &self.target))?;
        }
        rename(&content, &self.target)
    }
}

impl Drop for WholeFolder {
    fn drop(&mut self) {
        // What is finished is gone from it; else the failure is what is reported.
        remove_directory(&self.unfinished).ok();
    }
}

/// Refuses a folder that holds anything.
///
/// # Errors
/// [`FileError::NotEmpty`], and [`FileError::Io`] for what is no folder.
pub fn check_vacant(folder: &Path) -> Result<(), FileError> {
    if list_if_exists(folder)?.is_empty() {
        return Ok(());
    }
    Err(FileError::NotEmpty {
        path: folder.to_owned(),
    })
}

/// Writes the files of one report, by their paths below its folder. A folder that is absent or empty is written whole; in
/// one that holds something they replace those of an earlier report as [`replace_report`] has it, the first last.
///
/// # Errors
/// [`FileError`].
pub fn write_report(
    folder: &Path,
    files: Vec<(String, Vec<u8>)>,
    obsolete: &[PathBuf],
) -> Result<(), FileError> {
    if check_vacant(folder).is_ok() {
        let whole = WholeFolder::begin(folder)?;
        for (name, bytes) in files {
            let path = whole.at(name)?;
            create_directory(path.parent().unwrap_or(&path))?;
            write_whole(&path, &bytes)?;
        }
        return whole.finish();
    }
    // A process that was killed when the folder had just got its name has left the other one.
    if let Some(parent) = std::path::absolute(folder).ok().as_deref().and_then(Path::parent) {
        sweep(parent);
    }
    let files = files.into_iter().map(|(name, bytes)| (folder.join(name), bytes));
    let files: Vec<(PathBuf, Vec<u8>)> = files.collect();
    for (path, _) in &files {
        create_directory(path.parent().unwrap_or(folder))?;
    }
    replace_report(&files, obsolete)
}

/// Removes what killed processes left of folders in `parent`. What is being written stays, and so does what cannot be
/// removed.
pub fn sweep(parent: &Path) {
    for path in list(parent).unwrap_or_default() {
        let is_left = is_unfinished(&path) && !path.is_symlink() && holds_nothing_else(&path);
        if is_left && let Ok(_lock) = FileLock::take(&path.join(LOCK), &path) {
            remove_directory(&path).ok();
        }
    }
}

/// Whether a folder has the name of one that is being written.
#[must_use]
pub fn is_unfinished(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.len() > "..part".len() && name.starts_with('.') && name.ends_with(".part")
}

/// Whether a folder is one that this module made: nobody else's is removed.
fn holds_nothing_else(folder: &Path) -> bool {
    let (lock, content) = (folder.join(LOCK), folder.join(CONTENT));
    let found = list(folder).unwrap_or_default();
    found.contains(&lock) && found.iter().all(|path| [&lock, &content].contains(&path))
}

fn unfinished(target: &Path) -> Result<PathBuf, FileError> {
    let Some(name) = target.file_name() else {
        return Err(FileError::io("write", target)(io::ErrorKind::InvalidInput.into()));
    };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".part");
    Ok(target.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        list(folder).unwrap().iter().map(name).collect()
    }

    #[test]
    fn a_folder_is_whole_or_absent_and_one_process_writes_it() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("out");
        let begin = || {
            let begun = WholeFolder::begin(&target).unwrap();
            write_whole(&begun.at("a").unwrap(), b"1").unwrap();
            begun
        };
        drop(begin());
        assert_eq!(names(parent.path()), Vec::<String>::new());
        let begun = begin();
        assert!(matches!(WholeFolder::begin(&target), Err(FileError::Busy { .. })));
        sweep(parent.path());
        assert_eq!(names(parent.path()), [".out.part"]);
        begun.finish().unwrap();
        assert_eq!(
            (names(parent.path()), names(&target)),
            (vec!["out".to_owned()], vec!["a".to_owned()])
        );
        assert!(matches!(
            WholeFolder::begin(&target),
            Err(FileError::NotEmpty { .. })
        ));
    }

    #[test]
    fn what_a_kill_left_is_removed_and_nothing_of_others() {
        let parent = tempfile::tempdir().unwrap();
        let left = |name: &str| {
            let folder = parent.path().join(name);
            create_directory(&folder.join(CONTENT).join("private")).unwrap();
            write_whole(&folder.join(LOCK), b"").unwrap();
            folder
        };
        let of_others = left(".film.part");
        write_whole(&of_others.join("film"), b"").unwrap();
        left(".one.part");
        left(".two.part");
        let begun = WholeFolder::begin(&parent.path().join("one")).unwrap();
        assert!(!begun.at("private").unwrap().exists());
        begun.finish().unwrap();
        assert_eq!(names(parent.path()), [".film.part", ".two.part", "one"]);
        sweep(parent.path());
        assert_eq!(names(parent.path()), [".film.part", "one"]);
    }
}
