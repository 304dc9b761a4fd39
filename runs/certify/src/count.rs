//! What attackers recovered, counted from the lines of keys and answers. No panel is needed.

use super::answer_line::AnswerLine;
use super::chance::mean_share;
use super::gold_line::GoldLine;
use ktd_probes::{Measure, ProbeKind, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One share: of the probes of a kind that were asked this, how many an attacker recovered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The probes' kind.
    pub kind: String,
    /// The attacker.
    pub attacker: String,
    /// What was asked.
    pub measure: String,
    /// Probes that were asked it, answered or not.
    pub asked: u64,
    /// Probes of which it was recovered.
    pub hits: u64,
    /// The share that is recovered without looking: by `random` as expected, by others with the best guess of what an
    /// exhibit leaves open. Nine decimals.
    pub chance: f64,
}

/// How many probes of a kind an attacker left without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Silence {
    /// The probes' kind.
    pub kind: String,
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

/// The counts of one attacker, kind by kind in the order of tables.
#[must_use]
pub fn count(
    attacker: &str,
    gold: &[GoldLine],
    answers: &[AnswerLine],
    joint_days: usize,
) -> (Vec<Count>, Vec<Silence>) {
    let mut tallies: BTreeMap<ProbeKind, Tally> = BTreeMap::new();
    let mut chances: BTreeMap<(ProbeKind, &str), u64> = BTreeMap::new();
    for (gold, answer) in gold.iter().zip(answers) {
        let Some(kind) = gold.kind() else { continue };
        tallies
            .entry(kind)
            .or_default()
            .count(&answer.compare(gold), joint_days);
        let chance = if attacker == RANDOM {
            &gold.chance
        } else {
            &gold.blind
        };
        for (measure, parts) in chance {
            *chances.entry((kind, measure)).or_default() += parts;
        }
    }
    let (mut counts, mut silences) = (Vec::new(), Vec::new());
    for (kind, tally) in &tallies {
        silences.push(Silence {
            kind: kind.label().to_owned(),
            attacker: attacker.to_owned(),
            probes: tally.probes,
            unanswered: tally.probes - tally.answered,
        });
        let asked = Measure::ALL
            .into_iter()
            .filter(|measure| 0 < tally.asked(*measure));
        counts.extend(asked.map(|measure| {
            let parts = chances.get(&(*kind, measure.label())).copied().unwrap_or(0);
            Count {
                kind: kind.label().to_owned(),
                attacker: attacker.to_owned(),
                measure: measure.label().to_owned(),
                asked: tally.asked(measure),
                hits: tally.hits(measure),
                chance: mean_share(parts, tally.asked(measure)),
            }
        }));
    }
    (counts, silences)
}

/// The measure of a name in files.
#[must_use]
pub fn measure(label: &str) -> Option<Measure> {
    Measure::ALL.into_iter().find(|measure| measure.label() == label)
}
