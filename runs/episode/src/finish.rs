//! Closing a bundle: the summary, always recomputed from events and ledger on disk.

use super::EpisodeInput;
use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::{self, check_summary, read_summary};
use ktd_masking::MaskKey;
use ktd_record::exchanges::ExchangeStore;
use std::sync::{Mutex, PoisonError};

/// The summary of a finished bundle, checked against its files: what was changed since is no result.
pub(super) fn finished(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<Summary, EpisodeError> {
    let key = paths.ledger().exists().then_some(&input.key);
    check_summary(paths, &read_summary(paths)?, key)?;
    Ok(read_summary(paths)?)
}

/// Cells of a grid end together: each would hold what repetitions are looked for in, so that long ones are closed one by one.
static CLOSING: Mutex<()> = Mutex::new(());

/// Closes the record of an episode that has ended: its exchanges as one frame, then the summary.
pub(super) async fn close(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    store: Option<ExchangeStore>,
) -> Result<Summary, EpisodeError> {
    let is_long = store.as_ref().is_some_and(ExchangeStore::is_long);
    let (paths, key) = (paths.clone(), input.key.clone());
    let closing = move || {
        let _alone = is_long.then(|| CLOSING.lock().unwrap_or_else(PoisonError::into_inner));
        close_here(&paths, &key, store)
    };
    if !is_long {
        return closing();
    }
    // Whatever else runs on this thread would wait for seconds.
    let closed = tokio::task::spawn_blocking(closing).await;
    closed.unwrap_or_else(|_| {
        Err(EpisodeError::Panicked {
            cell: input.cell.id.clone(),
        })
    })
}

/// The same on this thread.
pub(super) fn close_here(
    paths: &BundlePaths,
    key: &MaskKey,
    store: Option<ExchangeStore>,
) -> Result<Summary, EpisodeError> {
    if let Some(store) = store {
        store.finish()?;
    }
    Ok(summary_file::write_summary(paths, key)?)
}
