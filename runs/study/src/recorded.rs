//! What a study holds, for whoever goes on with it: another study, or a table of its own.

use crate::StudyError;
use crate::UnitId;
use crate::identity::read_header;
use crate::kind::StudyKind;
use crate::line_files::changed_file;
use crate::unit_folder::{UNITS, UnitFolder};
use crate::unit_lines::UnitLines;
use ktd_io::whole_file::list_if_exists;
use std::path::Path;

/// What the finished units of a study with a folder came to, by their names. Every file of them is compared with
/// the hash that its result names; nothing is made again.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, and for a file that was changed.
pub fn recorded_study<K: StudyKind>(folder: &Path) -> Result<Vec<(UnitId, K::Found)>, StudyError> {
    read_header::<K>(folder)?;
    let mut found = Vec::new();
    for own in list_if_exists(&folder.join(UNITS))? {
        let name = own.file_name().unwrap_or_default();
        let id = UnitId::from(name.to_string_lossy().into_owned());
        found.extend(UnitFolder::found_in(&own)?.map(|found| (id, found)));
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
