//! What a certificate can see: the least that an attacker may recover and is refused all the same.

use super::attacker::RANDOM;
use super::count::RecoveryCount;
use super::decimals::nine_decimals;
use super::pass_odds::hits_most;
use super::rate::{AcceptanceRule, RateStatus, RecoveryRate};
use crate::{AttackerClass, Measure, ProbeKind};
use ktd_stats::{StatsError, binomial_at_most};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smallest share that is refused with 95 %, of one class and measure: of the kind of probes that shows least.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetectableShare {
    /// What the attackers know.
    pub class: AttackerClass,
    /// What is asked.
    pub measure: Measure,
    /// The kind of the probes.
    pub kind: ProbeKind,
    /// Of how many probes.
    pub asked: u64,
    /// The share.
    pub share: f64,
    /// What chance recovers.
    pub chance: f64,
}

/// How often a share must be refused to count as seen.
const POWER: f64 = 0.95;
/// Halvings of the interval in which a share is sought.
const HALVINGS: u32 = 40;

/// The least number of probes of which an attacker that recovers no more than chance passes; none where a million are too few.
///
/// # Errors
/// [`StatsError`] for impossible counts.
pub fn probes_needed(rule: &AcceptanceRule, rate: &RecoveryRate) -> Result<Option<u64>, StatsError> {
    let passes = |asked: u64| {
        let count = RecoveryCount {
            asked,
            hits: expected_hits(rate.chance, asked),
            ..rate.count()
        };
        Ok(rule.rate(&count)?.status != RateStatus::Broken)
    };
    let (mut too_few, mut enough) = (0, PROBES_MOST);
    if !passes(enough)? {
        return Ok(None);
    }
    while 1 < enough - too_few {
        let asked = too_few.midpoint(enough);
        if passes(asked)? {
            enough = asked;
        } else {
            too_few = asked;
        }
    }
    Ok(Some(enough))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of at most a million"
)]
fn expected_hits(share: f64, asked: u64) -> u64 {
    (share * asked as f64) as u64
}

/// As many probes of a kind as anybody puts.
const PROBES_MOST: u64 = 1_000_000;

impl DetectableShare {
    /// The share of each class and measure that is judged.
    ///
    /// # Errors
    /// [`StatsError`] for impossible counts.
    pub fn of(rule: &AcceptanceRule, rates: &[RecoveryRate]) -> Result<Vec<Self>, StatsError> {
        let mut found: Vec<Self> = Vec::new();
        for rate in rates
            .iter()
            .filter(|rate| rate.attacker != RANDOM && rate.is_bounded())
        {
            let seen = Self::of_rate(rule, rate)?;
            let own = |known: &&mut Self| known.class == seen.class && known.measure == seen.measure;
            match found.iter_mut().find(own) {
                Some(known) if known.share - known.chance < seen.share - seen.chance => *known = seen,
                Some(_) => {}
                None => found.push(seen),
            }
        }
        found.sort_by_key(|seen| (seen.class, seen.measure));
        Ok(found)
    }

    fn of_rate(rule: &AcceptanceRule, rate: &RecoveryRate) -> Result<Self, StatsError> {
        let (mut missed, mut seen) = (0.0, 1.0);
        if let Some(hits) = hits_most(rule, rate)? {
            for _ in 0..HALVINGS {
                let share = f64::midpoint(missed, seen);
                if binomial_at_most(hits, rate.asked, share)? <= 1.0 - POWER {
                    seen = share;
                } else {
                    missed = share;
                }
            }
        } else {
            seen = 0.0;
        }
        Ok(Self {
            class: rate.class(),
            measure: rate.measure,
            kind: rate.kind,
            asked: rate.asked,
            share: nine_decimals(seen),
            chance: rate.chance,
        })
    }
}
