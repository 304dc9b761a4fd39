//! Units whose record has a format of their kind's own: where they lie, and what the index keeps of them.

use crate::StudyError;
use crate::hands::{Given, Hands};
use crate::index::UnitIndex;
use crate::kind::{Planned, StudyKind};
use crate::study::{Known, OpenedStudy};
use crate::unit_lines::UnitLine;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

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
        let look = || self.look_at_own(&folder);
        index.known_or(&unit.id, (&closed_by, &sha256), look, || {
            match K::finished(&self.world, &unit.unit, &folder) {
                Ok(found) => Ok(Some(self.line(unit, &found)?.found)),
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
        index: &UnitIndex,
    ) -> Result<(), StudyError> {
        let closed_by = self.own_folder(unit)?.1;
        index.keep(&unit.id, (&closed_by, &line.sha256), &line.found)
    }

    /// Puts into the index what a unit came to that ran.
    pub(crate) fn close_own(
        &self,
        unit: &Planned<K::Unit>,
        Known { index, found, .. }: &mut Known,
    ) -> Result<(), StudyError> {
        let (folder, closed_by) = self.own_folder(unit)?;
        let sha256 = self.decided.unit_sha256(&unit.unit)?;
        let look = || self.look_at_own(&folder);
        index.known_or(&unit.id, (&closed_by, &sha256), look, || {
            Ok(found.get(&unit.id).cloned())
        })?;
        Ok(())
    }

    /// What the record in a folder says that it came to.
    fn look_at_own(&self, folder: &Path) -> Result<Option<Box<RawValue>>, StudyError> {
        let own = K::OWN.ok_or_else(|| StudyError::no_own_format(&self.out))?;
        Ok((own.found)(folder)?.map(|unit| unit.found))
    }
}
