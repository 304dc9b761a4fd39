//! Copies of strategies of one's own beside the submissions that were judged by them.

use super::record_files::FileDigests;
use crate::error::StrategyError;
use crate::own_strategy::OwnStrategy;
use crate::strategy_id::StrategyId;
use crate::strategy_source::StrategySource;
use ktd_asking::AskingError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, list_if_exists, read_if_exists, remove_file, write_whole};
use ktd_strategy_code::DocumentId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const STRATEGIES: &str = "strategies";
/// The file that is written last, so that a copy with it is whole.
const LAST: &str = "spec.json";
const HINT: &str =
    "take the file from whoever made the record, or move the results away and run again to ask anew";

/// Where the copy of a strategy lies.
fn copy_of(root: &Path, id: &str) -> PathBuf {
    root.join(STRATEGIES).join(id)
}

/// SHA-256 of a strategy's files, by their names.
pub(super) fn digests(own: &OwnStrategy) -> FileDigests {
    let files = own.files().into_iter();
    files
        .map(|(name, bytes)| (name.to_owned(), sha256_hex(bytes)))
        .collect()
}

/// Whether results keep a copy of a strategy: an earlier run was about it.
///
/// # Errors
/// [`StrategyError`] naming the file that is another one now.
pub(super) fn has_copy(root: &Path, own: &OwnStrategy) -> Result<bool, StrategyError> {
    let folder = copy_of(root, own.id.label());
    if read_if_exists(&folder.join(LAST))?.is_none() {
        return Ok(false);
    }
    let (kept, now) = (read_digests(&folder)?, digests(own));
    let mut names = kept.keys().chain(now.keys());
    match names.find(|name| kept.get(*name) != now.get(*name)) {
        None => Ok(true),
        Some(name) => Err(StrategyError::input(
            format_args!(
                "{}: not the file of the recorded answers, whose copy is in {}",
                own.folder().join(name).display(),
                folder.display()
            ),
            "choose another directory with --out, or put the file back as it was",
        )),
    }
}

/// Keeps a copy of a strategy's files among the results.
pub(super) fn keep_copy(root: &Path, own: &OwnStrategy) -> Result<(), StrategyError> {
    if has_copy(root, own)? {
        return Ok(());
    }
    let folder = copy_of(root, own.id.label());
    // What a run left that was ended here.
    for path in list_if_exists(&folder)? {
        remove_file(&path)?;
    }
    create_directory(&folder)?;
    for (name, bytes) in own.files() {
        write_whole(&folder.join(name), bytes)?;
    }
    Ok(())
}

fn read_digests(folder: &Path) -> Result<FileDigests, StrategyError> {
    let mut found = BTreeMap::new();
    for path in list_if_exists(folder)? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = read_if_exists(&path)?.unwrap_or_default();
        found.insert(name, sha256_hex(&bytes));
    }
    Ok(found)
}

/// A strategy that results were judged by: of the benchmark, or as its copy among them has it.
pub(super) fn recorded_strategy(root: &Path, id: &str) -> Result<StrategySource, StrategyError> {
    if let Some(id) = DocumentId::parse(id) {
        return Ok(StrategySource::BuiltIn(id));
    }
    // A record is foreign: only what is a word names a folder in it.
    let wanted = StrategyId::own(id).map_err(StrategyError::invalid)?;
    let folder = copy_of(root, wanted.label());
    let own = OwnStrategy::read(&folder)?;
    if own.id == wanted {
        return Ok(StrategySource::Own(Box::new(own)));
    }
    Err(StrategyError::damaged(
        &folder.join(LAST),
        format!("`strategy_id` is not {id:?}"),
    ))
}

/// Compares the copies among results with the digests that submissions name, and refuses any other file.
pub(super) fn check_copies(
    root: &Path,
    recorded: &BTreeMap<String, FileDigests>,
) -> Result<(), StrategyError> {
    for (id, digests) in recorded {
        let folder = copy_of(root, id);
        let found = read_digests(&folder)?;
        let names: BTreeSet<&String> = digests.keys().chain(found.keys()).collect();
        for name in names {
            let what = match (digests.get(name), found.get(name)) {
                (Some(recorded), Some(found)) if recorded == found => continue,
                (Some(_), Some(_)) => "it differs from the file that submissions were judged by",
                (Some(_), None) => "the file is missing",
                (None, _) => "the record has no such file",
            };
            return Err(difference(&folder.join(name), what));
        }
    }
    for path in list_if_exists(&root.join(STRATEGIES))? {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !recorded.contains_key(&name) {
            return Err(difference_with(
                &path,
                "no submission was judged by it",
                "remove it: it is no part of the record",
            ));
        }
    }
    Ok(())
}

/// A copy whose files are not those that a submission names.
pub(super) fn other_files(root: &Path, id: &str) -> StrategyError {
    difference(
        &copy_of(root, id),
        "its files are not those that the submission was judged by",
    )
}

pub(super) fn difference(path: &Path, what: &str) -> StrategyError {
    difference_with(path, what, HINT)
}

fn difference_with(path: &Path, what: &str, hint: &'static str) -> StrategyError {
    StrategyError::Asking(AskingError::Difference {
        what: format!("{}: {what}", path.display()),
        hint,
    })
}
