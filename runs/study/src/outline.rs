//! A study of any kind as whoever shows it needs it: its units, how far each is, and what it came to.

use crate::identity::{STUDY, StudyHeader};
use crate::index::UnitIndex;
use crate::recorded_units::{RecordedUnits, UnitState};
use crate::report_files::SUMMARY;
use crate::unit_folder::UNITS;
use crate::{Keep, StudyError, UnitId};
use ktd_io::whole_file::read_json;
use ktd_record::spending::Spending;
use serde::de::IgnoredAny;
use std::path::{Path, PathBuf};

/// A study of any kind, from its folder alone.
#[derive(Debug, Clone)]
pub struct StudyOutline {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The page of its report, where it stands.
    pub page: Option<PathBuf>,
    /// Its units, in the order of its plan.
    pub units: Vec<UnitOutline>,
}

/// A unit of a study of any kind.
#[derive(Debug, Clone)]
pub struct UnitOutline {
    /// Its name.
    pub id: UnitId,
    /// Whether it was begun; always of one that is finished.
    pub is_begun: bool,
    /// Whether it is finished; of a unit in a format of its kind's own as the index knows.
    pub is_finished: bool,
    /// What it came to, as JSON; none where it is not finished, or in a format of its kind's own.
    pub found: Option<String>,
    /// What it cost; none where it asked nobody, or is not finished.
    pub spent: Option<Spending>,
    /// Where its files lie; none of a unit that is a line.
    pub folder: Option<PathBuf>,
}

impl StudyOutline {
    /// The study of a folder. Nothing is locked or written. Records in a format of their kind's own are not read.
    ///
    /// # Errors
    /// [`StudyError`] for a folder without a study, or with one whose files cannot be read.
    pub fn read(folder: &Path) -> Result<Self, StudyError> {
        let header: StudyHeader<IgnoredAny> = read_json(&folder.join(STUDY))?;
        let index = UnitIndex::read(folder);
        let units = RecordedUnits::read(folder, None)?.0.into_iter();
        let units = units.map(|(unit, state)| {
            let is_finished =
                matches!(state, UnitState::Finished(_)) || (unit.keep == Keep::Own && index.knows(&unit));
            let is_begun = is_finished || !matches!(state, UnitState::NotBegun);
            let (found, spent) = match state {
                UnitState::Finished(recorded) => (Some(recorded.found.get().to_owned()), recorded.spent),
                UnitState::Open(_) | UnitState::NotBegun => (None, None),
            };
            UnitOutline {
                folder: (unit.keep == Keep::Folder).then(|| folder.join(UNITS).join(unit.id.as_str())),
                id: unit.id,
                is_begun,
                is_finished,
                found,
                spent,
            }
        });
        let page = folder.join("index.html");
        Ok(Self {
            kind: header.kind,
            name: header.name,
            units: units.collect(),
            page: (folder.join(SUMMARY).is_file() && page.is_file()).then_some(page),
        })
    }

    /// How many units are finished, begun without a result, and not begun.
    #[must_use]
    pub fn counts(&self) -> [usize; 3] {
        let count =
            |is_counted: fn(&UnitOutline) -> bool| self.units.iter().filter(|unit| is_counted(unit)).count();
        [
            count(|unit| unit.is_finished),
            count(|unit| !unit.is_finished && unit.is_begun),
            count(|unit| !unit.is_begun),
        ]
    }
}
