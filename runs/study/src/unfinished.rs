//! The report of a study that is not finished, and may never be: of what is recorded, under a name of its own.

use crate::identity::read_header;
use crate::kind::StudyKind;
use crate::recorded_units::RecordedUnits;
use crate::register;
use crate::report_files::write_report;
use crate::unit_id::{of_raw, some_names};
use crate::{Report, StudyError, UnitId};
use ktd_io::lock::FileLock;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where a report of an unfinished study lies, below the study's folder. It goes when the study is finished.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Report of a study of which units have no result.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UnfinishedReport<S> {
    unfinished: MissingUnits,
    /// As of a study that has no other units.
    report: S,
}

/// Units without a result.
#[derive(Debug, JsonSchema, Serialize)]
struct MissingUnits {
    /// Units of the study.
    units: usize,
    missing: Vec<UnitId>,
}

/// Writes a report of the finished units of a study of which others have no result, below `unfinished/`. Its first sentence
/// says how many are missing, and which.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, a kind that needs every unit, and a study of which no unit or
/// every unit is finished.
pub fn report_unfinished<K: StudyKind>(out: &Path) -> Result<(PathBuf, Value, Report), StudyError> {
    let header = read_header::<K>(out)?;
    let refused = |what: &str, hint: &str| StudyError::input(format_args!("{}: {what}", out.display()), hint);
    if !K::REPORTS_PARTS {
        let what = format!("a report of {} needs every unit", K::NAME);
        return Err(refused(
            &what,
            "`ktd status DIR` says what is missing; run the study again: it continues",
        ));
    }
    let units = RecordedUnits::read(out, K::OWN)?;
    let (missing, count) = (units.missing(), units.0.len());
    if missing.is_empty() {
        return Err(refused(
            "every unit is finished",
            "`ktd report DIR` shows its report",
        ));
    }
    units.check_files(out)?;
    let found = units.found();
    if found.is_empty() {
        return Err(refused("no unit is finished", "`ktd status DIR` says why"));
    }
    let mut each = Vec::with_capacity(found.len());
    for (unit, _) in &units.0 {
        if let Some(found) = found.get(&unit.id) {
            each.push((unit.id.clone(), of_raw(&unit.id, found)?));
        }
    }
    let mut summary = K::conclude(&header.keys, each)?;
    K::add_count(&mut summary, register::counted(out, None)?);
    let mut report = K::report(&header.keys, &summary)?;
    report.title = format!("{}, unfinished", report.title);
    report.verdict = format!(
        "{} of {count} units have no result: {}. {}",
        missing.len(),
        some_names(&missing),
        report.verdict
    );
    let unfinished = MissingUnits {
        units: count,
        missing,
    };
    let summary = json!(UnfinishedReport {
        unfinished,
        report: summary,
    });
    let folder = out.join(UNFINISHED);
    let _lock = FileLock::of_folder(&folder)?;
    write_report(&folder, &summary, &report)?;
    Ok((folder, summary, report))
}
