//! Studies in buckets as commands name them, `s3://BUCKET/NAME`: where their copies lie on this machine.

use super::runtime::runtime;
use crate::CliError;
use crate::output::Console;
use ktd_bucket::{BucketAddress, StudyCopy};
use ktd_client::cache_folder::cache_folder;
use ktd_study::UnitId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Commands that read a study, a unit or an episode wherever it lies.
const READERS: [&str; 11] = [
    "attribute",
    "diff",
    "export",
    "leaderboard",
    "publish",
    "reasons",
    "replay",
    "report",
    "status",
    "verify",
    "view",
];

/// The address that a path is; none of a folder.
///
/// # Errors
/// [`CliError`] for an address without a bucket or a name.
pub(super) fn address_of(path: &Path) -> Result<Option<BucketAddress>, CliError> {
    Ok(BucketAddress::find(&path.to_string_lossy())?)
}

/// The address that must be one.
///
/// # Errors
/// [`CliError`] for anything else.
pub(super) fn bucket_address(path: &Path) -> Result<BucketAddress, CliError> {
    address_of(path)?.ok_or_else(|| {
        CliError::input(
            format_args!("{}: no address of a bucket", path.display()),
            "write s3://BUCKET/NAME",
        )
    })
}

/// The folder of a copy on this machine.
///
/// # Errors
/// [`CliError`] where this user has no folder for what may be deleted.
pub(super) fn copy_folder(address: &BucketAddress, whose: &str) -> Result<PathBuf, CliError> {
    let cache = cache_folder().ok_or_else(|| {
        CliError::input(
            "there is no folder for copies of what lies in a bucket",
            "set KTD_CACHE to a folder of yours",
        )
    })?;
    Ok(address.copy_folder(&cache, whose))
}

/// This user's copy of a study to read, and whether the bucket has the study.
///
/// # Errors
/// [`CliError`] for a store that does not answer.
pub(super) fn read_copy(tasks: &Runtime, address: &BucketAddress) -> Result<(StudyCopy, bool), CliError> {
    let root = copy_folder(address, "read")?;
    Ok(tasks.block_on(StudyCopy::open(address, &root))?)
}

/// Arguments of a command, in which copies on this machine stand for what lies in buckets.
///
/// # Errors
/// [`CliError`] for an address at which no study lies, and a store that does not answer.
pub(super) fn with_copies(arguments: Vec<OsString>, console: Console) -> Result<Vec<OsString>, CliError> {
    let mut words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    let verb = words.find(|word| !word.starts_with('-'));
    if !verb.is_some_and(|verb| READERS.contains(&verb)) {
        return Ok(arguments);
    }
    let copied = |argument: OsString| match BucketAddress::find(&argument.to_string_lossy())? {
        Some(address) => Ok(taken(&address, console)?.into_os_string()),
        None => Ok(argument),
    };
    arguments.into_iter().map(copied).collect()
}

/// Takes what lies at an address, a study or something in it, to this machine; where it lies now.
fn taken(address: &BucketAddress, console: Console) -> Result<PathBuf, CliError> {
    let tasks = runtime()?;
    let mut study = Some(address.clone());
    while let Some(at) = study {
        let (copy, has_study) = read_copy(&tasks, &at)?;
        if has_study {
            let below = address.below(&at);
            let place = copy.root().join(&below);
            console.note(&format!("{}: read into {}", address.as_str(), place.display()));
            match below.file_name().and_then(|name| name.to_str()) {
                Some(unit) => tasks.block_on(copy.take_unit(&UnitId::from(unit.to_owned())))?,
                None => tasks.block_on(async {
                    copy.take_finished().await?;
                    copy.take_open().await
                })?,
            }
            return Ok(place);
        }
        study = at.parent();
    }
    Err(CliError::input(
        format_args!("{}: no study lies there", address.as_str()),
        "name what `ktd enqueue FILE --out s3://BUCKET/NAME` was given",
    ))
}
