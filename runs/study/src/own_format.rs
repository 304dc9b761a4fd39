//! Records in a format of a kind's own, as far as a study has to know them.

use crate::{StudyError, UnitId};
use ktd_record::spending::Spending;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// Format of a kind's own: a folder a unit.
#[derive(Debug, Clone, Copy)]
pub struct OwnFormat {
    /// Where the folders of units lie in that of the study.
    pub folder: &'static str,
    /// The file that closes a record, written last.
    pub closed_by: &'static str,
    /// What the record in a folder came to, read from what closes it; none of one that is open.
    pub found: fn(&Path) -> Result<Option<RecordedUnit>, StudyError>,
    /// What the record in a folder was made over, as it says itself: hashes of what no study keeps, such as panels. None where it says nothing.
    pub made_over: fn(&Path) -> Option<Value>,
    /// Whether the record in a folder has the private part that it is made again from.
    pub has_private: fn(&Path) -> bool,
    /// Steps of the open record in a folder that are over, as far as it says.
    pub steps_over: fn(&Path) -> u64,
    /// Where a unit ended that has not come to its last step; none where it has.
    pub early_end: fn(&RawValue) -> Option<EarlyUnitEnd>,
    /// Steps of a finished unit that were lost to the infrastructure.
    pub lost_steps: fn(&RawValue) -> u64,
}

impl OwnFormat {
    /// Where the record of a unit may lie: in the study's folder, or in what is its owner's.
    pub(crate) fn places(&self, study: &Path, unit: &UnitId) -> [PathBuf; 2] {
        self.folders(study).map(|above| above.join(unit.as_str()))
    }

    /// Whether the record of a unit lies there without its private part.
    pub(crate) fn lacks_private(&self, study: &Path, unit: &UnitId) -> bool {
        let places = self.places(study, unit);
        let place = places.iter().find(|place| place.exists());
        place.is_some_and(|place| !(self.has_private)(place))
    }

    /// The folders in which the records of all units lie.
    pub(crate) fn folders(&self, study: &Path) -> [PathBuf; 2] {
        [study.to_owned(), study.join("private")].map(|above| above.join(self.folder))
    }
}

/// A finished unit.
#[derive(Debug, Clone)]
pub struct RecordedUnit {
    /// What it came to.
    pub found: Box<RawValue>,
    /// What it cost; none where it asked nobody.
    pub spent: Option<Spending>,
}

/// End of a unit before its last step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlyUnitEnd {
    /// Steps before it.
    pub steps: u64,
    /// Why nobody plays the rest, in a word, such as `withdrawn`.
    pub why: String,
}
