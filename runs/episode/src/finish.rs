//! Closing a bundle: the summary, always recomputed from the events on disk.

use super::EpisodeInput;
use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::{check_summary, read_summary, summary_of};
use ktd_io::whole_file::{json_bytes, write_whole};

/// The summary of a finished bundle, checked against its files: what was changed since is no result.
pub(super) fn finished(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<Summary, EpisodeError> {
    let key = paths.ledger().exists().then_some(&input.key);
    check_summary(paths, &read_summary(paths)?, key)?;
    Ok(read_summary(paths)?)
}

/// Writes `summary.json`.
pub(super) fn write_summary(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<Summary, EpisodeError> {
    let summary = summary_of(paths, Some(&input.key))?;
    write_whole(&paths.summary(), &json_bytes(&paths.summary(), &summary)?)?;
    Ok(summary)
}
