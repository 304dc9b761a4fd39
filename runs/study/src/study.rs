//! A study in its folder: what is asked, what is known, and the one loop over its units.

use crate::asking::{Asking, agent_of};
use crate::different_values::told_differences;
use crate::failures::Failures;
use crate::followed_sends::FollowedSends;
use crate::identity::{Decided, STUDY, known_base, made_by_another, read_header};
use crate::index::UnitIndex;
use crate::inputs::Inputs;
use crate::kind::{Keep, Planned, StudyKind};
use crate::opening::{MovedFiles, Opening};
use crate::pace::{Pace, UnitPace};
use crate::plan_lines::{PlanLine, keep_plan};
use crate::register;
use crate::report_files::write_report;
use crate::schedule::all_at_once;
use crate::study_run::{StudyEnd, StudyRun};
use crate::unfinished::UNFINISHED;
use crate::unit_folder::{UNITS, UnitFolder};
use crate::unit_id::of_raw;
use crate::unit_keys::keep_unit_keys;
use crate::unit_lines::{UnitLine, UnitLines};
use crate::{Report, StudyError, UnitId};
use futures::FutureExt;
use ktd_io::FileError;
use ktd_io::whole_file::remove_directory;
use ktd_record::set_aside::set_aside;
use ktd_record::study_folder::StudyFolder;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What is known of the units of a plan.
pub(crate) struct Known {
    pub(crate) lines: UnitLines,
    pub(crate) index: UnitIndex,
    pub(crate) found: BTreeMap<UnitId, Box<RawValue>>,
    /// Units whose own record is another unit's, or was changed: they end no other.
    pub(crate) refused: BTreeMap<UnitId, StudyError>,
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
    pub(crate) base: PathBuf,
    pub(crate) inputs: Inputs,
    pub(crate) pace: Pace,
    /// What was sent of the folder's records, read on as they grow.
    pub(crate) sends: Mutex<FollowedSends>,
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
) -> Result<StudyEnd<K>, StudyError> {
    K::check(&keys)?;
    // What cannot be opened leaves no folder behind.
    let inputs = Inputs::read();
    let world = K::open(&keys, &opening((base, out), &inputs, run))?;
    run_opened(OpenedStudy::over((keys, world, inputs), (base, out), run)?, run)
}

/// The same over a world that is open, and not to be opened again.
///
/// # Errors
/// [`StudyError`] as [`run_study`].
pub fn run_study_over<K: StudyKind>(
    keys: K::Keys,
    world: K::World,
    (base, out): (&Path, &Path),
    run: &StudyRun<'_>,
) -> Result<StudyEnd<K>, StudyError> {
    run_opened(
        OpenedStudy::over((keys, world, Inputs::Unkept), (base, out), run)?,
        run,
    )
}

fn run_opened<K: StudyKind>(study: OpenedStudy<K>, run: &StudyRun<'_>) -> Result<StudyEnd<K>, StudyError> {
    if let Some(claims) = run.claims {
        return study.run_claimed(claims, run);
    }
    let held = StudyFolder::hold(&study.out, run.program)?;
    study.keep_header(run.progress)?;
    keep_plan(held.path(), &PlanLine::all(&study.plan, &study.decided)?)?;
    keep_unit_keys(held.path(), study.unit_keys())?;
    let failures = Failures::begin(held.path())?;
    let counted = register::count::<K>(held.path(), K::counted(&study.world).as_ref(), run.counts)?;
    let mut known = study.known(run)?;
    let steps = study.plan.iter().map(|unit| unit.steps).sum();
    run.progress.begin(steps, K::STEPS);
    let done = study
        .plan
        .iter()
        .filter(|unit| known.found.contains_key(&unit.id));
    run.progress.found(done.map(|unit| unit.steps).sum());
    study.tell_recorded(&known.found);
    study.tell(run);
    let (ran, failed) = study.run_missing(&mut known, (run, &failures))?;
    let finished = study.finish(&mut known, ran, failed.is_empty().then_some(counted))?;
    Ok(StudyEnd {
        finished,
        units: study.plan.len(),
        failed,
        found: known.found,
        world: study.world,
    })
}

impl<K: StudyKind> OpenedStudy<K> {
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
        let pace = |unit: &Planned<K::Unit>| {
            let agent = agent_of::<K>(&keys, unit).unwrap_or_default();
            UnitPace::new(agent.to_owned(), unit.steps)
        };
        Ok(Self {
            decided: Decided::of::<K>(&world, run.program),
            pace: Pace::of(plan.iter().map(pace).collect()),
            sends: Mutex::new(FollowedSends::of(out)),
            keys,
            world,
            plan,
            base: base.to_owned(),
            out: out.to_owned(),
            inputs,
        })
    }

    /// A study that is recorded, over the world that it was recorded over.
    pub(crate) fn recorded(
        (out, moved): (&Path, MovedFiles<'_>),
        run: &StudyRun<'_>,
    ) -> Result<Self, StudyError> {
        let mut header = read_header::<K>(out)?;
        if let Some(panel) = moved.panel {
            let own = K::panel(&mut header.keys).ok_or_else(|| {
                let what = format!("{}: the study names no panel file", out.join(STUDY).display());
                StudyError::input(what, "leave `--panel` out")
            })?;
            *own = std::path::absolute(panel).map_err(FileError::io("find", panel))?;
        }
        let known = known_base(out)?;
        let base = moved.base.unwrap_or(&known);
        if let Some(panel) = K::panel(&mut header.keys).map(|own| base.join(own))
            && !panel.exists()
        {
            return Err(StudyError::input(
                format_args!("{}: the panel of the study is not there", panel.display()),
                match moved.panel {
                    Some(_) => "give --panel the path of the file as it is seen from here",
                    None => {
                        "name where it lies now with --panel, or with --base the folder that the paths of its file start from"
                    }
                },
            ));
        }
        let inputs = Inputs::kept(out, header.inputs);
        let at = opening((base, out), &inputs, run);
        let world = K::open_recorded(&header.keys, &at, &header.decides)?;
        if let Some(panel) = K::panel(&mut header.keys)
            && let Some([now, recorded]) = K::other_panel(&world, &header.decides)
        {
            return Err(StudyError::input(
                format_args!(
                    "{}: the panel's hash is {now}, but the study ran over {recorded}",
                    base.join(panel).display()
                ),
                "name the panel that it ran over with --panel",
            ));
        }
        // Another program may come to the same bytes: the record is compared under the name of its own.
        let own = StudyRun {
            program: &header.program,
            ..*run
        };
        let study = Self::over((header.keys, world, inputs), (base, out), &own)?;
        if study.decided.decides == header.decides {
            return Ok(study);
        }
        let changed = told_differences(&header.decides, &study.decided.decides)?;
        let what = format!(
            "{}: what the study ran over is another now: {changed}",
            out.join(STUDY).display()
        );
        // What another program runs over is no difference of the study.
        Err(match made_by_another(&header.program, run.program) {
            Some(another) => StudyError::input(
                format_args!("{another}: {what}"),
                "check it with the program that made it",
            ),
            None => StudyError::difference(
                what,
                "name where its files lie with --base, or its panel with --panel",
            ),
        })
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

    pub(crate) fn known(&self, run: &StudyRun<'_>) -> Result<Known, StudyError> {
        let mut known = Known {
            lines: UnitLines::open(&self.out)?,
            index: UnitIndex::open(&self.out)?,
            found: BTreeMap::new(),
            refused: BTreeMap::new(),
        };
        for unit in &self.plan {
            let found = self.found_of(unit, &mut known)?;
            let found = match found {
                Some(found) if run.retries_lost && K::is_lost(&of_raw(&unit.id, &found)?) => {
                    self.put_aside(unit, run)?;
                    None
                }
                found => found,
            };
            // What came of others is only known with them.
            let is_after_known = unit.after.iter().all(|id| known.found.contains_key(id));
            if let Some(found) = found.filter(|_| is_after_known) {
                known.found.insert(unit.id.clone(), found);
            }
        }
        self.forget_what_stands_not(&mut known.found);
        Ok(known)
    }

    /// What a unit came to, where it is finished.
    pub(crate) fn found_of(
        &self,
        unit: &Planned<K::Unit>,
        known: &mut Known,
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        match unit.keep {
            Keep::Line => self.found_of_line(unit, &known.lines),
            Keep::Folder => known.index.found(unit, (&self.folder(unit)?, K::ASKS)),
            Keep::Own => self.found_of_own(unit, known),
        }
    }

    /// Takes out what is to be made again before anything new is built of it, with all that came of it.
    fn forget_what_stands_not(&self, found: &mut BTreeMap<UnitId, Box<RawValue>>) {
        // What comes of a unit stands after it in the plan.
        let units = self.plan.iter().rev();
        for unit in units.filter(|unit| !K::stands_alone(&self.world, &unit.unit)) {
            let mut later = self.plan.iter().filter(|later| later.after.contains(&unit.id));
            if later.any(|later| !found.contains_key(&later.id)) {
                found.remove(&unit.id);
            }
        }
        for unit in &self.plan {
            if unit.after.iter().any(|id| !found.contains_key(id)) {
                found.remove(&unit.id);
            }
        }
    }

    /// Moves the record of a unit out of the way, so that it is run again.
    fn put_aside(&self, unit: &Planned<K::Unit>, run: &StudyRun<'_>) -> Result<(), StudyError> {
        let folder = match unit.keep {
            Keep::Own => self.own_folder(unit)?.0,
            Keep::Folder | Keep::Line => self.out.join(UNITS).join(unit.id.as_str()),
        };
        let moved = set_aside(&folder)?;
        let what = format!("running it again; what was lost is now {}", moved.display());
        run.progress.notice(unit.id.as_str(), &what);
        Ok(())
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
            .filter(|unit| !known.found.contains_key(&unit.id) && !known.refused.contains_key(&unit.id))
            .collect();
        K::begin(&self.world, missing.len())?;
        let keyed = (&self.keys, &self.world);
        let asking = Asking::open::<K>(keyed, &self.plan, &missing, (&self.base, &self.out))?;
        let mut ran = Vec::new();
        let mut failed: Vec<_> = std::mem::take(&mut known.refused).into_iter().collect();
        while !missing.is_empty() {
            let is_ready =
                |unit: &&Planned<K::Unit>| unit.after.iter().all(|id| known.found.contains_key(id));
            let (ready, later): (Vec<_>, Vec<_>) = missing.into_iter().partition(is_ready);
            missing = later;
            if ready.is_empty() {
                break;
            }
            let ends = self.with_at_once((ready.len(), run), |at_once, inner| {
                all_at_once(
                    &ready,
                    |unit| unit.key.as_ref(),
                    at_once,
                    run,
                    |unit| {
                        let running = self.run_unit(unit, (&*known, &asking), (run, inner));
                        let running = AssertUnwindSafe(running).catch_unwind();
                        running.map(|ended| {
                            let ended = ended.unwrap_or_else(|panic| Err(StudyError::of_panic(&panic)));
                            ended.inspect_err(|error| {
                                // What a signal ends goes on, and has not failed.
                                if !*run.told_to_end.borrow() {
                                    failures.note(&unit.id, error);
                                    self.tell_failure(unit, error, run);
                                }
                            })
                        })
                    },
                )
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

    /// Tells at once what ended a unit without a result; of an agent the first such unit.
    fn tell_failure(&self, unit: &Planned<K::Unit>, error: &StudyError, run: &StudyRun<'_>) {
        if !error.is_waiting() {
            let who = agent_of::<K>(&self.keys, unit).unwrap_or(unit.id.as_str());
            let told = format!("{} ended without a result: {error}", unit.id);
            run.progress.failed(who, &told);
        }
    }

    /// Closes what ran, and reports all where all is finished.
    pub(crate) fn finish(
        &self,
        known: &mut Known,
        ran: Vec<UnitLine>,
        counted: Option<usize>,
    ) -> Result<Option<(K::Summary, Report)>, StudyError> {
        // What has just run is read back: the report is of records alone, also the first time.
        for unit in &self.plan {
            match unit.keep {
                Keep::Line => {}
                Keep::Folder => {
                    known.index.found(unit, (&self.folder(unit)?, K::ASKS))?;
                }
                // It has just compared what it closed.
                Keep::Own => self.close_own(unit, known)?,
            }
        }
        known.index.write()?;
        let Some(counted) = counted.filter(|_| known.found.len() == self.plan.len()) else {
            return Ok(None);
        };
        known.lines.close(&self.plan, ran)?;
        let (summary, report) = self.concluded(&known.found, counted)?;
        write_report(&self.out, &summary, &report)?;
        self.inputs.open_secret(&self.out)?;
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

pub(crate) const fn opening<'o>(
    (base, out): (&'o Path, &'o Path),
    inputs: &'o Inputs,
    run: &StudyRun<'o>,
) -> Opening<'o> {
    Opening {
        base,
        out,
        threads: run.threads,
        program: Some(run.program),
        inputs,
    }
}
