//! What goes to the terminal and to files.

pub use crate::page::draw::{Align, Column, Layout, Table, display_width, grouped};

use crate::failure::Failure;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a command speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Console {
    /// One JSON document on standard output instead of text.
    pub json: bool,
    /// No progress and no tables; results and errors only.
    pub quiet: bool,
}

impl Console {
    /// Prints the result: `text` for people, `value` for programs.
    ///
    /// # Errors
    /// [`Failure`] when standard output cannot be written; a closed pipe is no error.
    pub fn result(self, text: &str, value: &serde_json::Value) -> Result<(), Failure> {
        let document = if self.json {
            format!("{value:#}\n")
        } else if text.ends_with('\n') || text.is_empty() {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        print(&mut io::stdout().lock(), &document)
    }

    /// Prints a line on standard error while a command goes on, unless it is to be quiet.
    pub fn note(self, line: &str) {
        if !self.quiet {
            // Nothing is left to tell anyone when standard error is gone.
            print(&mut io::stderr().lock(), &format!("{line}\n")).ok();
        }
    }

    /// Prints a failure on standard error, as JSON where asked for.
    pub fn failure(self, failure: &Failure) {
        let document = if self.json {
            format!("{:#}\n", failure.to_json())
        } else {
            format!("{failure}\n")
        };
        // Nothing is left to tell anyone when standard error is gone.
        print(&mut io::stderr().lock(), &document).ok();
    }
}

fn print(stream: &mut impl Write, document: &str) -> Result<(), Failure> {
    match stream
        .write_all(document.as_bytes())
        .and_then(|()| stream.flush())
    {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::file("write to", Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Whether a file that is already there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// It is an error.
    Refuse,
    /// It is replaced as a whole.
    Replace,
}

/// Writes a whole file or nothing: to a temporary file beside it, synced, then renamed.
///
/// # Errors
/// [`Failure`] when the file exists and may not be replaced, or when the disk refuses; the temporary file is removed.
pub fn write_atomically(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<(), Failure> {
    check_writable(path, overwrite)?;
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, bytes).and_then(|()| match overwrite {
        Overwrite::Replace => std::fs::rename(&temporary, path),
        // A hard link fails where a rename would silently replace a file made in the meantime.
        Overwrite::Refuse => std::fs::hard_link(&temporary, path).or_else(|error| {
            // File systems without hard links get the rename after the check above.
            if error.kind() == io::ErrorKind::AlreadyExists {
                Err(error)
            } else {
                std::fs::rename(&temporary, path)
            }
        }),
    });
    // After a rename it is gone already.
    std::fs::remove_file(&temporary).ok();
    written.map_err(|error| Failure::file("write", path, &error))
}

/// Says before long work whether a file could be written at its end.
///
/// # Errors
/// [`Failure`] when the file exists and may not be replaced, is a directory, or its directory is missing.
pub fn check_writable(path: &Path, overwrite: Overwrite) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::file("write", path, &io::ErrorKind::IsADirectory.into()));
    }
    if overwrite == Overwrite::Refuse && path.exists() {
        return Err(Failure::file("write", path, &io::ErrorKind::AlreadyExists.into()));
    }
    if path.exists() && !path.is_file() {
        // Replacing a device or a pipe by a file would break it for everyone.
        return Err(Failure::bad_input(format_args!(
            "cannot write {}: it is no ordinary file",
            path.display()
        )));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => {
            Err(Failure::file("write", path, &io::ErrorKind::NotFound.into()))
        }
        _ => Ok(()),
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_replaced_only_when_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        write_atomically(&path, b"one", Overwrite::Refuse).unwrap();
        let refused = write_atomically(&path, b"two", Overwrite::Refuse).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write_atomically(&path, b"two", Overwrite::Replace).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_full_disk_leaves_nothing() {
        // Linux's always-full device stands for the disk.
        let full = Path::new("/dev/full");
        if full.exists() {
            let error = std::fs::OpenOptions::new()
                .write(true)
                .open(full)
                .and_then(|mut file| file.write_all(b"x"))
                .unwrap_err();
            let failure = Failure::file("write", full, &error);
            assert!(failure.hint().unwrap().contains("disk is full"), "{failure}");
        }
    }

    #[test]
    fn a_missing_directory_is_said_before_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent").join("out");
        assert!(check_writable(&path, Overwrite::Refuse).is_err());
        assert!(check_writable(directory.path(), Overwrite::Replace).is_err());
    }
}
