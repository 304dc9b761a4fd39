//! How far a run is, as the process that runs it knows: steps and their pace from itself, money and faults from the logs of sends.

use crate::UnitId;
use crate::agent_status::{AgentStatus, RunSoFar, agent_states, all_given_up, longest};
use crate::asking::agent_of;
use crate::kind::{Keep, Planned, StudyKind};
use crate::noted_unit::NotedUnit;
use crate::pace::PacedUnit;
use crate::recent_sends::SendSum;
use crate::status::now_ms;
use crate::study::OpenedStudy;
use crate::study_run::StudyRun;
use crate::unit_folder::UNITS;
use crate::unit_keys::UnitKey;
use ktd_experiment::amount::Picodollars;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

impl<K: StudyKind> OpenedStudy<K> {
    /// What the owner's folder notes of the units.
    pub(crate) fn unit_keys(&self) -> Vec<UnitKey> {
        let note = |unit| UnitKey::of(unit, agent_of::<K>(&self.keys, unit));
        self.plan.iter().map(note).collect()
    }

    /// Tells whoever listens how far the run is.
    pub(crate) fn tell(&self, run: &StudyRun<'_>) {
        run.progress.so_far(&self.out, &|| self.so_far());
    }

    /// Tells the pace what earlier runs have left.
    pub(crate) fn tell_recorded(&self, found: &BTreeMap<UnitId, Box<RawValue>>) {
        for (place, unit) in self.plan.iter().enumerate() {
            let own = K::OWN.filter(|_| unit.keep == Keep::Own);
            if let Some(found) = found.get(&unit.id) {
                self.pace.found(place);
                self.tell_early_end(place, found);
            } else {
                let folder = self.own_folder(unit).ok();
                let steps = own
                    .zip(folder)
                    .map(|(own, (folder, _))| (own.steps_over)(&folder));
                self.pace.recorded(place, steps.unwrap_or(0));
            }
        }
    }

    /// Tells the pace of a finished unit that ended before its last step.
    pub(crate) fn tell_early_end(&self, place: usize, found: &RawValue) {
        if let Some(end) = K::OWN.and_then(|own| (own.early_end)(found)) {
            self.pace.ended_early(place, end);
        }
    }

    /// The listener of a unit.
    pub(crate) fn paced<'p>(
        &'p self,
        unit: &Planned<K::Unit>,
        (run, tell): (&StudyRun<'p>, &'p (dyn Fn() + Sync)),
    ) -> PacedUnit<'p> {
        let own = self.plan.iter().position(|planned| planned.id == unit.id);
        let is_begun = unit.keep == Keep::Folder && self.out.join(UNITS).join(unit.id.as_str()).is_dir();
        PacedUnit {
            run: run.progress,
            pace: &self.pace,
            place: own.unwrap_or(usize::MAX),
            is_paced: !is_begun,
            tell,
        }
    }

    /// The units with where their records lie.
    fn noted(&self) -> Vec<NotedUnit> {
        let finished = self.pace.finished();
        let noted = self.plan.iter().zip(finished).map(|(unit, is_finished)| {
            let place = match unit.keep {
                Keep::Folder => Some(self.out.join(UNITS).join(unit.id.as_str())),
                Keep::Own => self.own_folder(unit).ok().map(|(folder, _)| folder),
                Keep::Line => None,
            };
            NotedUnit {
                id: unit.id.clone(),
                agent: agent_of::<K>(&self.keys, unit).map(str::to_owned),
                key: unit.key.clone(),
                steps: unit.steps,
                is_finished,
                // The pace tells it.
                is_open: false,
                early_end: None,
                lost_steps: 0,
                recorded_steps: 0,
                spending: None,
                places: place.into_iter().collect(),
            }
        });
        noted.collect()
    }

    /// How far the run is now. Logs that cannot be read leave money and faults out.
    fn so_far(&self) -> RunSoFar {
        let pace = self.pace.agents();
        let mut sends = self.sends.lock().unwrap_or_else(PoisonError::into_inner);
        let units = self.noted();
        sends
            .read_on(units.iter().flat_map(NotedUnit::folders), (now_ms(), true))
            .ok();
        let mut agents = agent_states(&units, &sends, now_ms());
        let mut waits_for_rate = Vec::new();
        for agent in &mut agents {
            let Some(own) = pace.get(&agent.agent) else {
                continue;
            };
            let (paused, is_waited_for) = self.waits(&agent.agent);
            if is_waited_for {
                waits_for_rate.push(agent.agent.clone());
            }
            *agent = AgentStatus {
                units: own.units,
                finished: own.finished,
                open: own.open,
                steps: own.steps,
                steps_done: own.steps_done,
                steps_given_up: own.steps_given_up.clone(),
                waiting_seconds: paused.or(agent.waiting_seconds).filter(|_| 0 < own.open),
                // While nobody may use its key no step ends.
                seconds_left: own
                    .time_left()
                    .map(|left| left.as_secs().saturating_add(paused.unwrap_or(0))),
                ..std::mem::take(agent)
            };
        }
        let mut sum = SendSum::default();
        for (_, record) in sends.all() {
            record.by_key.values().for_each(|sends| sum.add(sends));
        }
        let nobody = pace.get("");
        let seconds_left = match nobody.filter(|nobody| nobody.finished < nobody.units) {
            Some(others) if agents.is_empty() => others.time_left().map(|left| left.as_secs()),
            // Units of no agent wait for those of agents, and nothing tells how long they take.
            Some(others) if others.time_left().is_none() => None,
            Some(_) | None => longest(agents.iter()),
        };
        let sent = (0 < sum.asked && !sum.is_unpriced).then_some(Picodollars(sum.spent.at_most_picodollars));
        RunSoFar {
            steps: pace.values().map(|agent| agent.steps).sum(),
            steps_done: pace.values().map(|agent| agent.steps_done).sum(),
            steps_given_up: all_given_up(&agents),
            // What was sent before there were logs of sends counts all the same.
            spent: K::spent_of_cap(&self.world).max(sent),
            cap: K::caps(&self.keys).experiment,
            agents,
            waits_for_rate,
            seconds_left,
        }
    }

    /// How long nobody may use a key of the agent's units, seconds, and whether somebody waits for one: for its rate, or for calls under way.
    fn waits(&self, agent: &str) -> (Option<u64>, bool) {
        let own = self
            .plan
            .iter()
            .filter(|unit| agent_of::<K>(&self.keys, unit) == Some(agent));
        let keys: BTreeSet<_> = own.filter_map(|unit| unit.key.as_ref()).collect();
        let paused = keys
            .iter()
            .filter_map(|key| K::paused_for(&self.world, key))
            .max();
        let is_waited_for = keys.iter().any(|key| K::is_waited_for(&self.world, key));
        (paused.map(|paused| paused.as_secs().max(1)), is_waited_for)
    }
}
