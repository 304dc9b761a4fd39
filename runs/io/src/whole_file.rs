//! Files that are read and written whole.

use crate::FileError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What is done where a file is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfExists {
    /// It is an error.
    Refuse,
    /// It is replaced as a whole.
    Replace,
    /// It stands, and nothing is written: whoever comes second reads the first one's.
    Keep,
}

impl IfExists {
    /// What commands do: a file that stands is an error unless they are forced.
    #[must_use]
    pub const fn refused_unless(forced: bool) -> Self {
        if forced { Self::Replace } else { Self::Refuse }
    }
}

/// Whether a file must outlast a power cut when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on the disk.
    Synced,
    /// It outlasts the process alone.
    Buffered,
}

/// A file opened for reading that is a regular file, whatever links lead to it.
///
/// # Errors
/// [`FileError::NotRegular`] for a directory, device, pipe or socket, before anything of it is read; [`FileError::Io`].
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    // A pipe would hang in `open`, so that the kind is looked at first, and again on what was opened.
    let kind = std::fs::metadata(path).map_err(FileError::io("read", path))?;
    if !kind.is_file() {
        return Err(FileError::not_regular(path));
    }
    let file = File::open(path).map_err(FileError::io("read", path))?;
    let kind = file.metadata().map_err(FileError::io("read", path))?;
    if kind.is_file() {
        Ok(file)
    } else {
        Err(FileError::not_regular(path))
    }
}

/// The bytes of a regular file of at most `limit_bytes`.
///
/// # Errors
/// [`FileError::NotRegular`], [`FileError::TooLarge`] before more than the limit is read, [`FileError::Io`].
pub fn read_bounded(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let file = open_regular(path)?;
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
        limit_bytes,
    };
    let size = file.metadata().map_err(FileError::io("read", path))?.len();
    if limit_bytes < size {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may grow while it is read.
    file.take(limit_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(FileError::io("read", path))?;
    let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if limit_bytes < read {
        Err(too_large())
    } else {
        Ok(bytes)
    }
}

/// The text of a regular file of at most `limit_bytes`.
///
/// # Errors
/// Those of [`read_bounded`], and [`FileError::Damaged`] when it is not UTF-8.
pub fn read_text(path: &Path, limit_bytes: u64) -> Result<String, FileError> {
    String::from_utf8(read_bounded(path, limit_bytes)?).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        FileError::damaged(path, format!("byte {place} is not UTF-8 text"))
    })
}

/// The most that a file which a user names may hold: 64 MiB, far above the longest experiment or table of prices.
pub const INPUT_LIMIT_BYTES: u64 = 64 << 20;

/// Where a system keeps what another program writes to this one: standard input, and the pipes that a shell makes.
const STREAMS: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];

/// A file that a user names, opened for reading: a regular file, standard input, or a shell's pipe from a program.
///
/// # Errors
/// [`FileError::NotRegular`] for a pipe or device with a name of its own, which may never end or never begin;
/// [`FileError::Io`].
pub fn open_input(path: &Path) -> Result<File, FileError> {
    let kind = std::fs::metadata(path).map_err(FileError::io("read", path))?;
    if kind.is_file() || STREAMS.iter().any(|stream| path.starts_with(stream)) {
        return File::open(path).map_err(FileError::io("read", path));
    }
    if kind.is_dir() {
        return Err(FileError::io("read", path)(io::ErrorKind::IsADirectory.into()));
    }
    Err(FileError::not_regular(path))
}

/// The bytes of a file that a user names, as [`open_input`] has it.
///
/// # Errors
/// Those of [`open_input`], [`FileError::InputTooLarge`] for more than [`INPUT_LIMIT_BYTES`].
pub fn read_input_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let read = open_input(path)?
        .take(INPUT_LIMIT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(FileError::io("read", path))?;
    if INPUT_LIMIT_BYTES < u64::try_from(read).unwrap_or(u64::MAX) {
        return Err(FileError::InputTooLarge {
            path: path.to_owned(),
            limit_bytes: INPUT_LIMIT_BYTES,
        });
    }
    Ok(bytes)
}

/// The text of a file that a user names, as [`open_input`] has it.
///
/// # Errors
/// Those of [`read_input_bytes`], and [`FileError::NotText`] when it is not UTF-8.
pub fn read_input(path: &Path) -> Result<String, FileError> {
    String::from_utf8(read_input_bytes(path)?).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        byte: error.utf8_error().valid_up_to(),
    })
}

/// Whether a regular file starts with these bytes; `false` for every other kind of file, of which nothing is read.
///
/// # Errors
/// [`FileError::Io`].
pub fn starts_with(path: &Path, start: &[u8]) -> Result<bool, FileError> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(FileError::NotRegular { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    file.take(u64::try_from(start.len()).unwrap_or(u64::MAX))
        .read_to_end(&mut found)
        .map_err(FileError::io("read", path))?;
    Ok(found == start)
}

/// The bytes of a regular file of at most 1 GiB, far above the longest journal; `None` when there is none.
///
/// # Errors
/// [`FileError::NotRegular`], [`FileError::TooLarge`], [`FileError::Io`].
pub fn read_if_exists(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    if_found(read_bounded(path, 1 << 30))
}

/// The paths of what a directory holds, sorted.
///
/// # Errors
/// [`FileError::Io`].
pub fn list(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let at = || FileError::io("list", directory);
    let entries = std::fs::read_dir(directory).map_err(at())?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>().map_err(at())?;
    paths.sort();
    Ok(paths)
}

/// The paths of what a directory holds, sorted; none when there is no such directory.
///
/// # Errors
/// [`FileError::Io`].
pub fn list_if_exists(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    Ok(if_found(list(directory))?.unwrap_or_default())
}

pub(crate) fn if_found<T>(result: Result<T, FileError>) -> Result<Option<T>, FileError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The most that a JSON document of a record may hold: 64 MiB, far above the largest that is written.
pub const JSON_LIMIT_BYTES: u64 = 64 << 20;

/// A JSON document of at most [`JSON_LIMIT_BYTES`].
///
/// # Errors
/// Those of [`read_bounded`], and [`FileError::Damaged`] when it is not what it must be.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, FileError> {
    parse_json(path, &read_bounded(path, JSON_LIMIT_BYTES)?)
}

/// A JSON document whose bytes were read from `path`.
///
/// # Errors
/// [`FileError::Damaged`] when it is not what it must be.
pub fn parse_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, FileError> {
    serde_json::from_slice(bytes).map_err(|error| FileError::damaged(path, error.to_string()))
}

/// The bytes of a JSON document: indented, one final line end.
///
/// # Errors
/// [`FileError::Damaged`] when the value cannot be JSON.
pub fn json_bytes(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FileError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|error| FileError::damaged(path, error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a whole file or nothing: under a temporary name in the same directory, then renamed.
///
/// # Errors
/// [`FileError`] when the file exists and may not be replaced, or when the disk refuses; the old content stands then, and
/// the temporary file is removed.
pub fn write_file(
    path: &Path,
    bytes: &[u8],
    if_exists: IfExists,
    durability: Durability,
) -> Result<(), FileError> {
    check_writable(path, if_exists)?;
    if if_exists == IfExists::Refuse {
        remove_left(path);
    }
    let temporary = temporary_name(path, if_exists);
    let written = write_new(&temporary, bytes, durability).and_then(|_held| match if_exists {
        IfExists::Replace => std::fs::rename(&temporary, path),
        // A hard link fails where a rename would silently replace a file made in the meantime.
        IfExists::Refuse | IfExists::Keep => std::fs::hard_link(&temporary, path).or_else(|error| {
            if error.kind() != io::ErrorKind::AlreadyExists {
                // File systems without hard links get the rename after the check above.
                std::fs::rename(&temporary, path)
            } else if if_exists == IfExists::Keep {
                Ok(())
            } else {
                Err(error)
            }
        }),
    });
    if written.is_err() || if_exists != IfExists::Replace {
        // After a rename it is gone already.
        std::fs::remove_file(&temporary).ok();
    }
    written.map_err(FileError::io("write", path))
}

/// [`write_file`] that replaces what is there and outlasts the process.
///
/// # Errors
/// [`FileError`]; the old content stands then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_file(path, bytes, IfExists::Replace, Durability::Buffered)
}

/// Checks before long work whether a file could be written at its end.
///
/// # Errors
/// [`FileError`] when the file exists and may not be replaced, is not a regular file, or its directory is missing.
pub fn check_writable(path: &Path, if_exists: IfExists) -> Result<(), FileError> {
    let refused = |kind, what: &str| {
        Err(FileError::io("write", path)(io::Error::new(
            kind,
            what.to_owned(),
        )))
    };
    if let Ok(found) = std::fs::metadata(path) {
        return match if_exists {
            _ if found.is_dir() => refused(io::ErrorKind::IsADirectory, "it is a directory"),
            IfExists::Refuse => refused(io::ErrorKind::AlreadyExists, "it is there already"),
            // Replacing a device or a pipe by a file would break it for everyone.
            IfExists::Replace | IfExists::Keep if !found.is_file() => Err(FileError::not_regular(path)),
            IfExists::Replace | IfExists::Keep => Ok(()),
        };
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => refused(io::ErrorKind::NotFound, "there is no such directory"),
        _ => Ok(()),
    }
}

/// What is replaced has one writer, whose lock the caller holds: its temporary file has one name, so that what a kill left
/// of it is written over. Where several processes may make the same file, each has a name of its own.
pub(crate) fn temporary_name(path: &Path, if_exists: IfExists) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    if if_exists != IfExists::Replace {
        name.push(format!(".{}", std::process::id()));
    }
    name.push(".part");
    path.with_file_name(name)
}

/// Removes what killed processes left of a file that is refused where it exists: temporary files that nobody holds.
fn remove_left(path: &Path) {
    let start = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    for left in list(parent.unwrap_or(Path::new("."))).unwrap_or_default() {
        let name = left.file_name().unwrap_or_default().to_string_lossy();
        let process = name
            .strip_prefix(&start)
            .and_then(|name| name.strip_suffix(".part"));
        let is_ours = process.is_some_and(|process| process.parse::<u32>().is_ok());
        if is_ours && open_regular(&left).is_ok_and(|file| file.try_lock().is_ok()) {
            std::fs::remove_file(&left).ok();
        }
    }
}

/// The file is held until it is dropped, so that another process does not take it for a dead one's.
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    let file = owner_alone(path)
        .create(true)
        .truncate(true)
        .write(true)
        .open(path)?;
    // Where the file system has no locks, nobody takes it for left either.
    file.try_lock().ok();
    Ok(file)
}

/// As [`new_file`], with its bytes.
pub(crate) fn write_new(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<File> {
    let mut file = new_file(path)?;
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.sync_all()?;
    }
    Ok(file)
}

/// Makes a directory, with those above it.
///
/// # Errors
/// [`FileError::Io`].
pub fn create_directory(directory: &Path) -> Result<(), FileError> {
    let failed = FileError::io("make the directory", directory);
    std::fs::create_dir_all(directory).map_err(|error| {
        // The system says of a file at this very path that it exists, of one above that it is not a directory.
        let is_file = error.kind() == io::ErrorKind::AlreadyExists;
        failed(if is_file {
            io::ErrorKind::NotADirectory.into()
        } else {
            error
        })
    })
}

/// Removes a file.
///
/// # Errors
/// [`FileError::Io`].
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(FileError::io("remove", path))
}

/// Removes a file, where there is one.
///
/// # Errors
/// [`FileError::Io`].
pub fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    if_found(remove_file(path))?;
    Ok(())
}

/// Gives a file another name on the same file system; what had that name is replaced.
///
/// # Errors
/// [`FileError::Io`].
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(FileError::io("write", to))
}

/// Removes a directory with all that it holds.
///
/// # Errors
/// [`FileError::Io`].
pub fn remove_directory(directory: &Path) -> Result<(), FileError> {
    std::fs::remove_dir_all(directory).map_err(FileError::io("remove", directory))
}

/// An empty directory among the system's temporary ones, removed with the value that is returned.
///
/// # Errors
/// [`FileError::Io`].
pub fn temporary_directory() -> Result<tempfile::TempDir, FileError> {
    tempfile::tempdir().map_err(FileError::io("make a directory in", &std::env::temp_dir()))
}

/// Makes a directory that only its owner may read, with those above it.
///
/// # Errors
/// [`FileError::Io`].
pub fn create_private(directory: &Path) -> Result<(), FileError> {
    create_directory(directory)?;
    restrict(directory).map_err(FileError::io("restrict", directory))
}

#[cfg(unix)]
fn restrict(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const OWNER_ALONE: u32 = 0o700;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(OWNER_ALONE))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Options that give a file below `private/` to its owner alone, wherever it is copied to later.
#[must_use]
pub fn owner_alone(path: &Path) -> OpenOptions {
    let mut options = OpenOptions::new();
    let is_private = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|folder| folder == "private");
    #[cfg(unix)]
    if is_private {
        use std::os::unix::fs::OpenOptionsExt;
        const OWNER_READS_AND_WRITES: u32 = 0o600;
        options.mode(OWNER_READS_AND_WRITES);
    }
    #[cfg(not(unix))]
    let _unused = is_private;
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_replaced_only_when_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let write = |bytes: &[u8], if_exists| write_file(&path, bytes, if_exists, Durability::Synced);
        write(b"one", IfExists::Refuse).unwrap();
        let refused = write(b"two", IfExists::Refuse).unwrap_err();
        assert!(refused.hint().contains("--force"), "{refused}");
        write(b"two", IfExists::Keep).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        write(b"two", IfExists::Replace).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let nowhere = directory.path().join("absent/out");
        let unwritten = write_whole(&nowhere, b"").unwrap_err();
        assert!(
            unwritten.hint().contains("directories are not made"),
            "{unwritten}"
        );
        assert_eq!(read_input(&nowhere).unwrap_err().hint(), "check the path");
    }

    #[test]
    fn a_full_disk_has_a_hint_of_its_own() {
        // Linux's always-full device stands for the disk.
        let full = Path::new("/dev/full");
        if full.exists() {
            let error = OpenOptions::new()
                .write(true)
                .open(full)
                .and_then(|mut file| file.write_all(b"x"))
                .unwrap_err();
            let fault = FileError::io("write", full)(error);
            assert!(fault.hint().contains("disk is full"), "{fault}");
        }
    }

    #[test]
    fn a_directory_is_listed_in_order_and_may_be_absent() {
        let directory = tempfile::tempdir().unwrap();
        let names = ["c", "a", "b"].map(|name| directory.path().join(name));
        for path in &names {
            write_whole(path, b"").unwrap();
        }
        let [last, first, second] = names;
        assert_eq!(list(directory.path()).unwrap(), [first, second, last]);
        let absent = directory.path().join("absent");
        assert!(list(&absent).is_err());
        assert_eq!(list_if_exists(&absent).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(read_if_exists(&absent).unwrap(), None);
        remove_if_exists(&absent).unwrap();
        assert!(remove_file(&absent).is_err());
        assert!(read_if_exists(directory.path()).is_err());
    }

    #[test]
    fn a_missing_directory_is_found_before_the_work() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("absent").join("out");
        assert!(check_writable(&path, IfExists::Refuse).is_err());
        assert!(check_writable(directory.path(), IfExists::Replace).is_err());
    }

    #[cfg(unix)]
    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the standard library makes no pipe with a name"
    )]
    fn only_regular_files_are_read_and_never_beyond_their_bound() {
        let directory = tempfile::tempdir().unwrap();
        let endless = directory.path().join("endless");
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        assert!(matches!(
            read_bounded(&endless, 10),
            Err(FileError::NotRegular { .. })
        ));
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert!(matches!(
            read_bounded(&pipe, 10),
            Err(FileError::NotRegular { .. })
        ));
        let large = directory.path().join("large");
        std::fs::write(&large, b"0123456789A").unwrap();
        assert!(matches!(
            read_bounded(&large, 10),
            Err(FileError::TooLarge { .. })
        ));
        assert_eq!(read_bounded(&large, 11).unwrap().len(), 11);
    }
}
