//! What lies where units leave their records, and no unit of the study names: left by a file that asked for more, moved out of the way,
//! or put there by a stranger. It counts for nothing, and is told so that nobody takes it for a record.

use crate::identity::STUDY;
use crate::kind::{Keep, StudyKind};
use crate::own_format::OwnFormat;
use crate::plan_lines::read_plan;
use crate::study::OpenedStudy;
use crate::unit_folder::UNITS;
use crate::unit_id::some_names;
use crate::unit_lines::UnitLines;
use crate::{StudyError, UnitId};
use ktd_io::FileError;
use ktd_io::whole_file::list_if_exists;
use ktd_view::draw::visible;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

impl<K: StudyKind> OpenedStudy<K> {
    /// What no unit names, each by its place in the folder of the study.
    pub(crate) fn unnamed_records(&self, lines: &UnitLines) -> Result<Vec<String>, StudyError> {
        let mut named = BTreeSet::new();
        for unit in &self.plan {
            match unit.keep {
                Keep::Line => {}
                Keep::Folder => {
                    named.insert(self.out.join(UNITS).join(unit.id.as_str()));
                }
                Keep::Own => {
                    named.insert(self.own_folder(unit)?.0);
                }
            }
        }
        let mut unnamed = Vec::new();
        let own = K::OWN.map(|own| own.folders(&self.out));
        for folder in own.into_iter().flatten().chain([self.out.join(UNITS)]) {
            let found = list_if_exists(&folder)?;
            let found = found.iter().filter(|path| !named.contains(*path));
            let place = |path: &PathBuf| path.strip_prefix(&self.out).unwrap_or(path).display().to_string();
            unnamed.extend(found.map(place));
        }
        let asked: BTreeSet<&UnitId> = self.plan.iter().map(|unit| &unit.id).collect();
        let beside = lines.all().filter(|line| !asked.contains(&line.id));
        unnamed.extend(beside.map(|line| format!("units.jsonl ({})", line.id)));
        Ok(unnamed)
    }
}

/// What is to be known of records that no unit of their study names.
#[must_use]
pub fn told_unnamed(unnamed: &[String]) -> Option<String> {
    let names: Vec<_> = unnamed.iter().map(|name| visible(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: named by no unit of the study, so that it was not checked and nothing in the report counts it",
            some_names(&names)
        )
    })
}

/// Units that plans name, of studies in whose folders records lie. Each plan is read once.
#[derive(Debug)]
pub struct NamedUnits {
    own: OwnFormat,
    of: BTreeMap<PathBuf, BTreeSet<UnitId>>,
}

impl NamedUnits {
    /// Those of studies whose records have this format.
    #[must_use]
    pub const fn of(own: OwnFormat) -> Self {
        Self {
            own,
            of: BTreeMap::new(),
        }
    }

    /// Whether the record in a folder, which says that it is of the unit `id`, is of a unit that the study names in whose folder it lies,
    /// and lies where that unit's does; so is what lies in no study.
    ///
    /// # Errors
    /// [`StudyError`] for a study without a plan.
    pub fn has(&mut self, record: &Path, id: &str) -> Result<bool, StudyError> {
        let record = std::path::absolute(record).map_err(FileError::io("find", record))?;
        let Some(study) = record.ancestors().find(|above| above.join(STUDY).exists()) else {
            return Ok(true);
        };
        if !self.of.contains_key(study) {
            let plan = read_plan(study)?.into_iter().map(|unit| unit.id);
            self.of.insert(study.to_owned(), plan.collect());
        }
        let unit = UnitId::from(id.to_owned());
        let is_named = self.of.get(study).is_some_and(|named| named.contains(&unit));
        Ok(is_named && self.own.places(study, &unit).contains(&record))
    }
}
