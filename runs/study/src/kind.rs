//! What a kind of study says of itself.

use crate::counted_run::CountedRun;
use crate::figures_apart::difference_beyond;
use crate::opening::Opening;
use crate::own_format::OwnFormat;
use crate::unit_requests::UnitRequests;
use crate::{Hands, Report, StudyError, UnitId, UnitProgress};
use futures::future::LocalBoxFuture;
use ktd_asking::{Answerer, AskingSettings};
use ktd_client::AskedModel;
use ktd_client::money::KeyName;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Kind of study: its keys, its units, how one unit runs over a recorded world, and what all of them come to. It has no file,
/// thread, task, clock or lock of its own: those of the study serve it.
pub trait StudyKind: Sized + Send + Sync + 'static {
    /// `kind = "..."` of its file.
    const NAME: &'static str;
    /// What is typed before the file to run it, such as `ktd leak run`.
    const COMMAND: &'static str;
    /// The version of its records. Records of another one are refused by name.
    const FORMAT: u32;
    /// What its units consist of, for a progress bar, in the plural.
    const STEPS: &'static str;
    /// Whether what some units came to can be reported while others are missing.
    const REPORTS_PARTS: bool = false;
    /// Whether units may ask somebody.
    const ASKS: bool = false;
    /// How far figures of a work that two machines make may lie apart, as a share of the larger one or of 1; none where they may not.
    const FIGURES_APART: Option<f64> = None;
    /// Where [`StudyKind::decides`] says the hash of the panel, as a JSON pointer.
    const PANEL_HASH: Option<&'static str> = None;
    /// Keys that say where files lie whose content the record says, as JSON pointers.
    const PLACES: &'static [&'static str] = &[];
    /// The format in which units of [`Keep::Own`] are recorded.
    const OWN: Option<OwnFormat> = None;

    /// The keys of its file.
    type Keys: DeserializeOwned + Serialize + Send + Sync;
    /// What its units run over, read once: panels, tasks, texts.
    type World: Send + Sync;
    /// What decides one unit beside the world.
    type Unit: Serialize + Send + Sync;
    /// A line of the events of a unit that has a folder.
    type Event: Serialize + Send + Sync;
    /// What a unit came to.
    type Found: Serialize + DeserializeOwned + Send;
    /// What all units came to: `report.json`.
    type Summary: Serialize + DeserializeOwned + JsonSchema;

    /// The name of a study.
    fn name(keys: &Self::Keys) -> &str;

    /// The results directory that its file names, relative to the file (default: `results/NAME` where the command runs).
    fn output(_keys: &Self::Keys) -> Option<&Path> {
        None
    }

    /// The panel file that its file names, which may lie elsewhere when a record is made again; none where it names none.
    fn panel(_keys: &mut Self::Keys) -> Option<&mut PathBuf> {
        None
    }

    /// What goes on with a study whose file names no kind, and what stands behind the file that no file says: of what
    /// [`Self::decides`] said of its world, of its recorded keys, and of those of its file where it is known.
    #[must_use]
    fn goes_on_with(_: &serde_json::Value, _: &Self::Keys, _: Option<&Self::Keys>) -> (&'static str, String) {
        (Self::COMMAND, String::new())
    }

    /// Whether the keys go together.
    ///
    /// # Errors
    /// [`StudyError`] naming the key.
    fn check(keys: &Self::Keys) -> Result<(), StudyError>;

    /// Who is asked and at what cost, where a model is.
    fn asking(_keys: &Self::Keys) -> Option<AskingSettings<'_>> {
        None
    }

    /// What may be spent.
    fn caps(keys: &Self::Keys) -> Caps {
        Self::asking(keys).map_or_else(Caps::default, |settings| settings.budget.clone())
    }

    /// Who answers for a built-in agent of the kind's own; none for a model at its endpoint, or a program.
    fn answerer(_world: &Self::World, _asked: &AskedModel) -> Option<Answerer> {
        None
    }

    /// How many units run at once, where the kind says so. Else as many as the run has threads, and of those that wait for a key
    /// as many as it bears.
    fn at_once(_keys: &Self::Keys) -> Option<usize> {
        None
    }

    /// Memory that the process may have while units begin that wait for a key, megabytes.
    fn memory_megabytes(_keys: &Self::Keys) -> u64 {
        u64::MAX
    }

    /// Whether somebody waits for a key, its rate or its endpoint, so that another unit would only wait behind.
    fn is_waited_for(_world: &Self::World, _key: &KeyName) -> bool {
        false
    }

    /// How long nobody may use a key: its provider is busy, or nobody answers there.
    fn paused_for(_world: &Self::World, _key: &KeyName) -> Option<Duration> {
        None
    }

    /// What counts as spent of the cap of a run that is under way, where the kind keeps the account.
    fn spent_of_cap(_world: &Self::World) -> Option<Picodollars> {
        None
    }

    /// Reads the world.
    ///
    /// # Errors
    /// [`StudyError`] for what cannot be read.
    fn open(keys: &Self::Keys, at: &Opening<'_>) -> Result<Self::World, StudyError>;

    /// Reads the world of a record that is made again. `recorded` is what [`Self::decides`] said then: what a machine alone
    /// can say, such as the packages of its box, is taken from there, and proven where a work is made again.
    ///
    /// # Errors
    /// [`StudyError`] as [`Self::open`].
    fn open_recorded(
        keys: &Self::Keys,
        at: &Opening<'_>,
        _recorded: &serde_json::Value,
    ) -> Result<Self::World, StudyError> {
        Self::open(keys, at)
    }

    /// Reads the world to plan the units, of which none will run. `recorded` is what [`Self::decides`] said of a study that is begun.
    ///
    /// # Errors
    /// [`StudyError`] as [`Self::open`].
    fn open_planned(
        keys: &Self::Keys,
        at: &Opening<'_>,
        recorded: Option<&serde_json::Value>,
    ) -> Result<Self::World, StudyError> {
        match recorded {
            Some(recorded) => Self::open_recorded(keys, at, recorded),
            None => Self::open(keys, at),
        }
    }

    /// All that decides every unit beside itself, the program and the format: hashes of what was read, settings.
    fn decides(world: &Self::World) -> serde_json::Value;

    /// The hash of the panel that was opened and that of the recorded one, where they differ: what would be compared over another panel
    /// says nothing of the record.
    fn other_panel(world: &Self::World, recorded: &serde_json::Value) -> Option<[String; 2]> {
        let (place, now) = (Self::PANEL_HASH?, Self::decides(world));
        let [now, recorded] = [&now, recorded].map(|decides| decides.pointer(place));
        let told = |hash: &serde_json::Value| hash.as_str().map_or_else(|| hash.to_string(), str::to_owned);
        let (now, recorded) = now.zip(recorded).filter(|(now, recorded)| now != recorded)?;
        Some([now, recorded].map(told))
    }

    /// What this run is counted as, where it must be counted whatever becomes of it: it is written before a unit runs, once for
    /// each value that a folder, or another one of this user over the same data, has seen.
    fn counted(_world: &Self::World) -> Option<CountedRun> {
        None
    }

    /// Whether a run of another folder over the same data counts beside this one.
    #[must_use]
    fn is_counted_with(_own: &serde_json::Value, _other: &serde_json::Value) -> bool {
        true
    }

    /// Adds how many values of [`StudyKind::counted`] the folder has seen.
    fn add_count(_summary: &mut Self::Summary, _counted: usize) {}

    /// The units in the order of the report.
    ///
    /// # Errors
    /// [`StudyError`] for keys that ask for none.
    fn units(keys: &Self::Keys, world: &Self::World) -> Result<Vec<Planned<Self::Unit>>, StudyError>;

    /// What a unit asks its agent, where that can be said before anybody is asked.
    fn requests(_world: &Self::World, _unit: &Self::Unit, _agent: &AgentConfig) -> Option<UnitRequests> {
        None
    }

    /// Makes ready what only units need that are to be run: accounts, endpoints, tables. It is called once in a run, before
    /// the first of the `missing` ones.
    ///
    /// # Errors
    /// [`StudyError`] for what keeps all of them from being run.
    fn begin(_world: &Self::World, _missing: usize) -> Result<(), StudyError> {
        Ok(())
    }

    /// Runs a unit from its start. What is recorded of it comes from the hands.
    fn run<'a>(
        world: &'a Self::World,
        unit: &'a Self::Unit,
        hands: &'a mut Hands<'_, Self::Event>,
    ) -> LocalBoxFuture<'a, Result<Self::Found, StudyError>>;

    /// Fails where the folder holds a record of a unit in a format of the kind's own that is of other settings, finished or not.
    ///
    /// # Errors
    /// [`StudyError`] that says what differs.
    fn check_begun(_world: &Self::World, _unit: &Self::Unit, _folder: &Path) -> Result<(), StudyError> {
        Ok(())
    }

    /// What a unit of [`Keep::Own`] came to that is closed: its files are compared with what closes them.
    ///
    /// # Errors
    /// [`StudyError`] for the record of another unit, and for one that was changed.
    fn finished(_world: &Self::World, _unit: &Self::Unit, folder: &Path) -> Result<Self::Found, StudyError> {
        Err(StudyError::no_own_format(folder))
    }

    /// Makes a closed unit of [`Keep::Own`] again from its record with nobody to ask, and compares every byte.
    fn again<'a>(
        _world: &'a Self::World,
        _unit: &'a Self::Unit,
        (folder, _progress): (&'a Path, UnitProgress<'a>),
    ) -> LocalBoxFuture<'a, Result<Self::Found, StudyError>> {
        Box::pin(async move { Err(StudyError::no_own_format(folder)) })
    }

    /// Whether what is recorded of a unit stands where what comes of it, at once or later, has no record. Where it does not, it is run again:
    /// what is signed of it was then made by this program, whoever wrote the folder before.
    fn stands_alone(_world: &Self::World, _unit: &Self::Unit) -> bool {
        true
    }

    /// Whether the infrastructure took all of a finished unit away: it is run again where that is asked for.
    fn is_lost(_found: &Self::Found) -> bool {
        false
    }

    /// What the units came to, in the order of the plan.
    ///
    /// # Errors
    /// [`StudyError`] for records that do not go together.
    fn conclude(keys: &Self::Keys, found: Vec<(UnitId, Self::Found)>) -> Result<Self::Summary, StudyError>;

    /// The report of a summary, of the keys and of nothing else.
    ///
    /// # Errors
    /// [`StudyError`] for a summary that cannot be shown.
    fn report(keys: &Self::Keys, summary: &Self::Summary) -> Result<Report, StudyError>;

    /// Where two values of a work differ, a recorded one and one that was made again.
    #[must_use]
    fn difference(recorded: &str, made: &str) -> Option<String> {
        if let Some(apart) = Self::FIGURES_APART {
            return difference_beyond(apart, recorded, made);
        }
        (recorded != made).then(|| ktd_record::chain::first_difference(recorded, made))
    }
}

/// How a unit's record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// A line of `units.jsonl`: small units without a model, of which there are many. The line is its only work.
    Line,
    /// A folder below `units/`: a talk, events, works, made files.
    Folder,
    /// A folder in the format of [`StudyKind::OWN`], which the unit writes itself.
    Own,
}

/// A unit that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned<U> {
    /// Its name.
    pub id: UnitId,
    /// What decides it.
    pub unit: U,
    /// How its record is kept.
    pub keep: Keep,
    /// Units that must be finished before.
    pub after: Vec<UnitId>,
    /// The place of its model among those of [`StudyKind::asking`].
    pub model: Option<usize>,
    /// The id of its agent, where that is not the model's.
    pub agent: Option<String>,
    /// The key whose answers it waits for, where it does little else.
    pub key: Option<KeyName>,
    /// Steps of the progress bar.
    pub steps: u64,
    /// Whether its folder lies below `private/`: nothing of it may be seen before its owner opens it.
    pub is_private: bool,
}

impl<U> Planned<U> {
    /// A unit whose record is a line.
    #[must_use]
    pub fn line(id: String, unit: U) -> Self {
        Self {
            id: id.into(),
            unit,
            keep: Keep::Line,
            after: Vec::new(),
            model: None,
            agent: None,
            key: None,
            steps: 1,
            is_private: false,
        }
    }

    /// A unit whose record is a folder.
    #[must_use]
    pub fn folder(id: String, unit: U) -> Self {
        Self {
            keep: Keep::Folder,
            ..Self::line(id, unit)
        }
    }

    /// A unit whose record has a format of the kind's own.
    #[must_use]
    pub fn own(id: String, unit: U) -> Self {
        Self {
            keep: Keep::Own,
            ..Self::line(id, unit)
        }
    }

    /// The same, which asks the model at this place.
    #[must_use]
    pub fn asking(self, place: usize) -> Self {
        Self {
            model: Some(place),
            ..self
        }
    }

    /// The same, of an agent.
    #[must_use]
    pub fn by(self, agent: &str) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..self
        }
    }

    /// The same, which waits for the answers of a key.
    #[must_use]
    pub fn waiting_for(self, key: Option<KeyName>) -> Self {
        Self { key, ..self }
    }

    /// The same, which runs when these are finished.
    #[must_use]
    pub fn after(self, after: Vec<UnitId>) -> Self {
        Self { after, ..self }
    }

    /// The same, whose folder lies below `private/` where that is so.
    #[must_use]
    pub fn private(self, is_private: bool) -> Self {
        Self { is_private, ..self }
    }

    /// The same with so many steps of the progress bar.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }
}
