//! What a row may be made of: one agent under one name, each seed once, on one set of days.

use crate::BoardError;
use ktd_bundle::bundle_ref::{BundleRef, check_episodes};
use ktd_env::DayIndex;
use std::collections::BTreeMap;

/// Refuses episodes that would be counted as what they are not.
///
/// # Errors
/// [`BoardError::Input`] when two are the same seed of the same cell, when one name stands for two agents, and when one
/// window's name stands for different days.
pub(super) fn check(shown: &[(&BundleRef, &[DayIndex])]) -> Result<(), BoardError> {
    check_episodes(shown.iter().map(|(bundle, _)| *bundle))?;
    let mut windows: BTreeMap<&str, (&BundleRef, &[DayIndex])> = BTreeMap::new();
    for (bundle, days) in shown {
        let header = &bundle.header;
        let (known, theirs) = windows.entry(&header.window.id).or_insert((bundle, days));
        if theirs != days {
            let what = format!(
                "window {:?} is not the same days in {} and {}",
                header.window.id,
                known.root.display(),
                bundle.root.display()
            );
            return Err(BoardError::input(
                what,
                "give windows of other days other ids, or name one of the two experiments",
            ));
        }
    }
    Ok(())
}
