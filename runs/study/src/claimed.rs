//! Running the units of a study that somebody hands out, beside processes on other machines.
//!
//! A unit is run by the same code as on one machine, into the same folder. What processes would write together, such as the index and
//! the report, is written by none of them while units run: whoever finds everything finished reports, as a run does that has nothing
//! left to do. Two never write one record: a lock file a unit stands before it, besides the lease.

use crate::asking::Asking;
use crate::claims::{Claimable, UnitClaims, UnitEnd, UnitLease};
use crate::index::UnitIndex;
use crate::kind::{Keep, Planned, StudyKind};
use crate::register;
use crate::schedule::all_at_once;
use crate::study::{Known, OpenedStudy};
use crate::study_run::{StudyEnd, StudyRun};
use crate::unit_lines::{UnitLine, UnitLines};
use crate::{StudyError, UnitId};
use futures::FutureExt;
use futures::future::{Either, select};
use ktd_client::money::KeyName;
use ktd_client::money::shared::{opened_with, paid_by};
use ktd_io::FileError;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::create_private;
use ktd_record::study_folder::StudyFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How a unit ended that was handed out; none where there was no unit.
type Ended = Option<(UnitId, Result<(), StudyError>)>;

/// What a unit runs with that was handed out.
struct Pass<'p> {
    claims: &'p dyn UnitClaims,
    run: &'p StudyRun<'p>,
    /// The same, which is never told to end: what waits for an answer ends at its next call instead, which is not paid any more.
    patient: &'p StudyRun<'p>,
    known: &'p Known,
    asking: &'p Asking,
    /// Keys for which nothing waits any more: whoever hands out units is asked once, and not for each place.
    empty: Mutex<BTreeSet<Option<KeyName>>>,
}

impl Pass<'_> {
    fn empty(&self) -> MutexGuard<'_, BTreeSet<Option<KeyName>>> {
        self.empty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: StudyKind> OpenedStudy<K> {
    /// Runs what it is handed until nothing is left, and reports where all is finished.
    pub(crate) fn run_claimed(
        self,
        claims: &dyn UnitClaims,
        run: &StudyRun<'_>,
    ) -> Result<StudyEnd<K>, StudyError> {
        let _shared = StudyFolder::share(&self.out, run.program)?;
        self.check_kept_header()?;
        create_private(&self.out.join("private").join("leases"))?;
        let (_tell, never) = watch::channel(false);
        let patient = StudyRun {
            told_to_end: &never,
            ..*run
        };
        let mut opened: Option<Asking> = None;
        let mut failed: BTreeMap<UnitId, StudyError> = BTreeMap::new();
        loop {
            match run.tasks.block_on(claims.look())? {
                Claimable::Nothing => break,
                Claimable::Later(wait) => {
                    run.tasks.block_on(async { tokio::time::sleep(wait).await });
                    continue;
                }
                Claimable::Now => {}
            }
            let known = self.known_beside(claims.worker())?;
            let asking = match opened.take() {
                Some(asking) => asking,
                None => opened_with(claims.accounts(), || self.begin(&known))?,
            };
            let pass = Pass {
                claims,
                run,
                patient: &patient,
                known: &known,
                asking: &asking,
                empty: Mutex::default(),
            };
            for (id, ended) in self.pass(&pass) {
                match ended {
                    Ok(()) => failed.remove(&id),
                    Err(error) => failed.insert(id, error),
                };
            }
            opened = Some(asking);
        }
        self.finish_claimed(failed, run)
    }

    fn begin(&self, known: &Known) -> Result<Asking, StudyError> {
        let missing = |unit: &&Planned<K::Unit>| !known.found.contains_key(&unit.id);
        let missing: Vec<_> = self.plan.iter().filter(missing).collect();
        K::begin(&self.world, missing.len())?;
        let keyed = (&self.keys, &self.world);
        Asking::open::<K>(keyed, &self.plan, &missing, (&self.base, &self.out))
    }

    /// What is finished, where others finish units at this moment.
    fn known_beside(&self, worker: &str) -> Result<Known, StudyError> {
        let mut known = Known {
            lines: UnitLines::of_worker(&self.out, worker)?,
            index: UnitIndex::of_worker(&self.out, worker)?,
            found: BTreeMap::new(),
            refused: BTreeMap::new(),
        };
        for unit in &self.plan {
            if let Some(found) = self.found_of(unit, &mut known)? {
                known.found.insert(unit.id.clone(), found);
            }
        }
        Ok(known)
    }

    /// Runs units as they are handed out, until none is.
    fn pass(&self, pass: &Pass<'_>) -> Vec<(UnitId, Result<(), StudyError>)> {
        // A place stands for one more unit of its key, whichever that is. One a key is for those that are finished here while whoever
        // hands them out was not told, because it did not answer then.
        let mut told = BTreeSet::new();
        let has_place = |unit: &&Planned<K::Unit>| {
            !pass.known.found.contains_key(&unit.id) || told.insert(unit.key.clone())
        };
        let places: Vec<_> = self.plan.iter().filter(has_place).collect();
        let ends = self.with_at_once((places.len(), pass.run), |at_once, inner| {
            all_at_once(
                &places,
                |unit| unit.key.as_ref(),
                at_once,
                pass.run,
                |unit| self.run_next(unit.key.as_ref(), pass, inner),
            )
        });
        ends.into_iter().flatten().collect()
    }

    /// Runs the next unit that waits for a key, or for none.
    async fn run_next(&self, key: Option<&KeyName>, pass: &Pass<'_>, threads: usize) -> Ended {
        if pass.empty().contains(&key.cloned()) {
            return None;
        }
        let lease = match pass.claims.next(key).await {
            Ok(Some(lease)) => lease,
            Ok(None) => {
                pass.empty().insert(key.cloned());
                return None;
            }
            Err(error) => return Some((UnitId::from(String::new()), Err(error))),
        };
        let id = lease.unit().clone();
        let running = AssertUnwindSafe(self.run_leased(lease.as_ref(), pass, threads)).catch_unwind();
        let ended = running.await;
        let ended = ended.unwrap_or_else(|panic| Err(StudyError::of_panic(&panic)));
        let told = match &ended {
            Ok(true) => UnitEnd::Done,
            Ok(false) => UnitEnd::Held,
            Err(error) => UnitEnd::Failed(error),
        };
        let told = lease.end(told).await;
        match ended {
            Ok(false) => None,
            Ok(true) => Some((id, told)),
            Err(error) => Some((id, Err(error))),
        }
    }

    /// Runs a unit while it is this process's; whether it could be begun.
    async fn run_leased(
        &self,
        lease: &dyn UnitLease,
        pass: &Pass<'_>,
        threads: usize,
    ) -> Result<bool, StudyError> {
        let Some(unit) = self.plan.iter().find(|unit| unit.id == *lease.unit()) else {
            let what = format!("the study has no unit {}", lease.unit());
            return Err(StudyError::input(what, "enqueue it again"));
        };
        let path = self.out.join("private").join("leases").join(unit.id.as_str());
        let _writes = match FileLock::take(&path, &self.out) {
            // Whoever had it stands still, or has just been told that it is not its any more.
            Err(FileError::Busy { .. }) => return Ok(false),
            taken => taken?,
        };
        lease.prepare().await?;
        if pass.known.found.contains_key(&unit.id) || unit.keep != Keep::Line && self.is_closed(unit)? {
            return Ok(true);
        }
        let run = if unit.key.is_some() || unit.model.is_some() {
            pass.patient
        } else {
            pass.run
        };
        let running = self.run_unit(unit, (pass.known, pass.asking), (run, threads));
        let running = paid_by(lease.accounts(), running);
        match select(pin!(running), lease.lost()).await {
            Either::Left((ended, _)) => ended.map(|_: UnitLine| true),
            Either::Right((why, _)) => Err(why),
        }
    }

    /// Whether a worker closed the record that died before it could say so.
    fn is_closed(&self, unit: &Planned<K::Unit>) -> Result<bool, StudyError> {
        let mut now = Known {
            lines: UnitLines::none(&self.out),
            index: UnitIndex::none(),
            found: BTreeMap::new(),
            refused: BTreeMap::new(),
        };
        let found = self.found_of(unit, &mut now)?;
        now.refused.remove(&unit.id).map_or(Ok(found.is_some()), Err)
    }

    /// Reports, where every unit is finished and nobody else does.
    fn finish_claimed(
        self,
        failed: BTreeMap<UnitId, StudyError>,
        run: &StudyRun<'_>,
    ) -> Result<StudyEnd<K>, StudyError> {
        let reports = match FileLock::take(&self.out.join("private").join("report.lock"), &self.out) {
            Err(FileError::Busy { .. }) => None,
            taken => Some(taken?),
        };
        let (mut finished, mut found) = (None, BTreeMap::new());
        if reports.is_some() {
            let mut known = self.known(run)?;
            if known.found.len() == self.plan.len() {
                let counted = register::counted(&self.out, K::counted(&self.world).as_ref())?;
                finished = self.finish(&mut known, Vec::new(), Some(counted))?;
            }
            found = known.found;
        }
        Ok(StudyEnd {
            finished,
            units: self.plan.len(),
            failed: failed.into_iter().collect(),
            found,
            world: self.world,
        })
    }
}
