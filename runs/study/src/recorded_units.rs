//! What a study's folder knows of the units of its plan, read without its lock: another process may be writing it.

use crate::index::{UnitIndex, read_result, state};
use crate::kind::Keep;
use crate::own_format::{OwnFormat, RecordedUnit};
use crate::plan_lines::{PlanLine, read_plan};
use crate::unit_folder::{RESULT, UNITS, UnitFolder};
use crate::unit_lines::UnitLines;
use crate::{StudyError, UnitId};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How far a unit is.
pub(crate) enum UnitState {
    /// It has a result.
    Finished(RecordedUnit),
    /// It was begun: what it was asked and answered lies in its folder.
    Open(PathBuf),
    /// Nothing of it is recorded.
    NotBegun,
}

/// The units of a plan in its order, with how far each is.
pub(crate) struct RecordedUnits(pub(crate) Vec<(PlanLine, UnitState)>);

impl RecordedUnits {
    /// The units of a folder, of which those in a format of the kind's own are read as `own` says: without it nothing is known of them.
    /// Each is taken from its own record.
    pub(crate) fn read(folder: &Path, own: Option<OwnFormat>) -> Result<Self, StudyError> {
        Self::read_beside(folder, own, &mut ClosedRecords::default())
    }

    /// The same for who looks again: records that were closed before, and are as they were, are not read anew.
    pub(crate) fn read_beside(
        folder: &Path,
        own: Option<OwnFormat>,
        closed: &mut ClosedRecords,
    ) -> Result<Self, StudyError> {
        let lines = UnitLines::look(folder)?;
        let mut units = Vec::new();
        for unit in read_plan(folder)? {
            let root = folder.join(UNITS).join(unit.id.as_str());
            let state = match (unit.keep, own) {
                (Keep::Line, _) => lines.known(&unit.id, &unit.sha256).map(|line| RecordedUnit {
                    found: line.found.clone(),
                    spent: None,
                }),
                (Keep::Folder, _) => {
                    let result = read_result(&root.join(RESULT))?;
                    let own = result.filter(|(sha256, _)| *sha256 == unit.sha256);
                    own.map(|(_, recorded)| recorded)
                }
                (Keep::Own, Some(own)) => closed.read(own, folder, &unit.id)?,
                (Keep::Own, None) => None,
            };
            let state = match state {
                Some(finished) => UnitState::Finished(finished),
                None if unit.keep == Keep::Folder && root.is_dir() => UnitState::Open(root),
                None => UnitState::NotBegun,
            };
            units.push((unit, state));
        }
        Ok(Self(units))
    }

    /// What the finished units came to.
    pub(crate) fn found(&self) -> BTreeMap<UnitId, Box<RawValue>> {
        let finished = self.0.iter().filter_map(|(unit, state)| match state {
            UnitState::Finished(recorded) => Some((unit.id.clone(), recorded.found.clone())),
            UnitState::Open(_) | UnitState::NotBegun => None,
        });
        finished.collect()
    }

    /// Compares every file of finished units that have a folder with what their results say of it.
    ///
    /// # Errors
    /// [`StudyError`] naming the first file that was changed.
    pub(crate) fn check_files(&self, folder: &Path) -> Result<(), StudyError> {
        for (unit, state) in &self.0 {
            if unit.keep == Keep::Folder && matches!(state, UnitState::Finished(_)) {
                UnitFolder::found_in::<IgnoredAny>(&folder.join(UNITS).join(unit.id.as_str()))?;
            }
        }
        Ok(())
    }

    /// The first result of a unit that says something else than it came to when it ended, as far as the index knows.
    pub(crate) fn changed_result(&self, folder: &Path) -> Option<PathBuf> {
        let index = UnitIndex::read(folder);
        let changed = self.0.iter().find(|(unit, state)| match state {
            UnitState::Finished(recorded) => unit.keep == Keep::Folder && index.denies(unit, &recorded.found),
            UnitState::Open(_) | UnitState::NotBegun => false,
        });
        changed.map(|(unit, _)| folder.join(UNITS).join(unit.id.as_str()).join(RESULT))
    }

    /// The units that have no result.
    pub(crate) fn missing(&self) -> Vec<UnitId> {
        let missing = self
            .0
            .iter()
            .filter(|(_, state)| !matches!(state, UnitState::Finished(_)));
        missing.map(|(unit, _)| unit.id.clone()).collect()
    }
}

/// Records in a format of a kind's own that were closed when somebody looked, each with the length and time of its closing file then.
#[derive(Debug, Default)]
pub(crate) struct ClosedRecords(BTreeMap<UnitId, ((u64, u64), RecordedUnit)>);

impl ClosedRecords {
    /// What a unit came to, where it is closed. A study never goes on over records of other settings, so that one which lies there is
    /// the plan's; whether it is as it was written, a replay compares.
    fn read(
        &mut self,
        own: OwnFormat,
        study: &Path,
        unit: &UnitId,
    ) -> Result<Option<RecordedUnit>, StudyError> {
        for place in own.places(study, unit) {
            let Some(now) = state(&place.join(own.closed_by)) else {
                continue;
            };
            if let Some((_, known)) = self.0.get(unit).filter(|(then, _)| *then == now) {
                return Ok(Some(known.clone()));
            }
            if let Some(recorded) = (own.found)(&place)? {
                self.0.insert(unit.clone(), (now, recorded.clone()));
                return Ok(Some(recorded));
            }
        }
        Ok(None)
    }
}
