//! How far each key of a study is: what it was asked, what it waits for, what it cost, and how long it still takes.

use crate::followed_sends::FollowedSends;
use crate::noted_unit::{NotedUnit, Work};
use crate::recent_sends::SendSum;
use crate::spent_money::SpentMoney;
use chrono::{DateTime, SecondsFormat, Utc};
use ktd_client::money::KeyName;
use ktd_experiment::amount::Picodollars;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, duration};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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
pub(crate) fn key_states(units: &[NotedUnit], sends: &FollowedSends, now_ms: i64) -> Vec<KeyStatus> {
    let mut keys = BTreeMap::<KeyName, (SendSum, SpentMoney)>::new();
    for unit in units {
        if let Some(key) = unit.key.clone() {
            keys.entry(key).or_default();
        }
    }
    let open = units.iter().filter(|unit| !unit.is_finished);
    let open: BTreeSet<&Path> = open.flat_map(NotedUnit::folders).collect();
    for (record, sends) in sends.all() {
        for (key, sends) in &sends.by_key {
            let (sum, spent_open) = keys.entry(key.clone()).or_default();
            sum.add(sends);
            if open.contains(record) {
                spent_open.add_spent(sends.spent());
            }
        }
    }
    let state = |(name, (sum, spent_open)): (KeyName, (SendSum, SpentMoney))| {
        let own = units.iter().filter(|unit| unit.key.as_ref() == Some(&name));
        let work = Work::of(own, sends);
        KeyStatus {
            asked: sum.asked,
            answered: sum.answered,
            faults: sum.asked - sum.answered,
            answered_lately: sum.answered_lately,
            waiting_until: sum
                .paused_until(now_ms)
                .and_then(DateTime::<Utc>::from_timestamp_millis)
                .map(|until| until.to_rfc3339_opts(SecondsFormat::Secs, true)),
            spent: sum.spent,
            spent_open,
            units_left: work.units_left,
            seconds_left: work.seconds_left(now_ms),
            key: name.key,
            base_url: name.base_url,
        }
    };
    keys.into_iter().map(state).collect()
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
