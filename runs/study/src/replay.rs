//! A finished study made again from its record, with nobody to ask.

use crate::hands::Hands;
use crate::identity::made_by_another;
use crate::kind::{Keep, Planned, StudyKind};
use crate::line_files::{LineMode, changed_file};
use crate::opening::MovedFiles;
use crate::plan_lines::{PLAN, PlanLine, plan_file};
use crate::recorded_units::RecordedUnits;
use crate::register;
use crate::report_files::{SUMMARY, files_of};
use crate::study::OpenedStudy;
use crate::study_run::StudyRun;
use crate::unit_lines::UnitLines;
use crate::{StudyError, UnitId};
use ktd_io::ErrorClass;
use ktd_io::parallel::in_parallel;
use ktd_io::sha256::sha256_hex;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CHANGED_HINT: &str =
    "the record was changed; take the folder from whoever made it, or run the study again into another one";

/// Which units make their works again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// None: recorded works are taken.
    Recorded,
    /// Those whose names begin with one of these.
    Named(&'static [&'static str]),
    /// So many units, drawn by the system's chance: whoever made the record cannot know them.
    Sample(usize),
    /// All.
    Deep,
}

/// What a replay compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// The name of the study.
    pub name: String,
    /// Units in all; every one is compared with its record.
    pub units: usize,
    /// Units whose works were made again.
    pub made_again: usize,
    /// What its report concludes.
    pub verdict: String,
    /// What is to be known of the program that made the record, where it is another one.
    pub another_program: Option<String>,
    /// What lies where units leave their records, and no unit names: places in the folder of the study.
    pub unnamed: Vec<String>,
}

/// Makes every unit of a finished study again from its record, then the report, and compares all of it byte for byte: the
/// first difference ends it.
///
/// # Errors
/// [`StudyError`] naming the first difference; for a folder without a finished study, and a world that cannot be read.
pub fn replay_study<K: StudyKind>(
    out: &Path,
    moved: MovedFiles<'_>,
    depth: Depth,
    run: &StudyRun<'_>,
) -> Result<Replayed, StudyError> {
    let study = OpenedStudy::<K>::recorded((out, moved), run)?;
    let another = made_by_another(&study.decided.program, run.program);
    let replayed = replay_opened(&study, (out, depth), run).map_err(|error| match &another {
        Some(another) if error.class() == ErrorClass::Difference => StudyError::difference(
            format_args!("{another}: {error}"),
            "replay it with the program that made it: what another one makes differently says nothing of the record",
        ),
        _ => error,
    })?;
    Ok(Replayed {
        another_program: another,
        ..replayed
    })
}

/// The replay of a study, whichever program made it.
fn replay_opened<K: StudyKind>(
    study: &OpenedStudy<K>,
    (out, depth): (&Path, Depth),
    run: &StudyRun<'_>,
) -> Result<Replayed, StudyError> {
    unfinished(study, out)?;
    let deep = drawn(&study.plan, depth)?;
    let steps: u64 = study.plan.iter().map(|unit| unit.steps).sum();
    run.progress.begin(steps, K::STEPS);
    let lines = UnitLines::read(out)?;
    let each = in_parallel(&study.plan, run.threads, |unit| {
        let found = replay_unit(study, unit, (&lines, deep.contains(&unit.id)), run);
        found.map_err(|error| error.at(format_args!("unit {}", unit.id)))
    });
    let is_difference = |each: &Result<_, StudyError>| {
        each.as_ref()
            .is_err_and(|error| error.class() == ErrorClass::Difference)
    };
    let differs = each.iter().position(is_difference);
    let mut found = BTreeMap::new();
    for (place, (unit, each)) in study.plan.iter().zip(each).enumerate() {
        // What could not be compared hides no difference behind it.
        match each {
            Err(_) if differs.is_some_and(|differs| place < differs) => {}
            each => {
                found.insert(unit.id.clone(), each?);
            }
        }
    }
    let (summary, report) =
        study.concluded(&found, register::counted(out, K::counted(&study.world).as_ref())?)?;
    let plan = plan_file(out, &PlanLine::all(&study.plan, &study.decided)?)?;
    for (path, bytes) in files_of(out, &summary, &report)?.into_iter().chain([plan]) {
        let hint = if path.exists() {
            CHANGED_HINT
        } else {
            written_by(&path)
        };
        ktd_asking::compare_with_file(&path, &bytes, hint)?;
    }
    Ok(Replayed {
        name: K::name(&study.keys).to_owned(),
        units: study.plan.len(),
        made_again: deep.len(),
        verdict: report.verdict,
        another_program: None,
        unnamed: study.unnamed_records(&lines)?,
    })
}

/// What writes a file of a finished study again that is missing.
fn written_by(path: &Path) -> &'static str {
    if path.ends_with(SUMMARY) || path.ends_with(PLAN) {
        "run the study again: it writes the file from what is recorded, and asks nobody"
    } else {
        "`ktd report DIR` writes it again from what is recorded"
    }
}

/// A study that was stopped is no changed one: nothing closed it.
fn unfinished<K: StudyKind>(study: &OpenedStudy<K>, out: &Path) -> Result<(), StudyError> {
    if out.join(SUMMARY).exists() {
        return Ok(());
    }
    let missing = RecordedUnits::read(out, K::OWN)?.missing();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    Err(StudyError::input(
        format_args!(
            "{}: it is not finished: {} of {} units have no result, the first {first}",
            out.display(),
            missing.len(),
            study.plan.len()
        ),
        "`ktd status DIR` says what goes on with it; what is finished of episodes is verified bundle by bundle",
    ))
}

fn replay_unit<K: StudyKind>(
    study: &OpenedStudy<K>,
    unit: &Planned<K::Unit>,
    (lines, deep): (&UnitLines, bool),
    run: &StudyRun<'_>,
) -> Result<Box<RawValue>, StudyError> {
    if unit.keep == Keep::Own {
        return replay_own(study, unit, deep, run);
    }
    if unit.keep == Keep::Folder {
        let folder = study.folder(unit)?;
        let role = study.role(unit);
        let before = recorded_before(study, unit, lines)?;
        let replaying = folder.replay::<K>((&study.world, unit, role), deep, (run.progress, 1, &before));
        let found = run.tasks.block_on(replaying)?;
        return Ok(study.line(unit, &found)?.found);
    }
    let sha256 = study.decided.unit_sha256(&unit.unit)?;
    let line = lines.known(&unit.id, &sha256).ok_or_else(|| {
        StudyError::input(
            "units.jsonl has no record of it that was decided by the same: the study is not finished, or of another file",
            "`ktd status DIR` says what is missing; run the study again: it continues",
        )
    })?;
    if let Some(changed) = changed_file(&study.out, &line.files)? {
        return Err(changed);
    }
    if !deep {
        run.progress.advance(unit.steps);
        return Ok(line.found.clone());
    }
    let before = recorded_before(study, unit, lines)?;
    let running = study.run_line(unit, LineMode::Compared, (run.progress, 1, &before));
    let (found, files) = run.tasks.block_on(running)?;
    if line.files != files {
        let what = "units.jsonl: the files that it made come to something else";
        return Err(StudyError::difference(what, CHANGED_HINT));
    }
    let made = study.line(unit, &found)?;
    match K::difference(line.found.get(), made.found.get()) {
        None => Ok(line.found.clone()),
        Some(found) => Err(StudyError::difference(
            format_args!("units.jsonl: it comes to something else: {found}"),
            CHANGED_HINT,
        )),
    }
}

/// A unit whose record has a format of the kind's own: its files are compared with what closes them, or it is made again.
fn replay_own<K: StudyKind>(
    study: &OpenedStudy<K>,
    unit: &Planned<K::Unit>,
    deep: bool,
    run: &StudyRun<'_>,
) -> Result<Box<RawValue>, StudyError> {
    let (folder, closed_by) = study.own_folder(unit)?;
    if !closed_by.exists() {
        let what = format!("{}: it is missing: the unit is unfinished", closed_by.display());
        return Err(StudyError::difference(what, "run the study again: it continues"));
    }
    if !K::OWN.is_none_or(|own| (own.has_private)(&folder)) {
        K::finished(&study.world, &unit.unit, &folder)?;
        return Err(StudyError::input(
            format_args!(
                "{}: its private/ is missing, and without it the unit cannot be made again",
                folder.display()
            ),
            "ask whoever made it for private/; `ktd verify` of that folder checks what it can without",
        ));
    }
    let hands = Hands::<K::Event>::unrecorded(run.progress, 1);
    let found = if deep {
        let again = K::again(&study.world, &unit.unit, (&folder, hands.progress()));
        run.tasks.block_on(again)?
    } else {
        K::finished(&study.world, &unit.unit, &folder)?
    };
    hands.advance_to(unit.steps);
    Ok(study.line(unit, &found)?.found)
}

/// What the units came to that this one comes after, as they are recorded: each is compared by itself.
fn recorded_before<K: StudyKind>(
    study: &OpenedStudy<K>,
    unit: &Planned<K::Unit>,
    lines: &UnitLines,
) -> Result<BTreeMap<UnitId, Box<RawValue>>, StudyError> {
    let mut before = BTreeMap::new();
    for other in study.plan.iter().filter(|other| unit.after.contains(&other.id)) {
        let found = match other.keep {
            Keep::Folder => Some(study.folder(other)?.recorded()?.found),
            Keep::Own => {
                let found = K::finished(&study.world, &other.unit, &study.own_folder(other)?.0)?;
                Some(study.line(other, &found)?.found)
            }
            Keep::Line => {
                let line = lines.known(&other.id, &study.decided.unit_sha256(&other.unit)?);
                line.map(|line| line.found.clone())
            }
        };
        before.extend(found.map(|found| (other.id.clone(), found)));
    }
    Ok(before)
}

/// Units of a format of the kind's own: making them again is what their replay is, unless a sample is asked for.
fn whole_own<U>(plan: &[Planned<U>]) -> BTreeSet<UnitId> {
    let own = plan.iter().filter(|unit| unit.keep == Keep::Own);
    own.map(|unit| unit.id.clone()).collect()
}

/// What decides a draw that nobody can know before a check is made.
///
/// # Errors
/// [`StudyError`] where the system gives none.
pub fn system_chance() -> Result<[u8; 32], StudyError> {
    let mut chance = [0; 32];
    getrandom::fill(&mut chance).map_err(|error| {
        StudyError::input(format_args!("the system gives no chance: {error}"), "draw again")
    })?;
    Ok(chance)
}

/// The units whose works are made again.
fn drawn<U>(plan: &[Planned<U>], depth: Depth) -> Result<BTreeSet<UnitId>, StudyError> {
    let count = match depth {
        Depth::Recorded => return Ok(whole_own(plan)),
        Depth::Named(names) => {
            let is_named = |id: &UnitId| names.iter().any(|name| id.as_str().starts_with(name));
            let ids = plan.iter().map(|unit| &unit.id);
            return Ok(ids.filter(|id| is_named(id)).cloned().collect());
        }
        Depth::Deep => plan.len(),
        Depth::Sample(count) => count,
    };
    let chance = system_chance()?;
    let place = |unit: &Planned<U>| {
        let drawn = [&chance[..], unit.id.as_str().as_bytes()].concat();
        (sha256_hex(&drawn), unit.id.clone())
    };
    let mut places: Vec<(String, UnitId)> = plan.iter().map(place).collect();
    places.sort();
    Ok(places.into_iter().take(count).map(|(_, id)| id).collect())
}
