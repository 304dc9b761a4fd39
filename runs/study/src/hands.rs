//! What a running unit may use.

use crate::line_files::{LineFiles, LineMode, LineSink};
use crate::unit_id::of_raw;
use crate::works::Works;
use crate::{StudyError, StudyProgress, UnitId};
use ktd_asking::{Answerer, AskedRecord};
use ktd_record::chain::Log;
use ktd_record::spending::Spending;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Whom a unit tells how far it is, its threads, and what the units came to that are finished.
pub(crate) type Given<'h> = (&'h dyn StudyProgress, usize, &'h BTreeMap<UnitId, Box<RawValue>>);

/// A unit that comes after no other knows of none.
static NOTHING: BTreeMap<UnitId, Box<RawValue>> = BTreeMap::new();

/// Hands of one unit: events, questions, works and files of its record. The same calls write a record, continue one that was
/// killed, and compare one that is made again; a unit cannot tell which.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub struct Hands<'h, E> {
    pub(crate) log: Option<Log>,
    pub(crate) works: Works,
    pub(crate) asked: Option<AskedRecord<'h>>,
    pub(crate) answerer: Option<&'h Answerer>,
    /// What a closed record says that it cost, which hangs on prices that it does not hold.
    pub(crate) spent: Option<Spending>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) lines: LineFiles,
    /// Where a record lies whose format is the kind's own.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) progress: &'h dyn StudyProgress,
    pub(crate) advanced: AtomicU64,
    pub(crate) threads: usize,
    /// What the units came to that this one comes after.
    pub(crate) before: &'h BTreeMap<UnitId, Box<RawValue>>,
    pub(crate) event: PhantomData<fn(&E)>,
}

impl<'h, E: Serialize> Hands<'h, E> {
    /// Hands that record nothing: every work is made.
    #[must_use]
    pub fn unrecorded(progress: &'h dyn StudyProgress, threads: usize) -> Self {
        Self {
            log: None,
            works: Works::unkept(),
            asked: None,
            answerer: None,
            spent: None,
            files: BTreeMap::new(),
            lines: LineFiles::new(None, LineMode::Written),
            folder: None,
            progress,
            advanced: AtomicU64::default(),
            threads,
            before: &NOTHING,
            event: PhantomData,
        }
    }

    /// Adds a line to the events, or compares it with the recorded one. A unit whose record is a line has none.
    ///
    /// # Errors
    /// [`StudyError`] where the record has another line here, or it cannot be written.
    pub fn event(&mut self, event: &E) -> Result<(), StudyError> {
        if let Some(log) = &mut self.log {
            log.append(event)?;
        }
        Ok(())
    }

    /// The conversations with the unit's model.
    ///
    /// # Errors
    /// [`StudyError`] for a unit that was planned without a model.
    pub fn asked(&self) -> Result<&AskedRecord<'h>, StudyError> {
        self.asked.as_ref().ok_or_else(|| {
            StudyError::input(
                "the unit asks nobody",
                "this is a defect of the program: report it",
            )
        })
    }

    /// Who answers what is not recorded; none where a record is made again.
    #[must_use]
    pub const fn answerer(&self) -> Option<&'h Answerer> {
        self.answerer
    }

    /// What the unit's questions cost so far. Tokens and requests are counted from the exchanges; prices are in no record, so
    /// that a record that is made again says what it said.
    ///
    /// # Errors
    /// [`StudyError`] for a unit that asks nobody, and exchanges that cannot be read.
    pub fn spending(&self) -> Result<Spending, StudyError> {
        match &self.spent {
            Some(spent) => Ok(spent.clone()),
            None => Ok(self.asked()?.spending()?),
        }
    }

    /// What a long computation gives: recorded once by the hash of `name` and `input`, which must hold all that it depends on
    /// beside what decides the unit.
    ///
    /// # Errors
    /// Those of `make`, which are not kept; [`StudyError`] where the record lacks the work, or comes to something else.
    pub fn work<I: Serialize, O: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        input: &I,
        make: impl FnOnce() -> Result<O, StudyError>,
    ) -> Result<O, StudyError> {
        let made = self
            .works
            .works(name, std::slice::from_ref(input), |_| Ok(vec![make()?]))?;
        // One input has one output.
        made.into_iter()
            .next()
            .ok_or_else(|| StudyError::input(format_args!("the work {name} gives nothing"), ""))
    }

    /// What computations of one name give, each recorded by the hash of its own input. `make` is called once, with the places
    /// of those that must be made, and gives them in that order.
    ///
    /// # Errors
    /// Those of [`Self::work`].
    pub fn works<I: Serialize, O: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        inputs: &[I],
        make: impl FnOnce(&[usize]) -> Result<Vec<O>, StudyError>,
    ) -> Result<Vec<O>, StudyError> {
        self.works.works(name, inputs, make)
    }

    /// Writes a file of lines as they come: below the folder of the record, or below that of the study where the record is a
    /// line. Where a record is made again from its works, the file is taken as it is and `fill` is not called; else each line
    /// is compared. SHA-256 of the file.
    ///
    /// # Errors
    /// Those of `fill`; [`StudyError`] naming the first line that differs, and for a file that cannot be written or read.
    pub fn lines(
        &self,
        name: &str,
        fill: impl FnOnce(&mut LineSink<'_>) -> Result<(), StudyError>,
    ) -> Result<String, StudyError> {
        self.lines.lines(name, fill)
    }

    /// Adds a file to the record, below its folder or that of the study: written when the unit is finished.
    pub fn file(&mut self, name: impl Into<String>, bytes: Vec<u8>) {
        self.files.insert(name.into(), bytes);
    }

    /// Says that so many steps of the unit are done.
    pub fn advance(&self, steps: u64) {
        self.progress().advance(steps);
    }

    /// Whom the unit tells how far it is, for what it calls.
    #[must_use]
    pub fn progress(&self) -> UnitProgress<'_> {
        UnitProgress {
            study: self.progress,
            advanced: &self.advanced,
        }
    }

    /// Where the unit keeps its record, whose format is the kind's own.
    ///
    /// # Errors
    /// [`StudyError`] for a unit that was planned otherwise.
    pub fn folder(&self) -> Result<&Path, StudyError> {
        self.folder.as_deref().ok_or_else(|| {
            StudyError::input(
                "the unit keeps no record of its own",
                "this is a defect of the program: report it",
            )
        })
    }

    /// What a unit came to that this one comes after.
    ///
    /// # Errors
    /// [`StudyError`] for a unit that it was not planned to come after.
    pub fn found<F: DeserializeOwned>(&self, id: &UnitId) -> Result<F, StudyError> {
        let found = self.before.get(id).ok_or_else(|| {
            StudyError::input(
                format_args!("the unit does not come after {id}"),
                "this is a defect of the program: report it",
            )
        })?;
        of_raw(id, found)
    }

    /// How many threads the unit may use for itself.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.threads
    }

    /// Says the steps that the unit has not said itself: of one that says its steps they fall away.
    pub(crate) fn advance_to(&self, steps: u64) {
        let advanced = self.advanced.load(Ordering::Relaxed);
        let left = steps.saturating_sub(advanced);
        if advanced == 0 {
            self.progress.advance(left);
        } else {
            self.progress.found(left);
        }
    }
}

/// Listener that is told how far one unit is.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds a callback")]
pub struct UnitProgress<'u> {
    study: &'u dyn StudyProgress,
    advanced: &'u AtomicU64,
}

impl UnitProgress<'_> {
    /// So many more steps of the unit are done.
    pub fn advance(&self, steps: u64) {
        self.advanced.fetch_add(steps, Ordering::Relaxed);
        self.study.advance(steps);
    }

    /// So many steps of the unit were done by an earlier run.
    pub fn found(&self, steps: u64) {
        self.advanced.fetch_add(steps, Ordering::Relaxed);
        self.study.found(steps);
    }

    /// What whoever waits should know at once; see [`StudyProgress::notice`].
    pub fn notice(&self, who: &str, what: &str) {
        self.study.notice(who, what);
    }

    /// What has just changed for all that wait; see [`StudyProgress::news`].
    pub fn news(&self, what: &str) {
        self.study.news(what);
    }
}
