//! Counts of what attackers recovered, from how their answers compare with the answer keys.

use super::attacker::RANDOM;
use super::chance_parts::mean_share;
use super::window_count::{ASKED, OfWindow, WindowCount};
use crate::{Comparison, Measure, ProbeKind, RecoveryTally};
use ktd_stats::StatsError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Count of one attacker, kind of probe and measure: of the probes that were asked it, how many were recovered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryCount {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// The attacker.
    pub attacker: String,
    /// What was asked.
    pub measure: Measure,
    /// Probes that were asked it, answered or not.
    pub asked: u64,
    /// Probes of which it was recovered.
    pub hits: u64,
    /// The share that is recovered without looking: by `random` as expected, by others with the best guess of what an
    /// exhibit leaves open. Nine decimals.
    pub chance: f64,
}

/// Number of probes of a kind that an attacker left without an answer.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnansweredCount {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// The attacker.
    pub attacker: String,
    /// Probes put.
    pub probes: u64,
    /// Probes without an answer.
    pub unanswered: u64,
}

/// Running counts of one attacker, kind by kind.
#[derive(Debug, Clone)]
pub struct AttackerCounts<'a> {
    attacker: &'a str,
    joint_days: usize,
    tallies: BTreeMap<ProbeKind, RecoveryTally>,
    chances: BTreeMap<(ProbeKind, Measure), u64>,
    windows: BTreeMap<(ProbeKind, usize), OfWindow>,
}

/// What an attacker recovered: counts, probes without an answer, and windows whose days it found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// Of each kind and measure.
    pub recovered: Vec<RecoveryCount>,
    /// Of each kind.
    pub unanswered: Vec<UnansweredCount>,
    /// Of each kind whose probes ask for the day and do not give it away.
    pub windows: Vec<WindowCount>,
}

impl<'a> AttackerCounts<'a> {
    /// Counts of an attacker that has answered nothing yet. `joint_days`: trading days within which the day of a joint
    /// recovery lies.
    #[must_use]
    pub const fn new(attacker: &'a str, joint_days: usize) -> Self {
        Self {
            attacker,
            joint_days,
            tallies: BTreeMap::new(),
            chances: BTreeMap::new(),
            windows: BTreeMap::new(),
        }
    }

    /// Counts one probe: how the answer compares with its key, and what the attacker `random` and the best blind guess
    /// recover of it, in parts of [`CHANCE_PARTS`](super::CHANCE_PARTS).
    /// `window`: the place of its stretch; `named`: that of the stretch which holds the day that was answered.
    pub fn add(
        &mut self,
        (kind, window, named): (ProbeKind, usize, Option<usize>),
        found: &Comparison,
        (random, blind): (&BTreeMap<Measure, u64>, &BTreeMap<Measure, u64>),
    ) {
        self.tallies
            .entry(kind)
            .or_default()
            .count(found, self.joint_days);
        if found.judge(ASKED, self.joint_days).is_some() && !kind.gives_day_away() {
            let own = self.windows.entry((kind, window)).or_default();
            own.asked += 1;
            own.hits += u64::from(named == Some(window));
            if let Some(named) = named {
                self.windows.entry((kind, named)).or_default().named += 1;
            }
        }
        let chance = if self.attacker == RANDOM { random } else { blind };
        for (measure, parts) in chance {
            let sum = self.chances.entry((kind, *measure)).or_default();
            // Sums that a hostile file could overflow are no expectation of anything: they stay at the largest.
            *sum = sum.saturating_add(*parts);
        }
    }

    /// What was counted, kind by kind in the order of tables.
    ///
    /// # Errors
    /// [`StatsError`] for a chance that is no share.
    pub fn finish(self) -> Result<Counted, StatsError> {
        let mut counted = Counted::default();
        for (kind, tally) in &self.tallies {
            counted.unanswered.push(UnansweredCount {
                kind: *kind,
                attacker: self.attacker.to_owned(),
                probes: tally.probes,
                unanswered: tally.probes - tally.answered,
            });
            let asked = Measure::ALL
                .into_iter()
                .filter(|measure| 0 < tally.asked(*measure));
            counted.recovered.extend(asked.map(|measure| RecoveryCount {
                kind: *kind,
                attacker: self.attacker.to_owned(),
                measure,
                asked: tally.asked(measure),
                hits: tally.hits(measure),
                chance: self.chance((*kind, measure), tally),
            }));
            counted.windows.extend(self.windows_of(*kind));
        }
        Ok(counted)
    }

    fn chance(&self, of: (ProbeKind, Measure), tally: &RecoveryTally) -> f64 {
        let parts = self.chances.get(&of).copied().unwrap_or(0);
        mean_share(parts, tally.asked(of.1))
    }

    /// The windows whose days were found; none of a kind that does not ask for the day.
    fn windows_of(&self, kind: ProbeKind) -> Option<WindowCount> {
        let own = self.windows.iter().filter(|((of, _), _)| *of == kind);
        // A window that is named alone is none that was probed.
        let own = own.filter(|(_, count)| 0 < count.asked);
        let windows: Vec<(usize, OfWindow)> = own.map(|((_, window), count)| (*window, *count)).collect();
        let probes = windows.iter().map(|(_, count)| count.asked).sum();
        // Of a window of which too few probes were put nothing could be seen.
        let seen = windows
            .iter()
            .filter(|(_, count)| count.could_be_found(probes, windows.len()));
        let found = seen
            .clone()
            .filter(|(_, count)| count.is_found(probes, windows.len()));
        (!windows.is_empty()).then(|| WindowCount {
            kind,
            attacker: self.attacker.to_owned(),
            probed: u64::try_from(seen.clone().count()).unwrap_or(u64::MAX),
            found: found.map(|(window, _)| *window).collect(),
        })
    }
}
