//! How far a study is.

use crate::agent_status::{self, AgentStatus, RunSoFar, agent_states, all_given_up, longest};
use crate::failures::{FailedUnit, read_failures};
use crate::followed_sends::FollowedSends;
use crate::identity::{known_base, read_header};
use crate::key_status::{self, KeyStatus, key_states};
use crate::kind::{Keep, StudyKind};
use crate::noted_unit::{Charged, NotedUnit};
use crate::own_format::OwnFormat;
use crate::recorded_units::{ClosedRecords, RecordedUnits, UnitState};
use crate::report::{Report, Section, Shown};
use crate::report_files::SUMMARY;
use crate::spent_money::SpentMoney;
use crate::study_file::command_of;
use crate::unit_folder::UNITS;
use crate::unit_id::some_names;
use crate::unit_keys::{UnitKey, read_unit_keys};
use crate::{StudyError, UnitId};
use ktd_asking::{AGENT_FILE, AgentFile};
use ktd_client::AskedModel;
use ktd_client::money::{KeyName, Scope};
use ktd_experiment::amount::Picodollars;
use ktd_io::lock::FileLock;
use ktd_record::RecordPaths;
use ktd_record::budget_file::BudgetFile;
use ktd_record::spending::{Cost, Spending};
use ktd_view::draw::Align::Left;
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How far a study is, read while another process may be writing it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StudyStatus {
    /// Its name.
    pub study: String,
    /// Its kind.
    pub kind: String,
    /// Its folder.
    pub folder: String,
    /// Units in all.
    pub units: usize,
    /// Units with a result.
    pub finished: usize,
    /// Units that were begun and have no result yet.
    pub open: Vec<UnitId>,
    /// How many units nothing is recorded of.
    pub not_begun: usize,
    /// Units that ended without a result in the last run, and have none since.
    pub failed: Vec<FailedUnit>,
    /// What to type to run again the units of which every step was lost to the infrastructure; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_lost: Option<String>,
    /// Whether the report of all units stands.
    pub is_reported: bool,
    /// What was asked.
    pub requests: RequestCounts,
    /// What was spent; left out where a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<SpentMoney>,
    /// What may be spent; left out where the study has no cap of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap_picodollars: Option<u64>,
    /// How far each agent is, in the order of the plan; none of a study without agents.
    pub agents: Vec<AgentStatus>,
    /// How far each key is.
    pub keys: Vec<KeyStatus>,
    /// Whether a process writes the folder now.
    pub is_running: bool,
    /// What to type to go on.
    pub next: String,
}

/// Requests of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RequestCounts {
    /// Requests that were sent, or were about to be.
    pub asked: u64,
    /// Those that a reply is known of.
    pub answered: u64,
}

/// Study in a folder that is looked at again and again, while another process may be writing it. Nothing is written.
#[derive(Debug)]
pub struct StudyWatch {
    folder: PathBuf,
    /// What goes on with it.
    command: String,
    study: String,
    kind: String,
    /// The kind's own format of records.
    own: Option<OwnFormat>,
    models: Vec<AskedModel>,
    cap: Option<Picodollars>,
    sends: FollowedSends,
    /// Units whose sends have all been read.
    settled: BTreeSet<UnitId>,
    closed: ClosedRecords,
}

impl StudyWatch {
    /// The study in a folder.
    ///
    /// # Errors
    /// [`StudyError`] for a folder without a study of this kind.
    pub fn open<K: StudyKind>(folder: &Path) -> Result<Self, StudyError> {
        let header = read_header::<K>(folder)?;
        let base = known_base(folder)?;
        // Prices that cannot be read leave costs unknown, and are no reason to say nothing.
        let models = K::asking(&header.keys).and_then(|settings| settings.models(&base).ok());
        Ok(Self {
            folder: folder.to_owned(),
            command: command_of::<K>(folder, &base, &header),
            study: header.name,
            kind: header.kind,
            own: K::OWN,
            models: models.map_or_else(Vec::new, |(models, _)| models),
            cap: K::caps(&header.keys).experiment,
            sends: FollowedSends::of(folder),
            settled: BTreeSet::new(),
            closed: ClosedRecords::default(),
        })
    }

    /// What goes on with it.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// How far it is now. Of logs that grow only what is new is read.
    ///
    /// # Errors
    /// [`StudyError`] for files that cannot be read.
    pub fn look(&mut self) -> Result<StudyStatus, StudyError> {
        let folder = self.folder.clone();
        // Asked first: who has just ended has written all that is read now.
        let is_running = FileLock::is_held(&folder)?;
        let now_ms = now_ms();
        let recorded = RecordedUnits::read_beside(&folder, self.own, &mut self.closed)?;
        let mut units = self.noted(&recorded)?;
        let open = units.iter().filter(|unit| !self.settled.contains(&unit.id));
        let open = open.flat_map(NotedUnit::folders);
        self.sends.read_on(open, (now_ms, is_running))?;
        for (unit, (planned, state)) in units.iter_mut().zip(&recorded.0) {
            unit.spending = self.spending(unit, (planned.model, state))?;
        }
        let finished = units.iter().filter(|unit| unit.is_finished);
        self.settled = finished.map(|unit| unit.id.clone()).collect();
        let charged = self.charged(&units);
        let missing = recorded.missing();
        let mut failed = read_failures(&folder)?;
        failed.retain(|failed| missing.contains(&failed.unit));
        let is_reported = missing.is_empty() && folder.join(SUMMARY).is_file();
        let mut agents = agent_states(&units, &self.sends, now_ms);
        let mut keys = key_states(&units, &self.sends, now_ms);
        if !is_running {
            // Nobody works on what is left, and a pace would fall with the clock.
            let agents = agents.iter_mut().map(|agent| &mut agent.seconds_left);
            let left = agents.chain(keys.iter_mut().map(|key| &mut key.seconds_left));
            left.for_each(|left| *left = left.filter(|left| *left == 0));
        }
        let open = units.iter().filter(|unit| unit.is_open);
        let open: Vec<UnitId> = open.map(|unit| unit.id.clone()).collect();
        Ok(StudyStatus {
            study: self.study.clone(),
            kind: self.kind.clone(),
            folder: folder.display().to_string(),
            units: units.len(),
            finished: units.len() - missing.len(),
            not_begun: missing.len() - open.len(),
            open,
            failed,
            retry_lost: units
                .iter()
                .any(NotedUnit::is_lost)
                .then(|| format!("{} --retry-lost", self.command)),
            is_reported,
            requests: RequestCounts {
                asked: charged.asked,
                answered: charged.answered,
            },
            spent: (!charged.is_unpriced).then_some(charged.spent),
            cap_picodollars: self.cap().map(|Picodollars(cap)| cap),
            agents,
            keys,
            is_running,
            next: if is_reported {
                format!("ktd report {}", folder.display())
            } else {
                self.command.clone()
            },
        })
    }

    /// What may be spent: by the run that is under way, or by the file.
    fn cap(&self) -> Option<Picodollars> {
        let Some(budget) = BudgetFile::find(&self.folder) else {
            return self.cap;
        };
        let whole = Scope::Experiment.to_string();
        let own = budget.caps.into_iter().find(|cap| cap.scope == whole);
        own.map(|cap| cap.cap_picodollars)
    }

    /// The units of the plan with what the owner's folder notes of them.
    fn noted(&self, recorded: &RecordedUnits) -> Result<Vec<NotedUnit>, StudyError> {
        let notes = read_unit_keys(&self.folder)?.into_iter();
        let mut notes: BTreeMap<UnitId, UnitKey> = notes.map(|note| (note.unit.clone(), note)).collect();
        let noted = recorded.0.iter().map(|(unit, state)| {
            let note = notes.remove(&unit.id);
            let id = unit.id.as_str();
            let places = match (unit.keep, self.own) {
                (Keep::Folder, _) => vec![self.folder.join(UNITS).join(id)],
                (Keep::Own, Some(own)) => own.places(&self.folder, &unit.id).to_vec(),
                (Keep::Own | Keep::Line, _) => Vec::new(),
            };
            let is_finished = matches!(state, UnitState::Finished(_));
            let own = self.own.filter(|_| unit.keep == Keep::Own);
            let found = match state {
                UnitState::Finished(recorded) => Some(&recorded.found),
                UnitState::Open(_) | UnitState::NotBegun => None,
            };
            let ended = own.zip(found);
            let steps_over = |own: OwnFormat| places.iter().map(|place| (own.steps_over)(place)).max();
            NotedUnit {
                id: unit.id.clone(),
                key: note.as_ref().and_then(UnitKey::name),
                steps: note.as_ref().map_or(1, |note| note.steps),
                agent: note.and_then(|note| note.agent),
                early_end: ended.and_then(|(own, found)| (own.early_end)(found)),
                lost_steps: ended.map_or(0, |(own, found)| (own.lost_steps)(found)),
                recorded_steps: own.filter(|_| !is_finished).and_then(steps_over).unwrap_or(0),
                is_finished,
                spending: None,
                is_open: !is_finished && places.iter().any(|place| place.is_dir()),
                places,
            }
        });
        Ok(noted.collect())
    }

    /// What the record of a unit says that it cost: of a finished one, and of an open one that logs no sends.
    fn spending(
        &self,
        unit: &NotedUnit,
        (model, state): (Option<usize>, &UnitState),
    ) -> Result<Option<Spending>, StudyError> {
        let mut is_logged = unit
            .folders()
            .map(|folder| self.sends.of_record(folder).is_some());
        let mut spending = match state {
            UnitState::Finished(recorded) => recorded.spent.clone(),
            UnitState::Open(root) if !is_logged.any(|is_logged| is_logged) => {
                spent_so_far(root, model.and_then(|place| self.models.get(place)))?
            }
            UnitState::Open(_) | UnitState::NotBegun => None,
        };
        if let Some(own) = spending
            .as_mut()
            .filter(|_| unit.key.as_ref().is_some_and(KeyName::is_of_programs))
        {
            own.cost = Some(Cost::default());
        }
        Ok(spending)
    }

    /// What was asked and charged: of all units, and of everything else that was sent.
    fn charged(&self, units: &[NotedUnit]) -> Charged {
        let (mut charged, mut counted) = (Charged::default(), BTreeSet::new());
        for unit in units {
            charged.add(unit.charged(&self.sends));
            counted.extend(unit.folders());
        }
        let others = self.sends.all().filter(|(record, _)| !counted.contains(record));
        others.for_each(|(_, sends)| charged.add_log(sends));
        charged
    }
}

/// How far the study in a folder is. Nothing is locked and nothing is written.
///
/// # Errors
/// [`StudyError`] for a folder without a study of this kind, or whose files cannot be read.
pub fn study_status<K: StudyKind>(folder: &Path) -> Result<StudyStatus, StudyError> {
    StudyWatch::open::<K>(folder)?.look()
}

/// The machine's clock, milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl StudyStatus {
    /// The same agent by agent, as a run tells it.
    #[must_use]
    pub fn so_far(&self) -> RunSoFar {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let sum = |of: fn(&AgentStatus) -> u64, else_units: usize| {
            if self.agents.is_empty() {
                count(else_units)
            } else {
                self.agents.iter().map(of).sum()
            }
        };
        RunSoFar {
            agents: self.agents.clone(),
            waits_for_rate: Vec::new(),
            steps: sum(|agent| agent.steps, self.units),
            steps_done: sum(|agent| agent.steps_done, self.finished),
            steps_given_up: all_given_up(&self.agents),
            spent: self
                .spent
                .filter(|_| 0 < self.requests.asked)
                .map(|spent| Picodollars(spent.at_most_picodollars)),
            cap: self.cap_picodollars.map(Picodollars),
            seconds_left: longest(self.agents.iter()),
        }
    }

    /// How many units are finished, open and not begun, and of what study.
    #[must_use]
    pub fn verdict(&self) -> String {
        format!(
            "{}, a study of kind {}: of {} units {} are finished, {} open, {} not begun.",
            self.study,
            self.kind,
            self.units,
            self.finished,
            self.open.len(),
            self.not_begun
        )
    }

    /// What ended units without a result: some of their names, and the first of those that the same ended but for its numbers.
    #[must_use]
    pub fn failures(&self) -> Vec<(String, &FailedUnit)> {
        let mut failures: Vec<(Vec<UnitId>, &FailedUnit)> = Vec::new();
        for failed in &self.failed {
            let alike = |(_, known): &&mut (Vec<UnitId>, &FailedUnit)| {
                without_numbers(&known.error) == without_numbers(&failed.error) && known.hint == failed.hint
            };
            match failures.iter_mut().find(alike) {
                Some((units, _)) => units.push(failed.unit.clone()),
                None => failures.push((vec![failed.unit.clone()], failed)),
            }
        }
        let named = failures.into_iter();
        named
            .map(|(units, failed)| (some_names(&units), failed))
            .collect()
    }

    /// The status for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let line = |head: &str, text: String| vec![TableCell::Text(head.to_owned()), TableCell::Text(text)];
        let mut lines = Vec::new();
        if !self.open.is_empty() {
            lines.push(line("open", some_names(&self.open)));
        }
        if 0 < self.requests.asked {
            let RequestCounts { asked, answered } = self.requests;
            lines.push(line("requests", format!("{asked} asked, {answered} answered")));
            let spent = self.spent.map_or_else(
                || "unknown: a price is missing".to_owned(),
                |spent| {
                    let [paid, most] = [spent.paid_picodollars, spent.at_most_picodollars].map(Picodollars);
                    let cap = self.cap_picodollars.map(Picodollars);
                    let cap = cap.map_or_else(String::new, |cap| format!(", of {cap} that may be spent"));
                    format!("{paid} paid, {most} at most{cap}")
                },
            );
            lines.push(line("spent", spent));
        }
        let lost = self.agents.iter().map(|agent| agent.steps_lost).sum::<u64>();
        if 0 < lost {
            lines.push(line("lost", format!("{lost} steps to infrastructure faults")));
        }
        if let Some(command) = &self.retry_lost {
            lines.push(line(
                "once more",
                format!("{command}    # units of which every step was lost"),
            ));
        }
        lines.push(if self.is_running {
            line(
                "runs",
                "a process is writing it now: --watch follows it".to_owned(),
            )
        } else {
            let first = if self.failed.is_empty() {
                ""
            } else {
                "    # after the fix below"
            };
            line("to go on", format!("{}{first}", self.next))
        });
        // One below the other: beside each other, neither fits a terminal.
        let failed = self.failures().into_iter().flat_map(|(names, failed)| {
            let rows = [
                ["units", names.as_str()],
                ["ended by", failed.error.as_str()],
                ["fix", failed.hint.as_str()],
            ];
            rows.map(|cells| cells.map(|text| TableCell::Text(text.to_owned())).to_vec())
        });
        let heads = [
            ("", Left),
            ("what ended the first of them, and how to fix it", Left),
        ];
        let failed =
            TableData::new("Units that ended without a result in the last run", heads).with_rows(failed);
        let so_far = TableData::new("", [("", Left), ("", Left)]).with_rows(lines);
        Report {
            title: self.study.clone(),
            verdict: self.verdict(),
            sections: vec![
                Section::new("So far").table("so_far", so_far, Shown::Everywhere),
                Section::new("Agents").table("agents", agent_status::table(&self.agents), Shown::Everywhere),
                Section::new("Keys").table("keys", key_status::table(&self.keys), Shown::Everywhere),
                Section::new("Failed").table("failed", failed, Shown::Everywhere),
            ],
            ..Report::default()
        }
    }
}

fn without_numbers(error: &str) -> String {
    error.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// What an open unit has cost so far, at the prices of today.
fn spent_so_far(root: &Path, model: Option<&AskedModel>) -> Result<Option<Spending>, StudyError> {
    let Some(agent) = crate::json_file::read_as::<AgentFile>(&root.join(AGENT_FILE))? else {
        return Ok(None);
    };
    let unpriced = agent.model("", 0);
    let tariff = &model.unwrap_or(&unpriced).payer.tariff;
    Ok(Some(Spending::of(&RecordPaths::new(root).exchanges(), tariff)?))
}
