//! The units that a study asks for, a line each: `plan.jsonl`. It says how far a study is without opening its world.

use crate::identity::Decided;
use crate::kind::{Keep, Planned};
use crate::{StudyError, UnitId};
use ktd_io::line_file::{LineKind, line_bytes};
use ktd_io::whole_file::{read_if_exists, write_whole};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file of a plan.
pub(crate) const PLAN: &str = "plan.jsonl";

/// A unit that is asked for, as its study's folder names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanLine {
    pub(crate) id: UnitId,
    /// Of all that decides it.
    pub(crate) sha256: String,
    pub(crate) keep: Keep,
    /// The place of its model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) model: Option<usize>,
}

impl PlanLine {
    /// The lines of a plan.
    pub(crate) fn all<U: Serialize>(plan: &[Planned<U>], decided: &Decided) -> Result<Vec<Self>, StudyError> {
        let line = |unit: &Planned<U>| {
            Ok(Self {
                id: unit.id.clone(),
                sha256: decided.unit_sha256(&unit.unit)?,
                keep: unit.keep,
                model: unit.model,
            })
        };
        plan.iter().map(line).collect()
    }
}

/// The file of a plan with its bytes.
pub(crate) fn plan_file(folder: &Path, plan: &[PlanLine]) -> Result<(PathBuf, Vec<u8>), StudyError> {
    let path = folder.join(PLAN);
    let bytes = line_bytes(&path, plan)?;
    Ok((path, bytes))
}

/// Writes a plan, where it is another one than before.
pub(crate) fn keep_plan(folder: &Path, plan: &[PlanLine]) -> Result<(), StudyError> {
    let (path, bytes) = plan_file(folder, plan)?;
    if read_if_exists(&path)?.as_ref() == Some(&bytes) {
        return Ok(());
    }
    Ok(write_whole(&path, &bytes)?)
}

/// The plan of a folder.
pub(crate) fn read_plan(folder: &Path) -> Result<Vec<PlanLine>, StudyError> {
    let (path, _) = plan_file(folder, &[])?;
    if !path.exists() {
        return Err(StudyError::input(
            format_args!(
                "{}: it is missing: the study has not begun, or is of an earlier version",
                path.display()
            ),
            "run the study again: it continues, and writes its plan",
        ));
    }
    let plan: Vec<PlanLine> = LineKind::Log.open(&path)?.values()?;
    // A stranger's name of a unit becomes a path only where it is one.
    plan.iter().try_for_each(|unit| unit.id.check())?;
    Ok(plan)
}
