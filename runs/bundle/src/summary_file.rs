//! `summary.json` and `private/summary.json`: read, recomputed from the other files, and compared with them.

use crate::BundlePaths;
use crate::FORMAT_VERSION;
use crate::bundle_ref::BundleRef;
use crate::episode_tariff::tariff_of_header;
use crate::event::publishes_account;
use crate::open::read_header;
use crate::recorded_files::RecordedFiles;
use crate::summary::{KEYED, PrivateSummary, Summary};
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, read_json, write_whole};
use ktd_masking::{Level, MaskKey};
use ktd_record::RecordError;
use ktd_record::spending::Spending;
use std::path::Path;

/// The summary as it is written, with the account of the private part where there is one.
///
/// # Errors
/// [`RecordError::Unfinished`] when there is none, and when it cannot be read.
pub fn read_summary(paths: &BundlePaths) -> Result<Summary, RecordError> {
    let path = paths.summary();
    if !path.exists() {
        return Err(RecordError::Unfinished { path });
    }
    let mut summary: Summary = read_json(&path)?;
    let private = paths.private_summary();
    if summary.account.is_none() && private.exists() {
        let PrivateSummary { account, .. } = read_json(&private)?;
        summary.account = Some(account);
    }
    Ok(summary)
}

/// Writes both summaries, the private one first: an episode has ended when the public one stands.
///
/// # Errors
/// [`RecordError`] when a file is missing or damaged, or a summary cannot be written.
pub fn write_summary(paths: &BundlePaths, key: &MaskKey) -> Result<Summary, RecordError> {
    let bundle = BundleRef::read(paths.root())?;
    let summary = RecordedFiles::read(&bundle, Some(key), &mut (), |_| Ok(()))?.summary(&bundle)?;
    let files = SummaryBytes::of(paths, &summary, bundle.header.mask.level)?;
    if let Some(private) = files.private {
        write_whole(&paths.private_summary(), &private)?;
    }
    write_whole(&paths.summary(), &files.public)?;
    Ok(summary)
}

/// Both summaries as they are written.
struct SummaryBytes {
    public: Vec<u8>,
    /// Absent where nothing private was read.
    private: Option<Vec<u8>>,
}

impl SummaryBytes {
    fn of(paths: &BundlePaths, summary: &Summary, level: Level) -> Result<Self, RecordError> {
        let mut public = summary.clone();
        let account = public.account.take();
        if publishes_account(level) {
            public.account.clone_from(&account);
        }
        let path = paths.private_summary();
        let private = account.map(|account| {
            let format = FORMAT_VERSION;
            json_bytes(&path, &PrivateSummary { format, account })
        });
        Ok(Self {
            public: json_bytes(&paths.summary(), &public)?,
            private: private.transpose()?,
        })
    }
}

/// Names the first file whose hash is not the recorded one.
///
/// # Errors
/// [`RecordError`] naming that file.
pub fn check_hashes(paths: &BundlePaths, recorded: &Summary, now: &Summary) -> Result<(), RecordError> {
    let differs = now
        .sha256
        .iter()
        .find(|(file, hash)| recorded.sha256.get(*file) != Some(hash));
    differs.map_or(Ok(()), |(file, _)| {
        let file = file.strip_suffix(KEYED).unwrap_or(file);
        let what = "its hash is not the one in summary.json";
        Err(RecordError::damaged(&paths.root().join(file), what))
    })
}

/// Recomputes the summary and names the first thing that differs.
///
/// # Errors
/// [`RecordError`] naming the file and place that differs.
pub fn check_summary(
    paths: &BundlePaths,
    recorded: &Summary,
    key: Option<&MaskKey>,
) -> Result<(), RecordError> {
    let now = summary_of(paths, key)?;
    check_hashes(paths, recorded, &now)?;
    let bytes = read_bounded(&paths.summary(), JSON_LIMIT_BYTES)?;
    let level = read_header(paths)?.mask.level;
    check_bytes(paths, (&bytes, recorded), now, (key, level))
}

/// Compares the summaries, the public one as its bytes stand, with what the other files give.
pub(crate) fn check_bytes(
    paths: &BundlePaths,
    (bytes, recorded): (&[u8], &Summary),
    mut now: Summary,
    (key, level): (Option<&MaskKey>, Level),
) -> Result<(), RecordError> {
    if key.is_none() {
        // Without the private part its hash cannot be recomputed and stands as it is.
        let private = recorded.sha256.iter().filter(|(file, _)| file.ends_with(KEYED));
        now.sha256
            .extend(private.map(|(file, hash)| (file.clone(), hash.clone())));
    }
    let expected = SummaryBytes::of(paths, &now, level)?;
    same(&paths.summary(), bytes, &expected.public)?;
    if let (Some(private), Some(_)) = (expected.private, key) {
        let path = paths.private_summary();
        if !path.exists() {
            return Err(RecordError::damaged(&path, "it is missing"));
        }
        same(&path, &read_bounded(&path, JSON_LIMIT_BYTES)?, &private)?;
    }
    Ok(())
}

/// Names the first line of a summary that differs from what the other files give.
fn same(path: &Path, bytes: &[u8], expected: &[u8]) -> Result<(), RecordError> {
    if bytes == expected {
        return Ok(());
    }
    let (bytes, expected) = (String::from_utf8_lossy(bytes), String::from_utf8_lossy(expected));
    let differs = bytes
        .lines()
        .zip(expected.lines())
        .enumerate()
        .find(|(_, (left, right))| left != right);
    let what = differs.map_or_else(
        || "it is longer or shorter than the other files give".to_owned(),
        |(line, (left, right))| {
            format!(
                "line {}: {:?}, but the other files give {:?}",
                line + 1,
                left.trim(),
                right.trim()
            )
        },
    );
    Err(RecordError::damaged(path, what))
}

/// The summary that a bundle's files give. Without the key the hash of the private ledger is left out, and so is the account
/// where it is private.
///
/// # Errors
/// [`RecordError`] when a file is missing or damaged, or the NAV is not one.
pub fn summary_of(paths: &BundlePaths, key: Option<&MaskKey>) -> Result<Summary, RecordError> {
    let bundle = BundleRef::read(paths.root())?;
    RecordedFiles::read(&bundle, key, &mut (), |_| Ok(()))?.summary(&bundle)
}

/// What a bundle's own sends cost so far, at the prices in its header.
///
/// # Errors
/// [`RecordError`] when header or exchanges cannot be read.
pub fn spending_of(paths: &BundlePaths) -> Result<Spending, RecordError> {
    let tariff = tariff_of_header(&read_header(paths)?);
    Spending::of(&paths.exchanges(), &tariff)
}
