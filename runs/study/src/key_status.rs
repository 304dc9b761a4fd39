//! How far each key of a study is: what it was asked, what it waits for, what it cost, and how long it still takes.

use crate::send_logs::each_send;
use crate::spent_money::SpentMoney;
use crate::unit_keys::{UnitKey, read_unit_keys};
use crate::{StudyError, UnitId};
use chrono::{DateTime, SecondsFormat, Utc};
use ktd_client::money::KeyName;
use ktd_experiment::amount::Picodollars;
use ktd_record::send_log::SendLine;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, duration};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The span whose pace tells how long a key still takes, milliseconds.
const PACE_MS: i64 = 10 * 60 * 1_000;

/// How far a key is, by the private logs of sends: requests that came to an end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct KeyStatus {
    /// The name of its environment variable, or the path of its file; empty where none is sent.
    pub key: String,
    /// The address that is asked with it.
    pub base_url: String,
    /// Requests that were sent.
    pub asked: u64,
    /// Those that were answered with success.
    pub answered: u64,
    /// The others.
    pub faults: u64,
    /// Requests answered with success in the last ten minutes.
    pub answered_lately: u64,
    /// Until when nobody may use it, UTC; left out where it does not pause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_until: Option<String>,
    /// What was spent with it.
    pub spent: SpentMoney,
    /// What of that was spent in units without a result.
    pub spent_open: SpentMoney,
    /// Units that wait for it, and have no result.
    pub units_left: usize,
    /// Seconds until their last step, at the pace of the last ten minutes; left out where no step ended in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_left: Option<u64>,
}

/// How far the keys of a study are at a moment, milliseconds since 1970.
pub(crate) fn key_states(
    folder: &Path,
    finished: &BTreeSet<UnitId>,
    now_ms: i64,
) -> Result<Vec<KeyStatus>, StudyError> {
    let (mut keys, mut units) = (BTreeMap::<KeyName, Sends>::new(), BTreeMap::new());
    for unit in read_unit_keys(folder)? {
        keys.entry(unit.name()).or_default();
        units.insert(unit.unit.clone(), (unit, Steps::default()));
    }
    each_send(folder, |record, send| {
        let name = KeyName {
            key: send.key.clone(),
            base_url: send.base_url.clone(),
        };
        let id = record
            .file_name()
            .map(|name| UnitId::from(name.to_string_lossy().into_owned()));
        let is_open = id.as_ref().is_some_and(|id| !finished.contains(id));
        let Some(at_ms) = milliseconds(&send.at) else {
            return;
        };
        keys.entry(name).or_default().add(send, (at_ms, now_ms), is_open);
        if let Some((_, steps)) = id.and_then(|id| units.get_mut(&id)) {
            steps.add(send, (at_ms, now_ms));
        }
    })?;
    let state = |(name, sends): (KeyName, Sends)| {
        let own: Vec<&(UnitKey, Steps)> = units.values().filter(|(unit, _)| unit.name() == name).collect();
        sends.status(name, &Work::of(&own, finished), now_ms)
    };
    Ok(keys.into_iter().map(state).collect())
}

fn is_success(send: &SendLine) -> bool {
    matches!(send.outcome.parse::<u16>(), Ok(200..=299))
}

/// When a line says that it was sent; none of a line that says no time.
fn milliseconds(at: &str) -> Option<i64> {
    Some(DateTime::parse_from_rfc3339(at).ok()?.timestamp_millis())
}

/// What was sent with a key.
#[derive(Default)]
struct Sends {
    asked: u64,
    answered: u64,
    answered_lately: u64,
    spent: SpentMoney,
    spent_open: SpentMoney,
    /// When the last answer came, and until when nobody might use the key from then on.
    last: Option<(i64, Option<i64>)>,
    /// When the first of the last ten minutes was sent.
    first_lately_ms: Option<i64>,
}

impl Sends {
    fn add(&mut self, send: &SendLine, (at_ms, now_ms): (i64, i64), is_open: bool) {
        let is_success = is_success(send);
        self.asked += 1;
        self.answered += u64::from(is_success);
        self.spent.add(send);
        if is_open {
            self.spent_open.add(send);
        }
        if now_ms - PACE_MS <= at_ms {
            self.answered_lately += u64::from(is_success);
            self.first_lately_ms = Some(self.first_lately_ms.map_or(at_ms, |first| first.min(at_ms)));
        }
        let ended_ms = at_ms.saturating_add_unsigned(send.latency_ms);
        let until = send
            .paused_ms
            .map(|paused| ended_ms.saturating_add_unsigned(paused));
        if self.last.is_none_or(|(last, _)| last <= ended_ms) {
            self.last = Some((ended_ms, until));
        }
    }

    fn status(self, name: KeyName, work: &Work, now_ms: i64) -> KeyStatus {
        let until = self
            .last
            .and_then(|(_, until)| until)
            .filter(|until| now_ms < *until);
        let lasted_ms = self.first_lately_ms.map(|first| now_ms.saturating_sub(first));
        KeyStatus {
            key: name.key,
            base_url: name.base_url,
            asked: self.asked,
            answered: self.answered,
            faults: self.asked - self.answered,
            answered_lately: self.answered_lately,
            waiting_until: until
                .and_then(DateTime::<Utc>::from_timestamp_millis)
                .map(|until| until.to_rfc3339_opts(SecondsFormat::Secs, true)),
            spent: self.spent,
            spent_open: self.spent_open,
            units_left: work.units_left,
            seconds_left: lasted_ms.and_then(|lasted_ms| work.seconds_left(lasted_ms)),
        }
    }
}

/// The last step of a unit in which somebody answered, and that before the last ten minutes.
#[derive(Default)]
struct Steps {
    last: u64,
    before: u64,
}

impl Steps {
    fn add(&mut self, send: &SendLine, (at_ms, now_ms): (i64, i64)) {
        if !is_success(send) {
            return;
        }
        let step = u64::try_from(send.step).unwrap_or(u64::MAX);
        self.last = self.last.max(step);
        if at_ms < now_ms - PACE_MS {
            self.before = self.before.max(step);
        }
    }

    /// Steps of so many that are over: the last one may still be under way.
    fn over(&self, steps: u64, is_finished: bool) -> u64 {
        if is_finished {
            steps
        } else {
            self.last.saturating_sub(1).min(steps)
        }
    }

    /// Those of them that ended in the last ten minutes.
    fn over_lately(&self, steps: u64, is_finished: bool) -> u64 {
        if self.last == self.before {
            return 0;
        }
        let before = self.before.saturating_sub(1).min(steps);
        self.over(steps, is_finished).saturating_sub(before)
    }
}

/// What the units of a key have done and have to do.
struct Work {
    units_left: usize,
    steps_left: u64,
    /// Steps that ended in the last ten minutes.
    steps_lately: u64,
}

impl Work {
    fn of(units: &[&(UnitKey, Steps)], finished: &BTreeSet<UnitId>) -> Self {
        let mut work = Self {
            units_left: 0,
            steps_left: 0,
            steps_lately: 0,
        };
        for (unit, steps) in units {
            let is_finished = finished.contains(&unit.unit);
            work.units_left += usize::from(!is_finished);
            work.steps_left += unit.steps.saturating_sub(steps.over(unit.steps, is_finished));
            work.steps_lately += steps.over_lately(unit.steps, is_finished);
        }
        work
    }

    fn seconds_left(&self, lasted_ms: i64) -> Option<u64> {
        let lasted_ms = u64::try_from(lasted_ms).ok()?;
        let left_ms = self
            .steps_left
            .saturating_mul(lasted_ms)
            .checked_div(self.steps_lately)?;
        Some(left_ms.div_ceil(1_000))
    }
}

fn name(key: &KeyStatus) -> KeyName {
    KeyName {
        key: key.key.clone(),
        base_url: key.base_url.clone(),
    }
}

/// A line each key.
pub(crate) fn table(keys: &[KeyStatus]) -> TableData {
    let money = |amount: u64| TableCell::Text(Picodollars(amount).to_string());
    let count = |count: u64| TableCell::Count(count.try_into().unwrap_or(usize::MAX));
    let text = |text: &str| TableCell::Text(text.to_owned());
    RowTable::new("Keys", keys)
        .column(("key", Left, 0), |key| text(name(key).label()))
        .column(("address", Left, 3), |key| text(&key.base_url))
        .column(("asked", Right, 2), |key| count(key.asked))
        .column(("answered", Right, 4), |key| count(key.answered))
        .column(("faults", Right, 1), |key| count(key.faults))
        .column(("waiting until", Left, 0), |key| {
            key.waiting_until.as_deref().map_or(TableCell::Empty, text)
        })
        .column(("paid", Right, 1), |key| money(key.spent.paid_picodollars))
        .column(("at most", Right, 4), |key| money(key.spent.at_most_picodollars))
        .column(("in open units", Right, 5), |key| {
            money(key.spent_open.at_most_picodollars)
        })
        .column(("units left", Right, 2), |key| TableCell::Count(key.units_left))
        .column(("time left", Right, 0), |key| {
            let left = key.seconds_left;
            left.map_or(TableCell::Empty, |seconds| TableCell::Text(duration(seconds)))
        })
        .table()
}
