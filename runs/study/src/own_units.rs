//! Units whose record has a format of their kind's own: where they lie, and what the index keeps of them.

use crate::StudyError;
use crate::hands::{Given, Hands};
use crate::index::{RecordedUnit, UnitIndex};
use crate::kind::{Planned, StudyKind};
use crate::study::{Known, OpenedStudy};
use crate::unit_id::of_raw;
use crate::unit_lines::UnitLine;
use serde_json::value::RawValue;
use std::path::PathBuf;

impl<K: StudyKind> OpenedStudy<K> {
    /// Where such a unit lies, and the file that closes it.
    pub(crate) fn own_folder(&self, unit: &Planned<K::Unit>) -> Result<(PathBuf, PathBuf), StudyError> {
        let own = K::OWN.ok_or_else(|| StudyError::no_own_format(&self.out))?;
        let above = if unit.is_private {
            self.out.join("private")
        } else {
            self.out.clone()
        };
        let folder = above.join(own.folder).join(unit.id.as_str());
        let closed_by = folder.join(own.closed_by);
        Ok((folder, closed_by))
    }

    /// What such a unit came to, where it is closed.
    pub(crate) fn found_of_own(
        &self,
        unit: &Planned<K::Unit>,
        Known { index, refused, .. }: &mut Known,
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let (folder, closed_by) = self.own_folder(unit)?;
        let sha256 = self.decided.unit_sha256(&unit.unit)?;
        index.known_or(&unit.id, (&closed_by, &sha256), || {
            match K::finished(&self.world, &unit.unit, &folder) {
                Ok(found) => Ok(Some(self.recorded_unit(unit, &found)?)),
                Err(error) => {
                    refused.insert(unit.id.clone(), error);
                    Ok(None)
                }
            }
        })
    }

    /// Runs such a unit.
    pub(crate) async fn run_own(
        &self,
        unit: &Planned<K::Unit>,
        (progress, threads, before): Given<'_>,
    ) -> Result<K::Found, StudyError> {
        let hands = Hands {
            folder: Some(self.own_folder(unit)?.0),
            before,
            ..Hands::unrecorded(progress, threads)
        };
        Ok(self.run_with(unit, hands).await?.0)
    }

    /// Tells those who look on what a unit has just come to, while others run.
    pub(crate) fn keep_own(
        &self,
        (unit, line): (&Planned<K::Unit>, &UnitLine),
        found: &K::Found,
        index: &UnitIndex,
    ) -> Result<(), StudyError> {
        let closed_by = self.own_folder(unit)?.1;
        let recorded = self.recorded_unit(unit, found)?;
        index.keep(&unit.id, (&closed_by, &line.sha256), recorded)
    }

    /// Puts into the index what a unit came to that ran.
    pub(crate) fn close_own(
        &self,
        unit: &Planned<K::Unit>,
        Known { index, found, .. }: &mut Known,
    ) -> Result<(), StudyError> {
        let closed_by = self.own_folder(unit)?.1;
        let sha256 = self.decided.unit_sha256(&unit.unit)?;
        index.known_or(&unit.id, (&closed_by, &sha256), || {
            let found = found.get(&unit.id);
            let recorded = found.map(|found| self.recorded_unit(unit, &of_raw(&unit.id, found)?));
            recorded.transpose()
        })?;
        Ok(())
    }

    fn recorded_unit(&self, unit: &Planned<K::Unit>, found: &K::Found) -> Result<RecordedUnit, StudyError> {
        Ok(RecordedUnit {
            spent: K::spent(&unit.unit, found).cloned(),
            found: self.line(unit, found)?.found,
        })
    }
}
