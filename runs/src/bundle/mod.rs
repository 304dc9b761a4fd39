//! The run bundle: one directory an episode, written as it goes, safe to kill at any byte.
//!
//! | file | holds | who may see it |
//! |---|---|---|
//! | `header.json` | format, code, configuration, hashes, mask commitment, model, seed | anyone |
//! | `events.jsonl` | what happened, in what the model may see, hash-chained | anyone |
//! | `exchanges.jsonl.zst` | every request before it is sent, and what came back | anyone |
//! | `summary.json` | metrics and counters, recomputable from the events, and the hashes of the other files | anyone |
//! | `private/episode.json` | mask key and real dates | the owner |
//! | `private/ledger.jsonl` | the exact account, fills and marks with real codes | the owner |

pub mod chain;
pub(crate) mod conversation;
pub mod event;
pub mod exchanges;
pub mod header;
pub mod ledger;
pub mod open;
pub mod summary;
pub mod transcript;
pub mod verify;

use crate::error::RunError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of everything in a bundle. A reader takes its own version alone.
pub const FORMAT_VERSION: u32 = 2;

/// The paths of one bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePaths {
    root: PathBuf,
}

impl BundlePaths {
    /// The bundle in a directory.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `header.json`.
    #[must_use]
    pub fn header(&self) -> PathBuf {
        self.root.join("header.json")
    }

    /// `events.jsonl`.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// `exchanges.jsonl.zst`.
    #[must_use]
    pub fn exchanges(&self) -> PathBuf {
        self.root.join("exchanges.jsonl.zst")
    }

    /// `summary.json`.
    #[must_use]
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// `private/`.
    #[must_use]
    pub fn private(&self) -> PathBuf {
        self.root.join("private")
    }

    /// `private/episode.json`.
    #[must_use]
    pub fn episode(&self) -> PathBuf {
        self.private().join("episode.json")
    }

    /// `private/ledger.jsonl`.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.private().join("ledger.jsonl")
    }

    /// `private/lock`: held by the one process that writes the bundle.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.private().join("lock")
    }

    /// Makes the directories.
    ///
    /// # Errors
    /// [`RunError::Io`].
    pub fn create(&self) -> Result<(), RunError> {
        create_private(&self.private())
    }
}

/// Makes a directory that only its owner may read, with those above it.
///
/// # Errors
/// [`RunError::Io`].
pub fn create_private(directory: &Path) -> Result<(), RunError> {
    std::fs::create_dir_all(directory).map_err(RunError::io("make the directory", directory))?;
    restrict(directory).map_err(RunError::io("restrict", directory))
}

#[cfg(unix)]
fn restrict(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    const OWNER_ALONE: u32 = 0o700;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(OWNER_ALONE))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Reads a JSON file.
///
/// # Errors
/// [`RunError::Io`], or [`RunError::Damaged`] when it is not what it must be.
pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let bytes = std::fs::read(path).map_err(RunError::io("read", path))?;
    serde_json::from_slice(&bytes).map_err(|error| RunError::damaged(path, error.to_string()))
}

/// The bytes of a JSON file: indented, one final line end.
///
/// # Errors
/// [`RunError::Damaged`] when the value cannot be JSON.
pub fn json_bytes(path: &Path, value: &impl serde::Serialize) -> Result<Vec<u8>, RunError> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|error| RunError::damaged(path, error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a file whole: to a temporary name, then renamed.
///
/// # Errors
/// [`RunError::Io`]; the old content stands then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let temporary = path.with_extension("writing");
    write_new(&temporary, bytes)?;
    std::fs::rename(&temporary, path).map_err(RunError::io("write", path))
}

/// Writes a file whole unless there is one already, which then stands: whoever comes second reads the first's.
///
/// # Errors
/// [`RunError::Io`].
pub fn write_first(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let temporary = path.with_extension(format!("{}.writing", std::process::id()));
    write_new(&temporary, bytes)?;
    let kept = match std::fs::hard_link(&temporary, path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        // Not every file system has hard links.
        Err(_) => std::fs::rename(&temporary, path),
        Ok(()) => Ok(()),
    };
    // After a rename it is gone already.
    std::fs::remove_file(&temporary).ok();
    kept.map_err(RunError::io("write", path))
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let open = owner_alone(path)
        .create(true)
        .truncate(true)
        .write(true)
        .open(path);
    open.and_then(|mut file| file.write_all(bytes))
        .map_err(RunError::io("write", path))
}

/// Options that give a file below `private/` to its owner alone, wherever it is copied to later.
pub(crate) fn owner_alone(path: &Path) -> OpenOptions {
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

/// Held by the one process that writes a bundle; the system drops it with the process, however that ends.
#[derive(Debug)]
pub struct BundleLock(#[expect(dead_code, reason = "held, not read")] File);

impl BundleLock {
    /// Takes the lock of a bundle, before anything of it is read.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process holds it, [`RunError::Io`] when there can be no lock.
    pub fn take(paths: &BundlePaths) -> Result<Self, RunError> {
        Self::take_file(&paths.lock(), paths.root())
    }

    /// Takes a lock whose file is `path`, before anything below `root` is read.
    ///
    /// # Errors
    /// [`RunError::Busy`] when another process holds it, [`RunError::Io`] when there can be no lock.
    pub fn take_file(path: &Path, root: &Path) -> Result<Self, RunError> {
        let file = owner_alone(path)
            .create(true)
            .append(true)
            .open(path)
            .map_err(RunError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(RunError::Busy {
                path: root.to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(RunError::io("lock", path)(error)),
        }
    }
}
