//! The files of a submission's record: each is bound to the result, and there is no other.

use super::cell::{AGENT, HEADER, MESSAGES, RESULT, START};
use crate::error::StrategyError;
use ktd_asking::AskingError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{list, list_if_exists, read_if_exists};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was asked and answered, and by whom.
const ASKED: [&str; 6] = [
    HEADER,
    AGENT,
    START,
    MESSAGES,
    "spending.json",
    "exchanges.jsonl.zst",
];
/// The folder of programs and cards, one an iteration.
const VERSIONS: &str = "versions";
/// The folder of a writer's lock, which says nothing.
const PRIVATE: &str = "private";
const LOCK: &str = "lock";
const HINT: &str =
    "the record was changed; take the folder from whoever made it, or move it away and run again to ask anew";

/// SHA-256 of a record's files, by their place in its folder.
pub(super) type FileDigests = BTreeMap<String, String>;

/// A file that is made of a record, and its bytes.
pub(super) type MadeFile = (PathBuf, Vec<u8>);

/// Digests of what was asked, as the folder holds it, and of what is made of it.
pub(super) fn digests_of(folder: &Path, made: &[MadeFile]) -> Result<FileDigests, StrategyError> {
    let mut digests: FileDigests = made
        .iter()
        .map(|(path, bytes)| (name_in(folder, path), sha256_hex(bytes)))
        .collect();
    for name in ASKED {
        if let Some(bytes) = read_if_exists(&folder.join(name))? {
            digests.insert(name.to_owned(), sha256_hex(&bytes));
        }
    }
    Ok(digests)
}

/// Compares every file of a folder with what its result says of it.
pub(super) fn check_record(folder: &Path, recorded: &FileDigests) -> Result<(), StrategyError> {
    let mut missing = recorded.clone();
    for path in files_of(folder)? {
        let name = name_in(folder, &path);
        let Some(digest) = missing.remove(&name) else {
            return Err(difference(&path, "the record has no such file"));
        };
        let bytes = read_if_exists(&path)?.unwrap_or_default();
        if sha256_hex(&bytes) != digest {
            return Err(difference(
                &path,
                "it differs from the file that the result names",
            ));
        }
    }
    missing.keys().next().map_or(Ok(()), |name| {
        Err(difference(&folder.join(name), "the file is missing"))
    })
}

/// The files of a folder but the result and the lock.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, StrategyError> {
    let mut files = list(folder)?;
    files.retain(|path| {
        ![RESULT, VERSIONS, PRIVATE]
            .iter()
            .any(|name| path.ends_with(name))
    });
    for version in list_if_exists(&folder.join(VERSIONS))? {
        files.extend(list(&version)?);
    }
    let locks = list_if_exists(&folder.join(PRIVATE))?.into_iter();
    files.extend(locks.filter(|path| !path.ends_with(LOCK)));
    Ok(files)
}

/// The place of a file in a folder, with `/` on every system.
fn name_in(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).iter();
    parts
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join("/")
}

pub(super) fn difference(path: &Path, what: &str) -> StrategyError {
    StrategyError::Asking(AskingError::Difference {
        what: format!("{}: {what}", path.display()),
        hint: HINT,
    })
}
