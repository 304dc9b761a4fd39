//! The report of a finished study, from its records alone.

use crate::identity::read_header;
use crate::kind::StudyKind;
use crate::line_files::CHANGED_HINT;
use crate::recorded_units::RecordedUnits;
use crate::register;
use crate::report_files::{SUMMARY, write_report};
use crate::unit_id::of_raw;
use crate::{Report, StudyError, UnitId};
use ktd_io::lock::FileLock;
use ktd_io::whole_file::{json_bytes, read_json};
use ktd_record::signed_folder::PUBLICATION;
use std::path::Path;

/// The report of a study whose units are all recorded, written again from the records alone; that of a
/// publication is only made.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, one that is not finished, and one of which a unit is missing, a file of
/// a unit was changed, or `report.json` is not what the units come to.
pub fn report_study<K: StudyKind>(out: &Path) -> Result<(K::Summary, Report), StudyError> {
    // A folder without a study is left as it is.
    let header = read_header::<K>(out)?;
    // A publication is read alone: its manifest names every file of it.
    let is_published = out.join(PUBLICATION).exists();
    let _lock = (!is_published).then(|| FileLock::of_folder(out)).transpose()?;
    let path = out.join(SUMMARY);
    let units = RecordedUnits::read(out, K::OWN)?;
    if !path.exists() && !units.missing().is_empty() {
        return Err(not_finished::<K>(out, &units));
    }
    let recorded: K::Summary = read_json(&path)?;
    let changed = |what: &dyn std::fmt::Display| {
        StudyError::difference(
            format_args!("{}: {what}", path.display()),
            "the folder was changed; take it from whoever made it, or run the study again: it continues",
        )
    };
    if let Some(missing) = units.missing().first() {
        return Err(changed(&format_args!("the record of unit {missing} is missing")));
    }
    units.check_files(out)?;
    let found = units.found();
    let each = units
        .0
        .iter()
        .filter_map(|(unit, _)| Some((&unit.id, found.get(&unit.id)?)));
    let each: Vec<(UnitId, K::Found)> = each
        .map(|(id, found)| Ok((id.clone(), of_raw(id, found)?)))
        .collect::<Result<_, StudyError>>()?;
    let mut summary = K::conclude(&header.keys, each)?;
    K::add_count(&mut summary, register::counted(out, None)?);
    if json_bytes(&path, &recorded)? != json_bytes(&path, &summary)? {
        if let Some(result) = units.changed_result(out) {
            let what = format_args!(
                "{}: it is not what the unit came to when it ended",
                result.display()
            );
            return Err(StudyError::difference(what, CHANGED_HINT));
        }
        return Err(changed(&"it is not what the records come to"));
    }
    let report = K::report(&header.keys, &summary)?;
    if !is_published {
        write_report(out, &summary, &report)?;
    }
    Ok((summary, report))
}

fn not_finished<K: StudyKind>(out: &Path, units: &RecordedUnits) -> StudyError {
    let folder = out.display();
    let continues = format!("`ktd status {folder}` says how to continue");
    let hint = if K::REPORTS_PARTS && !units.found().is_empty() {
        format!("`ktd report {folder} --unfinished` reports the others; {continues}")
    } else {
        continues
    };
    let (missing, all) = (units.missing().len(), units.0.len());
    StudyError::input(
        format_args!("{folder}: {missing} of {all} units have no result"),
        hint,
    )
}
