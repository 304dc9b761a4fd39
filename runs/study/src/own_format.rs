//! Records in a format of a kind's own, as far as a study has to know them.

use crate::UnitId;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// Format of a kind's own: a folder a unit.
#[derive(Debug, Clone, Copy)]
pub struct OwnFormat {
    /// Where the folders of units lie in that of the study.
    pub folder: &'static str,
    /// The file that closes a record, written last.
    pub closed_by: &'static str,
    /// Steps of the open record in a folder that are over, as far as it says.
    pub steps_over: fn(&Path) -> u64,
    /// Where a unit ended that has not come to its last step; none where it has.
    pub early_end: fn(&RawValue) -> Option<EarlyUnitEnd>,
    /// Steps of a finished unit that were lost to the infrastructure.
    pub lost_steps: fn(&RawValue) -> u64,
}

impl OwnFormat {
    /// Where the record of a unit may lie in the folder of a study.
    pub(crate) fn places(&self, study: &Path, unit: &UnitId) -> [PathBuf; 2] {
        [study.to_owned(), study.join("private")].map(|above| above.join(self.folder).join(unit.as_str()))
    }

    /// Whether the record of a unit is there and closed.
    pub(crate) fn is_closed(&self, study: &Path, unit: &UnitId) -> bool {
        let places = self.places(study, unit);
        places.iter().any(|place| place.join(self.closed_by).is_file())
    }
}

/// End of a unit before its last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyUnitEnd {
    /// Steps before it.
    pub steps: u64,
    /// Why nobody plays the rest, in a word, such as `withdrawn`.
    pub why: String,
}
