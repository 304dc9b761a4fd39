//! How likely a mask passes that gives away exactly as much as its threshold allows, in one draw and in several: what a verdict
//! is worth against a signer who draws again.

use super::attacker::RANDOM;
use super::count::RecoveryCount;
use super::decimals::nine_decimals;
use super::rate::{AcceptanceRule, RateStatus, RecoveryRate};
use crate::{Measure, ProbeKind};
use ktd_stats::{StatsError, binomial_at_most};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Odds that a mask which gives away exactly chance and threshold passes, of the judged rate that is the most lenient.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassOdds {
    /// The kind of the probes.
    pub kind: ProbeKind,
    /// What is asked.
    pub measure: Measure,
    /// Of how many probes.
    pub asked: u64,
    /// What the mask gives away: chance and threshold, as a share of the probes.
    pub share: f64,
    /// Of how many probes it may be recovered at most; none where so few probes pass nothing.
    pub hits_most: Option<u64>,
    /// How likely one draw of probes passes.
    pub one_draw: f64,
    /// Draws: the attempts that were counted.
    pub attempts: u64,
    /// How likely at least one of them passes.
    pub any_attempt: f64,
}

impl PassOdds {
    /// The odds of the judged rate that such a mask passes most easily; none where nothing is judged. `random` is no such rate:
    /// it does not look.
    ///
    /// # Errors
    /// [`StatsError`] for impossible counts.
    pub fn of(
        rule: &AcceptanceRule,
        rates: &[RecoveryRate],
        attempts: u64,
    ) -> Result<Option<Self>, StatsError> {
        let judged = rates.iter().filter(|rate| rate.attacker != RANDOM);
        // What a kind gives away is allowed wholly.
        let judged = judged.filter(|rate| rate.is_bounded());
        let odds = judged.filter_map(|rate| Some(Self::of_rate(rule, rate, (rate.threshold?, attempts))));
        let odds: Vec<Self> = odds.collect::<Result<_, _>>()?;
        let most_lenient = |left: &Self, right: &Self| left.one_draw.total_cmp(&right.one_draw);
        Ok(odds.into_iter().max_by(most_lenient))
    }

    fn of_rate(
        rule: &AcceptanceRule,
        rate: &RecoveryRate,
        (threshold, attempts): (f64, u64),
    ) -> Result<Self, StatsError> {
        let share = (rate.chance + threshold).min(1.0);
        let hits_most = hits_most(rule, rate)?;
        let one_draw = hits_most.map_or(Ok(0.0), |hits| binomial_at_most(hits, rate.asked, share))?;
        Ok(Self {
            kind: rate.kind,
            measure: rate.measure,
            asked: rate.asked,
            share: nine_decimals(share),
            hits_most,
            one_draw: nine_decimals(one_draw),
            attempts,
            any_attempt: nine_decimals(any_of(one_draw, attempts)),
        })
    }
}

impl fmt::Display for PassOdds {
    /// `a mask that gives away exactly what is allowed passes one draw with 0.16 %, one of 3 with 0.47 % (top1 of day probes:
    /// 3.25 %, and at most 41 of 2000 pass)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        write!(
            f,
            "a mask that gives away exactly what is allowed passes one draw with {}",
            percent(self.one_draw)
        )?;
        if 1 < self.attempts {
            write!(f, ", one of {} with {}", self.attempts, percent(self.any_attempt))?;
        }
        let Self { kind, measure, .. } = self;
        write!(
            f,
            " ({} of {} probes: {}, and ",
            measure.label(),
            kind.label(),
            percent(self.share)
        )?;
        match self.hits_most {
            Some(hits) => write!(f, "at most {hits} of {} pass)", self.asked),
            None => write!(f, "{} are too few for any to pass)", self.asked),
        }
    }
}

/// The most hits whose bound still holds.
pub(super) fn hits_most(rule: &AcceptanceRule, rate: &RecoveryRate) -> Result<Option<u64>, StatsError> {
    // The bound grows with the hits: what holds and what does not part at one place.
    let (mut holding, mut end) = (0, rate.asked.saturating_add(1));
    while holding < end {
        let hits = holding + (end - holding) / 2;
        let count = RecoveryCount { hits, ..rate.count() };
        if rule.rate(&count)?.status == RateStatus::Holds {
            holding = hits + 1;
        } else {
            end = hits;
        }
    }
    Ok(holding.checked_sub(1))
}

/// How likely at least one of so many draws passes, each with fresh probes.
#[expect(clippy::cast_precision_loss, reason = "attempts are few")]
fn any_of(one_draw: f64, draws: u64) -> f64 {
    1.0 - libm::pow(1.0 - one_draw, draws as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{AcceptanceCriteria, Thresholds};
    use ktd_masking::{Level, MaskSettings, Numeric};
    use ktd_stats::SplitMix64;

    const ATTEMPTS: u64 = 3;

    /// A rule that is so lenient that odds can be simulated.
    fn rule() -> AcceptanceRule {
        AcceptanceRule {
            mask: MaskSettings {
                level: Level::Blinded,
                numeric: Numeric::Banded,
            },
            criteria: AcceptanceCriteria {
                confidence: 0.8,
                thresholds: Thresholds::default(),
            },
            attackers: 1,
            models: 1,
        }
    }

    fn rate(attacker: &str, measure: Measure, (asked, hits): (u64, u64)) -> RecoveryRate {
        let count = RecoveryCount {
            kind: ProbeKind::Day,
            attacker: attacker.to_owned(),
            measure,
            asked,
            hits,
            chance: 0.01,
        };
        rule().rate(&count).unwrap()
    }

    #[test]
    fn masks_of_exactly_the_threshold_pass_as_often_as_stated() {
        const DRAWS: u32 = 12_000;
        let odds = PassOdds::of(&rule(), &[rate("price-level", Measure::Top5, (300, 0))], ATTEMPTS)
            .unwrap()
            .unwrap();
        assert!((odds.share - 0.06).abs() < 1e-12);
        let mut random = SplitMix64::new(11);
        let mut passes = || {
            let hits = (0..odds.asked).filter(|_| random.uniform() < odds.share).count();
            let drawn = rate("price-level", Measure::Top5, (300, hits.try_into().unwrap()));
            drawn.status == RateStatus::Holds
        };
        let draws: Vec<bool> = (0..DRAWS).map(|_| passes()).collect();
        let is_near = |found: usize, of: usize, stated: f64| {
            let of = f64::from(u32::try_from(of).unwrap());
            let share = f64::from(u32::try_from(found).unwrap()) / of;
            let error = (stated * (1.0 - stated) / of).sqrt();
            assert!(
                (share - stated).abs() < 4.0 * error,
                "{share} of {of} draws pass, stated {stated}"
            );
        };
        assert!(0.02 < odds.one_draw && odds.one_draw < 0.2, "{odds:?}");
        is_near(
            draws.iter().filter(|passes| **passes).count(),
            draws.len(),
            odds.one_draw,
        );
        let signers: Vec<&[bool]> = draws.chunks(ATTEMPTS.try_into().unwrap()).collect();
        let certified = signers.iter().filter(|draws| draws.contains(&true)).count();
        is_near(certified, signers.len(), odds.any_attempt);
    }

    #[test]
    fn the_most_lenient_rate_is_told() {
        let rates = [
            rate("price-level", Measure::Top5, (300, 0)),
            // So few probes pass nothing, the board is not judged, and `random` does not look.
            rate("price-level", Measure::Top1, (5, 0)),
            rate("price-level", Measure::Board, (300, 300)),
            rate(RANDOM, Measure::Same, (4000, 0)),
        ];
        let of = |rates: &[RecoveryRate], attempts| PassOdds::of(&rule(), rates, attempts).unwrap();
        let odds = of(&rates, 1).unwrap();
        assert_eq!((odds.measure, odds.asked), (Measure::Top5, 300));
        assert!((odds.any_attempt - odds.one_draw).abs() < 1e-8);
        let most = odds.hits_most.unwrap();
        let status = |hits| rate("price-level", Measure::Top5, (300, hits)).status;
        assert_eq!(
            (status(most), status(most + 1)),
            (RateStatus::Holds, RateStatus::Broken)
        );
        let few = of(&rates[1..], 9).unwrap();
        assert_eq!((few.hits_most, few.one_draw, few.any_attempt), (None, 0.0, 0.0));
        assert!(few.to_string().contains("5 are too few for any to pass"), "{few}");
        assert_eq!(of(&rates[2..], 1), None);
        // Where everything is allowed, everything passes.
        let mut wide = rule();
        wide.criteria.thresholds.top5 = 1.0;
        let whole = wide.rate(&rates[0].count()).unwrap();
        let odds = PassOdds::of(&wide, &[whole], 2).unwrap().unwrap();
        assert_eq!(
            (odds.hits_most, odds.one_draw, odds.any_attempt),
            (Some(300), 1.0, 1.0)
        );
    }
}
