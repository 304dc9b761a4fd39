//! How far each agent of a study is: its units and steps, what it was asked, what that cost, and how long it still takes.

use crate::followed_sends::FollowedSends;
use crate::noted_unit::{Charged, NotedUnit, Work};
use crate::own_format::EarlyUnitEnd;
use crate::recent_sends::SendSum;
use crate::spent_money::SpentMoney;
use ktd_client::money::KeyName;
use ktd_experiment::amount::Picodollars;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, counted, duration};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How far the units of an agent are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct AgentStatus {
    /// Its id.
    pub agent: String,
    /// Its units.
    pub units: usize,
    /// Those with a result.
    pub finished: usize,
    /// Those that were begun and have no result yet.
    pub open: usize,
    /// Steps of all its units.
    pub steps: u64,
    /// Those that are over. From outside the run, of an open unit those in which a request was answered.
    pub steps_done: u64,
    /// Steps that nobody plays any more, by why: their agent was `withdrawn`, or was `stopped` by a rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub steps_given_up: BTreeMap<String, u64>,
    /// Steps of finished units that were lost to the infrastructure.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_lost: u64,
    /// Requests that were sent and came to an end.
    pub asked: u64,
    /// Those of them that were not answered with success.
    pub faults: u64,
    /// Those of them that had been sent before.
    pub retries: u64,
    /// Seconds for which nobody may use its key: its provider is busy, or does not answer. Left out where it does not pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_seconds: Option<u64>,
    /// What was spent on it.
    pub spent: SpentMoney,
    /// What of that was spent in units without a result.
    pub spent_open: SpentMoney,
    /// Whether a price is missing, so that nobody knows what was spent. Documents say it once, of the whole study.
    #[serde(skip)]
    pub is_unpriced: bool,
    /// Seconds until its last step, at its pace; left out where no step tells one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// How far a run is, agent by agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSoFar {
    /// Its agents in the order of the plan.
    pub agents: Vec<AgentStatus>,
    /// Agents that wait for their turn at a key whose rate is used up. Only the process that asks knows it.
    pub waits_for_rate: Vec<String>,
    /// Steps in all.
    pub steps: u64,
    /// Those that are over.
    pub steps_done: u64,
    /// Those that nobody plays any more, by why.
    pub steps_given_up: BTreeMap<String, u64>,
    /// What everything in the folder was charged, at most; none where nobody was asked, or a price is not known.
    pub spent: Option<Picodollars>,
    /// What may be spent.
    pub cap: Option<Picodollars>,
    /// Seconds until the last step of the last agent; none while one that has work left tells no pace.
    pub seconds_left: Option<u64>,
}

/// How far the agents of units are at a moment, milliseconds since 1970, in the order of the units.
pub(crate) fn agent_states(units: &[NotedUnit], sends: &FollowedSends, now_ms: i64) -> Vec<AgentStatus> {
    let pauses = pauses(sends, now_ms);
    let mut agents: Vec<&str> = Vec::new();
    for agent in units.iter().filter_map(|unit| unit.agent.as_deref()) {
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    let state = |agent: &str| {
        let own = || units.iter().filter(|unit| unit.agent.as_deref() == Some(agent));
        let (mut sum, mut charged) = (SendSum::default(), Charged::default());
        let mut spent_open = SpentMoney::default();
        let mut paused_until = None;
        for unit in own() {
            let of_unit = unit.charged(sends);
            charged.add(of_unit);
            if !unit.is_finished {
                spent_open.add_spent(of_unit.spent);
            }
            let Some(sent) = unit.folders().find_map(|folder| sends.of_record(folder)) else {
                continue;
            };
            for (key, of_key) in &sent.by_key {
                sum.add(of_key);
                if !unit.is_finished {
                    paused_until = paused_until.max(pauses.get(key).copied());
                }
            }
        }
        let work = Work::of(own(), sends);
        AgentStatus {
            agent: agent.to_owned(),
            units: own().count(),
            finished: own().filter(|unit| unit.is_finished).count(),
            open: own().filter(|unit| unit.is_open).count(),
            steps: own().map(|unit| unit.steps).sum(),
            steps_done: work.steps_done,
            steps_given_up: given_up(own().filter_map(|unit| Some((unit.early_end.as_ref()?, unit.steps)))),
            steps_lost: own().map(|unit| unit.lost_steps).sum(),
            asked: sum.asked,
            faults: sum.asked - sum.answered,
            retries: sum.retries,
            waiting_seconds: paused_until.map(|until| seconds(until - now_ms)),
            spent: charged.spent,
            spent_open,
            is_unpriced: charged.is_unpriced,
            seconds_left: work.seconds_left(now_ms),
        }
    };
    agents.into_iter().map(state).collect()
}

/// Until when nobody may use each key, of those that pause.
fn pauses(sends: &FollowedSends, now_ms: i64) -> BTreeMap<&KeyName, i64> {
    let mut keys = BTreeMap::<&KeyName, SendSum>::new();
    for (_, record) in sends.all() {
        for (key, of_key) in &record.by_key {
            keys.entry(key).or_default().add(of_key);
        }
    }
    let paused = keys.into_iter();
    paused
        .filter_map(|(key, sum)| Some((key, sum.paused_until(now_ms)?)))
        .collect()
}

/// Steps of units that ended early, beyond their ends, by why.
pub(crate) fn given_up<'e>(ended: impl Iterator<Item = (&'e EarlyUnitEnd, u64)>) -> BTreeMap<String, u64> {
    let mut given_up = BTreeMap::new();
    for (end, steps) in ended.filter(|(end, steps)| end.steps < *steps) {
        *given_up.entry(end.why.clone()).or_default() += steps - end.steps;
    }
    given_up
}

/// Those of all agents together.
pub(crate) fn all_given_up(agents: &[AgentStatus]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (why, steps) in agents.iter().flat_map(|agent| &agent.steps_given_up) {
        *all.entry(why.clone()).or_default() += steps;
    }
    all
}

/// `27 withdrawn`, a text each reason.
fn told_given_up(given_up: &BTreeMap<String, u64>) -> impl Iterator<Item = String> {
    given_up.iter().map(|(why, steps)| format!("{steps} {why}"))
}

/// Asked by serde, which gives a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn seconds(milliseconds: i64) -> u64 {
    u64::try_from(milliseconds).unwrap_or(0).div_ceil(1_000)
}

/// How long agents that work beside each other still take; none while one that has units left tells no pace.
pub(crate) fn longest<'a>(agents: impl Iterator<Item = &'a AgentStatus>) -> Option<u64> {
    let mut longest = None;
    for agent in agents.filter(|agent| agent.finished < agent.units) {
        longest = longest.max(Some(agent.seconds_left?));
    }
    longest
}

impl RunSoFar {
    /// All of it in a line: `412/1200 steps, 12 min left, $0.2966 of $5.00, 3 faults`.
    #[must_use]
    pub fn line(&self, unit: &str) -> String {
        let mut parts = vec![format!("{}/{} {unit}", self.steps_done, self.steps)];
        parts.extend(told_given_up(&self.steps_given_up));
        let over = self.steps_done + self.steps_given_up.values().sum::<u64>();
        parts.extend(time_left(self.seconds_left, over < self.steps));
        if let Some(spent) = self.spent {
            let cap = self.cap.map(|cap| format!(" of {cap}"));
            parts.push(format!("{spent}{}", cap.unwrap_or_default()));
        }
        let sum = |of: fn(&AgentStatus) -> u64| self.agents.iter().map(of).sum();
        parts.extend(troubles(sum(|agent| agent.faults), sum(|agent| agent.retries)));
        let waiting = self.agents.iter();
        let waiting = waiting.filter(|agent| agent.waiting_seconds.is_some()).count();
        if 0 < waiting {
            parts.push(format!("{} waiting", counted(waiting, "agent")));
        }
        parts.join(", ")
    }

    /// A line an agent: `gpt  200/600 steps, 11 min left, $0.2100, 2 faults, waits 40 s`.
    #[must_use]
    pub fn agent_lines(&self, unit: &str) -> Vec<String> {
        let names = self.agents.iter().map(|agent| agent.agent.chars().count());
        let width = names.max().unwrap_or(0);
        let line = |agent: &AgentStatus| {
            let mut parts = vec![format!("{}/{} {unit}", agent.steps_done, agent.steps)];
            parts.extend(told_given_up(&agent.steps_given_up));
            parts.extend(time_left(agent.seconds_left, agent.finished < agent.units));
            if 0 < agent.asked && !agent.is_unpriced {
                parts.push(Picodollars(agent.spent.at_most_picodollars).to_string());
            }
            parts.extend(troubles(agent.faults, agent.retries));
            if let Some(wait) = agent.waiting_seconds {
                parts.push(format!("waits {}", duration(wait)));
            } else if self.waits_for_rate.contains(&agent.agent) {
                parts.push("waits for its key".to_owned());
            }
            format!("{:width$}  {}", agent.agent, parts.join(", "))
        };
        self.agents.iter().map(line).collect()
    }
}

/// How long something still takes that has work left: nothing where it tells no pace.
fn time_left(seconds: Option<u64>, has_work: bool) -> Option<String> {
    let seconds = seconds.filter(|seconds| has_work && 0 < *seconds)?;
    Some(format!("{} left", duration(seconds)))
}

fn troubles(faults: u64, retries: u64) -> Vec<String> {
    let told = |count: u64, noun: &str| {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        (0 < count).then(|| counted(count, noun))
    };
    let retried = |count: u64| match count {
        0 => None,
        1 => Some("1 retry".to_owned()),
        count => Some(format!("{count} retries")),
    };
    told(faults, "fault")
        .into_iter()
        .chain(retried(retries))
        .collect()
}

/// A line each agent.
pub(crate) fn table(agents: &[AgentStatus]) -> TableData {
    let money = |agent: &AgentStatus, amount: u64| {
        if agent.is_unpriced {
            return TableCell::Missing("a price is missing".to_owned());
        }
        TableCell::Text(Picodollars(amount).to_string())
    };
    let count = |count: u64| TableCell::Count(count.try_into().unwrap_or(usize::MAX));
    let spell =
        |seconds: Option<u64>| seconds.map_or(TableCell::Empty, |seconds| TableCell::Text(duration(seconds)));
    let mut table = RowTable::new("Agents", agents)
        .column(("agent", Left, 0), |agent| TableCell::Text(agent.agent.clone()))
        .column(("units", Right, 2), |agent| TableCell::Count(agent.units))
        .column(("finished", Right, 1), |agent| TableCell::Count(agent.finished))
        .column(("open", Right, 2), |agent| TableCell::Count(agent.open))
        .column(("steps", Right, 3), |agent| count(agent.steps))
        .column(("over", Right, 3), |agent| count(agent.steps_done));
    if agents.iter().any(|agent| !agent.steps_given_up.is_empty()) {
        table = table.column(("given up", Right, 1), |agent| {
            let told: Vec<String> = told_given_up(&agent.steps_given_up).collect();
            TableCell::Text(told.join(", "))
        });
    }
    if agents.iter().any(|agent| 0 < agent.steps_lost) {
        table = table.column(("lost", Right, 1), |agent| count(agent.steps_lost));
    }
    table
        .column(("faults", Right, 1), |agent| count(agent.faults))
        .column(("retries", Right, 4), |agent| count(agent.retries))
        .column(("waits", Right, 1), |agent| spell(agent.waiting_seconds))
        .column(("at most", Right, 1), |agent| {
            money(agent, agent.spent.at_most_picodollars)
        })
        .column(("in open units", Right, 5), |agent| {
            money(agent, agent.spent_open.at_most_picodollars)
        })
        .column(("time left", Right, 0), |agent| spell(agent.seconds_left))
        .table()
}
