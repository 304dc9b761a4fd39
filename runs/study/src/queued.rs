//! A study made ready for workers on many machines.

use crate::identity::kind_of;
use crate::inputs::Inputs;
use crate::kind::StudyKind;
use crate::plan_lines::{PlanLine, keep_plan};
use crate::register;
use crate::study::{OpenedStudy, opening};
use crate::unit_keys::keep_unit_keys;
use crate::{Planned, StudyError, StudyRun, UnitId, study_status};
use ktd_client::money::KeyName;
use ktd_experiment::caps::Caps;
use ktd_record::study_folder::StudyFolder;
use std::path::{Path, PathBuf};

/// What workers are to run.
#[derive(Debug, Clone)]
pub struct QueuedStudy {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Where its results go.
    pub folder: PathBuf,
    /// What may be spent.
    pub caps: Caps,
    /// Whether somebody is paid for answers.
    pub is_paid: bool,
    /// Whether somebody was asked in this folder before, on one machine.
    pub was_asked: bool,
    /// Its units, in the order of the report.
    pub units: Vec<QueuedUnit>,
}

/// Unit of such a study.
#[derive(Debug, Clone)]
pub struct QueuedUnit {
    /// Its name.
    pub id: UnitId,
    /// The key whose answers it waits for.
    pub key: Option<KeyName>,
    /// Units that must be finished before.
    pub after: Vec<UnitId>,
    /// Whether its record stands already.
    pub is_finished: bool,
}

/// Writes what the study is into its folder, as a run does before its first unit.
pub(crate) fn enqueue_study<K: StudyKind>(
    keys: K::Keys,
    (base, out): (&Path, &Path),
    run: &StudyRun<'_>,
) -> Result<QueuedStudy, StudyError> {
    K::check(&keys)?;
    let inputs = Inputs::read();
    let world = K::open(&keys, &opening((base, out), &inputs, run))?;
    let study = OpenedStudy::<K>::over((keys, world, inputs), (base, out), run)?;
    let held = StudyFolder::hold(out, run.program)?;
    let is_begun = kind_of(out).is_some();
    study.keep_header(run.progress)?;
    keep_plan(held.path(), &PlanLine::all(&study.plan, &study.decided)?)?;
    keep_unit_keys(held.path(), study.unit_keys())?;
    register::count::<K>(held.path(), K::counted(&study.world).as_ref(), run.counts)?;
    let was_asked = is_begun && 0 < study_status::<K>(out)?.requests.asked;
    let known = study.known(run)?;
    let asks = K::asking(&study.keys);
    let has_model = asks.is_some_and(|asks| asks.agents.iter().any(|agent| agent.model().is_some()));
    let unit = |unit: &Planned<K::Unit>| QueuedUnit {
        id: unit.id.clone(),
        key: unit.key.clone(),
        after: unit.after.clone(),
        is_finished: known.found.contains_key(&unit.id),
    };
    Ok(QueuedStudy {
        name: K::name(&study.keys).to_owned(),
        kind: K::NAME.to_owned(),
        folder: out.to_owned(),
        caps: K::caps(&study.keys),
        is_paid: has_model || study.plan.iter().any(|unit| unit.key.is_some()),
        was_asked,
        units: study.plan.iter().map(unit).collect(),
    })
}
