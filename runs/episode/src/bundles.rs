//! Bundles as the records of a study's units.

use ktd_bundle::event::{COMPLETED, WITHDRAWN};
use ktd_bundle::log_tail::LogTail;
use ktd_bundle::open::read_header;
use ktd_bundle::summary_file::read_summary;
use ktd_bundle::{BundlePaths, CELLS};
use ktd_study::{EarlyUnitEnd, OwnFormat, RecordedUnit, StudyError};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::path::Path;

/// The format of a cell's record.
pub(crate) const BUNDLES: OwnFormat = OwnFormat {
    folder: CELLS,
    closed_by: "summary.json",
    found,
    made_over,
    has_private,
    steps_over,
    early_end,
    lost_steps,
};

/// What the summary of a closed bundle says, and what a model was paid for it.
fn found(bundle: &Path) -> Result<Option<RecordedUnit>, StudyError> {
    let paths = BundlePaths::new(bundle);
    if !paths.summary().exists() {
        return Ok(None);
    }
    let summary = read_summary(&paths)?;
    let is_builtin = read_header(&paths)?.agent.builtin_name().is_some();
    let found = to_raw_value(&summary)
        .map_err(|error| StudyError::invalid(format_args!("{}: {error}", paths.summary().display())))?;
    Ok(Some(RecordedUnit {
        found,
        spent: (!is_builtin).then_some(summary.money),
    }))
}

/// What an episode hangs on beside its study's keys, as its header says.
fn made_over(bundle: &Path) -> Option<Value> {
    let header = read_header(&BundlePaths::new(bundle)).ok()?;
    Some(json!({
        "panel_blake3": header.data.panel_blake3,
        "mask_commitment": header.mask.commitment,
        "prompts_sha256": header.prompts_sha256,
        "tools_sha256": header.tools_sha256,
        "rules": header.rules,
    }))
}

/// Whether anything of the private part is there: where only some of it is, the rest was taken away.
fn has_private(bundle: &Path) -> bool {
    let paths = BundlePaths::new(bundle);
    paths.episode().exists() || paths.ledger().exists()
}

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
