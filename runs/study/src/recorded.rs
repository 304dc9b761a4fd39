//! What a study holds, for whoever goes on with it: another study, or a table of its own.

use crate::StudyError;
use crate::UnitId;
use crate::identity::read_header;
use crate::kind::{Keep, StudyKind};
use crate::line_files::changed_file;
use crate::plan_lines::{PlanLine, read_plan};
use crate::unit_folder::{UNITS, UnitFolder};
use crate::unit_lines::UnitLines;
use std::path::Path;

/// What the finished units of a study with a folder came to that its plan names, by their names. Every file of them is compared with
/// the hash that its result names; nothing is made again.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, and for a file that was changed.
pub fn recorded_study<K: StudyKind>(folder: &Path) -> Result<Vec<(UnitId, K::Found)>, StudyError> {
    read_header::<K>(folder)?;
    let mut plan = read_plan(folder)?;
    plan.retain(|unit| unit.keep == Keep::Folder);
    plan.sort_by(|one, other| one.id.cmp(&other.id));
    let mut found = Vec::new();
    for PlanLine { id, .. } in plan {
        let own = UnitFolder::found_in(&folder.join(UNITS).join(id.as_str()))?;
        found.extend(own.map(|found| (id, found)));
    }
    Ok(found)
}

/// The keys that a study was recorded under.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind.
pub fn recorded_keys<K: StudyKind>(folder: &Path) -> Result<K::Keys, StudyError> {
    Ok(read_header::<K>(folder)?.keys)
}

/// Whether the files of units that are lines are as their results name them.
///
/// # Errors
/// [`StudyError`] naming the first that was changed or is missing.
pub fn check_recorded_files(folder: &Path) -> Result<(), StudyError> {
    for line in UnitLines::look(folder)?.all() {
        if let Some(changed) = changed_file(folder, &line.files)? {
            return Err(changed);
        }
    }
    Ok(())
}
