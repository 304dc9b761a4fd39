//! Counts of what attackers recovered, from how their answers compare with the answer keys.

use super::chance_parts::mean_share;
use crate::{Comparison, Measure, ProbeKind, RecoveryTally};
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// The attacker that draws at random from what an exhibit leaves open. Its own expectation is exact; all others have to beat
/// the best guess that looks at nothing else.
pub const RANDOM: &str = "random";

/// Running counts of one attacker, kind by kind.
#[derive(Debug, Clone)]
pub struct AttackerCounts<'a> {
    attacker: &'a str,
    joint_days: usize,
    tallies: BTreeMap<ProbeKind, RecoveryTally>,
    chances: BTreeMap<(ProbeKind, Measure), u64>,
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
        }
    }

    /// Counts one probe: how the answer compares with its key, and what the attacker `random` and the best blind guess
    /// recover of it, in parts of [`CHANCE_PARTS`](super::CHANCE_PARTS).
    pub fn add(
        &mut self,
        kind: ProbeKind,
        found: &Comparison,
        (random, blind): (&BTreeMap<Measure, u64>, &BTreeMap<Measure, u64>),
    ) {
        self.tallies
            .entry(kind)
            .or_default()
            .count(found, self.joint_days);
        let chance = if self.attacker == RANDOM { random } else { blind };
        for (measure, parts) in chance {
            let sum = self.chances.entry((kind, *measure)).or_default();
            // Sums that a hostile file could overflow are no expectation of anything: they stay at the largest.
            *sum = sum.saturating_add(*parts);
        }
    }

    /// What was counted, kind by kind in the order of tables.
    #[must_use]
    pub fn finish(self) -> (Vec<RecoveryCount>, Vec<UnansweredCount>) {
        let (mut counts, mut unanswered) = (Vec::new(), Vec::new());
        for (kind, tally) in &self.tallies {
            unanswered.push(UnansweredCount {
                kind: *kind,
                attacker: self.attacker.to_owned(),
                probes: tally.probes,
                unanswered: tally.probes - tally.answered,
            });
            let asked = Measure::ALL
                .into_iter()
                .filter(|measure| 0 < tally.asked(*measure));
            counts.extend(asked.map(|measure| {
                let parts = self.chances.get(&(*kind, measure)).copied().unwrap_or(0);
                RecoveryCount {
                    kind: *kind,
                    attacker: self.attacker.to_owned(),
                    measure,
                    asked: tally.asked(measure),
                    hits: tally.hits(measure),
                    chance: mean_share(parts, tally.asked(measure)),
                }
            }));
        }
        (counts, unanswered)
    }
}
