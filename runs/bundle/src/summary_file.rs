//! `summary.json`: read, recomputed from the other files, and compared with them.

use crate::BundleError;
use crate::BundlePaths;
use crate::bundle_ref::BundleRef;
use crate::exchanges::Cassette;
use crate::open::read_header;
use crate::recorded_files::RecordedFiles;
use crate::spending::Spending;
use crate::summary::{KEYED, Summary};
use crate::tariff::Tariff;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, read_json};
use ktd_masking::MaskKey;

/// The summary as it is written.
///
/// # Errors
/// [`BundleError::Unfinished`] when there is none, and when it cannot be read.
pub fn read_summary(paths: &BundlePaths) -> Result<Summary, BundleError> {
    let path = paths.summary();
    if path.exists() {
        return Ok(read_json(&path)?);
    }
    Err(BundleError::Unfinished { path })
}

/// Names the first file whose hash is not the recorded one.
///
/// # Errors
/// [`BundleError`] naming that file.
pub fn check_hashes(paths: &BundlePaths, recorded: &Summary, now: &Summary) -> Result<(), BundleError> {
    let differs = now
        .sha256
        .iter()
        .find(|(file, hash)| recorded.sha256.get(*file) != Some(hash));
    differs.map_or(Ok(()), |(file, _)| {
        let file = file.strip_suffix(KEYED).unwrap_or(file);
        let what = "its hash is not the one in summary.json";
        Err(BundleError::damaged(&paths.root().join(file), what))
    })
}

/// Recomputes the summary and names the first thing that differs.
///
/// # Errors
/// [`BundleError`] naming the file and place that differs.
pub fn check_summary(
    paths: &BundlePaths,
    recorded: &Summary,
    key: Option<&MaskKey>,
) -> Result<(), BundleError> {
    let now = summary_of(paths, key)?;
    check_hashes(paths, recorded, &now)?;
    let bytes = read_bounded(&paths.summary(), JSON_LIMIT_BYTES)?;
    check_bytes(paths, (&bytes, recorded), now, key)
}

/// Compares a summary, as its bytes stand, with what the other files give.
pub(crate) fn check_bytes(
    paths: &BundlePaths,
    (bytes, recorded): (&[u8], &Summary),
    mut now: Summary,
    key: Option<&MaskKey>,
) -> Result<(), BundleError> {
    let path = paths.summary();
    if key.is_none() {
        // Without the private part its hash cannot be recomputed and stands as it is.
        let private = recorded.sha256.iter().filter(|(file, _)| file.ends_with(KEYED));
        now.sha256
            .extend(private.map(|(file, hash)| (file.clone(), hash.clone())));
    }
    let expected = json_bytes(&path, &now)?;
    if bytes == expected {
        return Ok(());
    }
    let (bytes, expected) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(&expected));
    let differs = bytes
        .lines()
        .zip(expected.lines())
        .enumerate()
        .find(|(_, (left, right))| left != right);
    let what = differs.map_or_else(
        || "it is longer or shorter than the events give".to_owned(),
        |(line, (left, right))| {
            format!(
                "line {}: {:?}, but the events give {:?}",
                line + 1,
                left.trim(),
                right.trim()
            )
        },
    );
    Err(BundleError::damaged(&path, what))
}

/// The summary that a bundle's files give. Without the key the hash of the private ledger is left out.
///
/// # Errors
/// [`BundleError`] when a file is missing or damaged, or the NAV is not one.
pub fn summary_of(paths: &BundlePaths, key: Option<&MaskKey>) -> Result<Summary, BundleError> {
    let bundle = BundleRef::read(paths.root())?;
    RecordedFiles::read(&bundle, key)?.summary(&bundle)
}

/// What a bundle's own sends cost so far, at the prices in its header.
///
/// # Errors
/// [`BundleError`] when header or exchanges cannot be read.
pub fn spending_of(paths: &BundlePaths) -> Result<Spending, BundleError> {
    let tariff = Tariff::of_header(&read_header(paths)?);
    Ok(Spending::of(&Cassette::read(&paths.exchanges())?, &tariff))
}
