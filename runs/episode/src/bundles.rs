//! Bundles as the records of a study's units.

use ktd_bundle::event::{COMPLETED, WITHDRAWN};
use ktd_bundle::log_tail::LogTail;
use ktd_bundle::{BundlePaths, CELLS};
use ktd_study::{EarlyUnitEnd, OwnFormat};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// The format of a cell's record.
pub(crate) const BUNDLES: OwnFormat = OwnFormat {
    folder: CELLS,
    closed_by: "summary.json",
    steps_over,
    early_end,
    lost_steps,
};

/// Steps whose close an open bundle has recorded.
fn steps_over(bundle: &Path) -> u64 {
    let tail = LogTail::read(&BundlePaths::new(bundle).events());
    tail.map_or(0, |tail| u64::try_from(tail.closed_step).unwrap_or(u64::MAX))
}

/// Steps of an episode that were lost to the infrastructure, as its summary says.
fn lost_steps(found: &RawValue) -> u64 {
    #[derive(Deserialize)]
    struct Uncovered {
        uncovered: u64,
    }
    #[derive(Deserialize)]
    struct CountersOf {
        counters: Uncovered,
    }
    serde_json::from_str(found.get()).map_or(0, |of: CountersOf| of.counters.uncovered)
}

/// Where an episode ended that was not played to its last step, as its summary says.
fn early_end(found: &RawValue) -> Option<EarlyUnitEnd> {
    #[derive(Deserialize)]
    struct Days {
        days: u64,
    }
    #[derive(Deserialize)]
    struct EndOf {
        reason: String,
        metrics: Days,
    }
    let end: EndOf = serde_json::from_str(found.get()).ok()?;
    let why = match end.reason.as_str() {
        COMPLETED => return None,
        WITHDRAWN => WITHDRAWN,
        // A rule of `stop_after` did, whichever.
        _ => "stopped",
    };
    Some(EarlyUnitEnd {
        steps: end.metrics.days,
        why: why.to_owned(),
    })
}
