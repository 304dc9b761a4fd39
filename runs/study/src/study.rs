//! A study in its folder: what is asked, what is known, and the one loop over its units.

use crate::asking::Asking;
use crate::failures::Failures;
use crate::hands::{AdvanceFn, Given, Hands};
use crate::identity::{Decided, STUDY, StudyHeader, keep_base, known_base, read_header};
use crate::index::UnitIndex;
use crate::inputs::Inputs;
use crate::kind::{Keep, Opening, Planned, StudyKind};
use crate::plan_lines::{PlanLine, keep_plan};
use crate::register;
use crate::report_files::write_report;
use crate::told_to_end::unless_told_to_end;
use crate::unfinished::UNFINISHED;
use crate::unit_folder::{UNITS, UnitFolder};
use crate::unit_id::of_raw;
use crate::unit_lines::{UnitLine, UnitLines};
use crate::{Report, StudyError, StudyProgress, UnitId};
use ktd_io::parallel::in_parallel;
use ktd_io::whole_file::{json_bytes, read_if_exists, remove_directory, write_whole};
use ktd_record::program_record::{ProgramRecord, check_program};
use ktd_record::study_folder::StudyFolder;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// What a study runs with.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds callbacks")]
pub struct StudyRun<'r> {
    /// The program, which every record names.
    pub program: &'r ProgramRecord,
    /// Units at once at most.
    pub threads: usize,
    /// Waits for answers and timers.
    pub tasks: &'r Handle,
    /// Told how far it is.
    pub progress: &'r dyn StudyProgress,
    /// Becomes true when the process is told to end: units that ask somebody end then, and whatever they started.
    pub told_to_end: &'r watch::Receiver<bool>,
}

/// How a run ended.
#[derive(Debug)]
pub struct StudyEnd<S> {
    /// What all units came to, and its report; none where a unit is not finished.
    pub finished: Option<(S, Report)>,
    /// Units in all.
    pub units: usize,
    /// Units that ended without a result, and why.
    pub failed: Vec<(UnitId, StudyError)>,
}

/// What is known of the units of a plan.
struct Known {
    lines: UnitLines,
    index: UnitIndex,
    found: BTreeMap<UnitId, Box<RawValue>>,
}

/// Lines of units that ran, and those that ended without a result, and why.
type Ran = (Vec<UnitLine>, Vec<(UnitId, StudyError)>);

/// A study with its world and plan.
pub(crate) struct OpenedStudy<K: StudyKind> {
    pub(crate) keys: K::Keys,
    pub(crate) world: K::World,
    pub(crate) plan: Vec<Planned<K::Unit>>,
    pub(crate) decided: Decided,
    pub(crate) out: PathBuf,
    base: PathBuf,
    inputs: Inputs,
}

/// Runs every unit that has no record of the same, and reports all. What was recorded stands; the same call continues, and a
/// finished study is only reported. The bytes do not depend on threads or interruptions.
///
/// # Errors
/// [`StudyError`] for keys that do not go together, a world that cannot be read, a folder that holds another study or that
/// another process writes. What ends a unit is in the end of the run.
pub fn run_study<K: StudyKind>(
    keys: K::Keys,
    (base, out): (&Path, &Path),
    run: &StudyRun<'_>,
) -> Result<StudyEnd<K::Summary>, StudyError> {
    K::check(&keys)?;
    // What cannot be opened leaves no folder behind.
    let study = OpenedStudy::<K>::open(keys, (base, out), run)?;
    let held = StudyFolder::hold(out, run.program)?;
    study.keep_header()?;
    keep_plan(held.path(), &PlanLine::all(&study.plan, &study.decided)?)?;
    let failures = Failures::begin(held.path())?;
    let counted = register::count(held.path(), K::counted(&study.world))?;
    let mut known = study.known()?;
    let steps = study.plan.iter().map(|unit| unit.steps).sum();
    run.progress.begin(steps, K::STEPS);
    let done = study
        .plan
        .iter()
        .filter(|unit| known.found.contains_key(&unit.id));
    run.progress.advance(done.map(|unit| unit.steps).sum());
    let (ran, failed) = study.run_missing(&mut known, (run, &failures))?;
    let finished = study.finish(known, ran, failed.is_empty().then_some(counted))?;
    Ok(StudyEnd {
        finished,
        units: study.plan.len(),
        failed,
    })
}

/// The report of a study whose units are all recorded, written again from the records alone.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, and one that is not finished.
pub fn report_study<K: StudyKind>(out: &Path) -> Result<(K::Summary, Report), StudyError> {
    // A folder without a study is left as it is.
    let header = read_header::<K>(out)?;
    let _lock = ktd_io::lock::FileLock::of_folder(out)?;
    let summary: K::Summary = ktd_io::whole_file::read_json(&out.join("report.json"))?;
    let report = K::report(&header.keys, &summary)?;
    write_report(out, &summary, &report)?;
    Ok((summary, report))
}

impl<K: StudyKind> OpenedStudy<K> {
    pub(crate) fn open(
        keys: K::Keys,
        (base, out): (&Path, &Path),
        run: &StudyRun<'_>,
    ) -> Result<Self, StudyError> {
        let inputs = Inputs::read();
        let world = K::open(&keys, &opening((base, out), &inputs, run))?;
        Self::over((keys, world, inputs), (base, out), run)
    }

    pub(crate) fn over(
        (keys, world, inputs): (K::Keys, K::World, Inputs),
        (base, out): (&Path, &Path),
        run: &StudyRun<'_>,
    ) -> Result<Self, StudyError> {
        let plan = K::units(&keys, &world)?;
        let mut ids = BTreeSet::new();
        for unit in &plan {
            unit.id.check()?;
            if !ids.insert(&unit.id) {
                let what = format!("the study asks for the unit {} twice", unit.id);
                return Err(StudyError::input(
                    what,
                    "give each agent, pool and window a name of its own",
                ));
            }
        }
        Ok(Self {
            decided: Decided::of::<K>(&world, run.program),
            keys,
            world,
            plan,
            base: base.to_owned(),
            out: out.to_owned(),
            inputs,
        })
    }

    /// A study that is recorded, over the world that it was recorded over.
    pub(crate) fn recorded(out: &Path, base: Option<&Path>, run: &StudyRun<'_>) -> Result<Self, StudyError> {
        let header = read_header::<K>(out)?;
        let known = known_base(out)?;
        let base = base.unwrap_or(&known);
        let inputs = Inputs::kept(out, header.inputs);
        let at = opening((base, out), &inputs, run);
        let world = K::open_recorded(&header.keys, &at, &header.decides)?;
        // Another program may come to the same bytes: the record is compared under the name of its own.
        let run = StudyRun {
            program: &header.program,
            ..*run
        };
        let study = Self::over((header.keys, world, inputs), (base, out), &run)?;
        if study.decided.decides != header.decides {
            let (recorded, now) = (header.decides.to_string(), study.decided.decides.to_string());
            let found = ktd_record::chain::first_difference(&recorded, &now);
            let what = format!(
                "{}: what the study ran over is another now: {found}",
                out.join(STUDY).display()
            );
            return Err(StudyError::difference(
                what,
                "name where its files lie with --base",
            ));
        }
        Ok(study)
    }

    /// Refuses a folder that holds something else, such as the results of an earlier version.
    fn check_vacant(&self) -> Result<(), StudyError> {
        let known = [
            "report.json",
            "header.json",
            "request.json",
            "cells",
            "submissions",
            "runs",
        ];
        let Some(other) = known.into_iter().find(|name| self.out.join(name).exists()) else {
            return Ok(());
        };
        Err(StudyError::input(
            format_args!(
                "{} holds {other} and no {STUDY}: it is not of this version",
                self.out.display()
            ),
            "choose another directory with --out; the version of ktd that made it reads it",
        ))
    }

    /// Writes what the study is. Records that models were paid for are never left behind under another study's name.
    fn keep_header(&self) -> Result<(), StudyError> {
        let path = self.out.join(STUDY);
        let header = StudyHeader {
            kind: K::NAME.to_owned(),
            format: K::FORMAT,
            program: self.decided.program.clone(),
            name: K::name(&self.keys).to_owned(),
            decides: self.decided.decides.clone(),
            inputs: self.inputs.hashes(),
            keys: &self.keys,
        };
        let bytes = json_bytes(&path, &header)?;
        let recorded = read_if_exists(&path)?;
        if recorded.is_none() {
            self.check_vacant()?;
        }
        if let Some(recorded) = recorded.as_ref().filter(|recorded| **recorded != bytes) {
            let known = read_header::<K>(&self.out)?;
            if K::ASKS {
                check_program(&path, recorded, &bytes)?;
                let is_changed = |(name, sha256): (&String, &String)| {
                    known.inputs.get(name).is_some_and(|known| known != sha256)
                };
                if known.decides != self.decided.decides || header.inputs.iter().any(is_changed) {
                    return Err(StudyError::input(
                        format_args!(
                            "{} holds a study of other settings, or over another world",
                            self.out.display()
                        ),
                        "choose another directory with --out, or move this one away to run everything anew",
                    ));
                }
            }
        }
        self.inputs.keep(&self.out)?;
        if recorded.as_ref() != Some(&bytes) {
            write_whole(&path, &bytes)?;
        }
        keep_base(&self.out, &self.base)
    }

    pub(crate) fn folder(&self, unit: &Planned<K::Unit>) -> Result<UnitFolder, StudyError> {
        UnitFolder::new(&self.out.join(UNITS), unit, &self.decided)
    }

    /// What the model of a unit is asked for, and its seed.
    pub(crate) fn role(&self, unit: &Planned<K::Unit>) -> (String, u64) {
        let settings = K::asking(&self.keys);
        let role = settings.as_ref().zip(unit.model).and_then(|(settings, place)| {
            let role = place.checked_div(settings.agents.len())?;
            settings.roles.get(role)
        });
        role.map_or_else(Default::default, |role| (role.name.clone(), role.seed))
    }

    fn known(&self) -> Result<Known, StudyError> {
        let mut known = Known {
            lines: UnitLines::open(&self.out)?,
            index: UnitIndex::read(&self.out),
            found: BTreeMap::new(),
        };
        for unit in &self.plan {
            let found = match unit.keep {
                Keep::Line => {
                    let line = known
                        .lines
                        .known(&unit.id, &self.decided.unit_sha256(&unit.unit)?);
                    line.map(|line| line.found.clone())
                }
                Keep::Folder => known.index.found(unit, (&self.folder(unit)?, K::ASKS))?,
            };
            // What came of others is only known with them.
            let is_after_known = unit.after.iter().all(|id| known.found.contains_key(id));
            if let Some(found) = found.filter(|_| is_after_known) {
                known.found.insert(unit.id.clone(), found);
            }
        }
        Ok(known)
    }

    /// Runs what has no record, wave by wave: a unit runs when those that it comes after are finished.
    fn run_missing(
        &self,
        known: &mut Known,
        (run, failures): (&StudyRun<'_>, &Failures),
    ) -> Result<Ran, StudyError> {
        let mut missing: Vec<&Planned<K::Unit>> = self
            .plan
            .iter()
            .filter(|unit| !known.found.contains_key(&unit.id))
            .collect();
        let asking = Asking::open::<K>(&self.keys, &self.plan, &missing, (&self.base, &self.out))?;
        let (mut ran, mut failed) = (Vec::new(), Vec::new());
        while !missing.is_empty() {
            let is_ready =
                |unit: &&Planned<K::Unit>| unit.after.iter().all(|id| known.found.contains_key(id));
            let (ready, later): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_ready);
            missing = later;
            if ready.is_empty() {
                break;
            }
            let threads = K::at_once(&self.keys).unwrap_or(run.threads).min(ready.len());
            let inner = (run.threads / threads.max(1)).max(1);
            let ends = in_parallel(&ready, threads, |unit| {
                let ended = std::panic::catch_unwind(AssertUnwindSafe(|| {
                    self.run_unit(unit, (&*known, &asking), (run, inner))
                }));
                let ended = ended.unwrap_or_else(|panic| Err(StudyError::of_panic(&panic)));
                ended.inspect_err(|error| failures.note(&unit.id, error))
            });
            for (unit, ended) in ready.into_iter().zip(ends) {
                match ended {
                    Ok(line) => {
                        known.found.insert(unit.id.clone(), line.found.clone());
                        if unit.keep == Keep::Line {
                            ran.push(line);
                        }
                    }
                    Err(error) => failed.push((unit.id.clone(), error)),
                }
            }
        }
        Ok((ran, failed))
    }

    fn run_unit(
        &self,
        unit: &Planned<K::Unit>,
        (known, asking): (&Known, &Asking),
        (run, threads): (&StudyRun<'_>, usize),
    ) -> Result<UnitLine, StudyError> {
        let advance = |steps| run.progress.advance(steps);
        let found = match unit.keep {
            Keep::Line => {
                let given = (&advance as AdvanceFn<'_>, threads, &known.found);
                run.tasks.block_on(self.run_line(unit, given))?
            }
            Keep::Folder => {
                let asked = asking.of(unit.model)?;
                let folder = self.folder(unit)?;
                let given = (&advance as AdvanceFn<'_>, threads, &known.found);
                let running = folder.run::<K>((&self.world, unit), asked.as_ref(), given);
                run.tasks.block_on(unless_told_to_end(running, run.told_to_end))?
            }
        };
        let line = self.line(unit, &found)?;
        if unit.keep == Keep::Line {
            known.lines.keep(&line)?;
        }
        Ok(line)
    }

    pub(crate) async fn run_line(
        &self,
        unit: &Planned<K::Unit>,
        (advance, threads, before): Given<'_>,
    ) -> Result<K::Found, StudyError> {
        let mut hands = Hands {
            before,
            ..Hands::unrecorded(advance, threads)
        };
        let found = K::run(&self.world, &unit.unit, &mut hands).await?;
        hands.advance_to(unit.steps);
        Ok(found)
    }

    pub(crate) fn line(&self, unit: &Planned<K::Unit>, found: &K::Found) -> Result<UnitLine, StudyError> {
        let found = serde_json::value::to_raw_value(found)
            .map_err(|error| StudyError::input(format_args!("{}: {error}", unit.id), ""))?;
        Ok(UnitLine {
            id: unit.id.clone(),
            sha256: self.decided.unit_sha256(&unit.unit)?,
            found,
        })
    }

    /// Closes what ran, and reports all where all is finished.
    fn finish(
        &self,
        mut known: Known,
        ran: Vec<UnitLine>,
        counted: Option<usize>,
    ) -> Result<Option<(K::Summary, Report)>, StudyError> {
        // What has just run is read back: the report is of records alone, also the first time.
        for unit in self.plan.iter().filter(|unit| unit.keep == Keep::Folder) {
            known.index.found(unit, (&self.folder(unit)?, K::ASKS))?;
        }
        known.index.write()?;
        let Some(counted) = counted.filter(|_| known.found.len() == self.plan.len()) else {
            return Ok(None);
        };
        known.lines.close(&self.plan, ran)?;
        let (summary, report) = self.concluded(&known.found, counted)?;
        write_report(&self.out, &summary, &report)?;
        let unfinished = self.out.join(UNFINISHED);
        if unfinished.is_dir() {
            remove_directory(&unfinished)?;
        }
        Ok(Some((summary, report)))
    }

    /// What recorded units come to.
    pub(crate) fn concluded(
        &self,
        found: &BTreeMap<UnitId, Box<RawValue>>,
        counted: usize,
    ) -> Result<(K::Summary, Report), StudyError> {
        let mut each = Vec::with_capacity(self.plan.len());
        for unit in &self.plan {
            if let Some(found) = found.get(&unit.id) {
                each.push((unit.id.clone(), of_raw(&unit.id, found)?));
            }
        }
        let mut summary = K::conclude(&self.keys, each)?;
        K::add_count(&mut summary, counted);
        let report = K::report(&self.keys, &summary)?;
        Ok((summary, report))
    }
}

const fn opening<'o>(
    (base, out): (&'o Path, &'o Path),
    inputs: &'o Inputs,
    run: &StudyRun<'_>,
) -> Opening<'o> {
    Opening {
        base,
        out,
        threads: run.threads,
        inputs,
    }
}
