//! Shares with their intervals, and whether each holds.

use super::attacker::class_of;
use super::count::RecoveryCount;
use super::decimals::nine_decimals;
use super::thresholds::{Thresholds, shows};
use crate::{AttackerClass, Measure, ProbeKind};
use ktd_masking::MaskSettings;
use ktd_stats::{Confidence, StatsError, wilson};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Recovery rate of one attacker, kind of probe and measure, with what may be concluded from it. All figures have nine
/// decimals.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryRate {
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
    /// `hits / asked`.
    pub share: f64,
    /// The share that the baseline recovers.
    pub chance: f64,
    /// Wilson interval of the share, by itself.
    pub interval: RateInterval,
    /// Wilson interval that holds for all attackers of the database together, or for all language models (Bonferroni).
    pub simultaneous: RateInterval,
    /// Largest excess of the simultaneous upper bound over chance; none where nothing hangs on it.
    pub threshold: Option<f64>,
    /// What the verdict makes of it.
    pub status: RateStatus,
}

/// Interval of a share, both ends included; nine decimals.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateInterval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// Status of a rate under the thresholds of a certificate.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    JsonSchema,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RateStatus {
    /// The upper bound lies within the threshold.
    Holds,
    /// The upper bound lies above it.
    Broken,
    /// The mask shows it openly: recovering it proves nothing.
    Shown,
    /// It is reported, and nothing hangs on it.
    Reported,
}

impl RateStatus {
    /// The status of a bound that lies so far above what costs nothing; `threshold` is how far it may.
    pub(super) fn of(is_shown: bool, threshold: Option<f64>, excess: f64) -> Self {
        match threshold {
            _ if is_shown => Self::Shown,
            None => Self::Reported,
            Some(most) if excess <= most => Self::Holds,
            Some(_) => Self::Broken,
        }
    }

    /// The name in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

impl RecoveryRate {
    /// The count that it is of.
    #[must_use]
    pub fn count(&self) -> RecoveryCount {
        RecoveryCount {
            kind: self.kind,
            attacker: self.attacker.clone(),
            measure: self.measure,
            asked: self.asked,
            hits: self.hits,
            chance: self.chance,
        }
    }

    /// What its attacker knows.
    #[must_use]
    pub fn class(&self) -> AttackerClass {
        class_of(&self.attacker, self.kind)
    }

    /// Whether its threshold bounds anything: where a kind gives the answer away, all of it is chance.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.threshold.is_some() && self.chance < 1.0
    }

    /// Whether its bound is above the threshold and its share need not be: of so few probes no verdict follows.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let least = self.simultaneous.lower - self.chance;
        self.status == RateStatus::Broken && self.threshold.is_some_and(|most| least <= most)
    }

    /// How far the simultaneous upper bound lies above chance.
    #[must_use]
    pub fn excess(&self) -> f64 {
        nine_decimals(self.simultaneous.upper - self.chance)
    }
}

/// Criteria that a signer may choose: how sure bounds are, and how far above chance they may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceptanceCriteria {
    /// Confidence of each interval, by itself and over all attackers, such as 0.95.
    pub confidence: f64,
    /// How far above chance an upper bound may lie.
    pub thresholds: Thresholds,
}

/// Rule that turns counts into rates and says which of them hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AcceptanceRule {
    /// What is hidden.
    pub mask: MaskSettings,
    /// How sure, and how far above chance.
    pub criteria: AcceptanceCriteria,
    /// How many attackers of the database their simultaneous bounds hold for.
    pub attackers: usize,
    /// How many language models theirs hold for: who asks one more widens no bound of the database.
    pub models: usize,
}

impl AcceptanceRule {
    /// The rate of a count.
    ///
    /// # Errors
    /// [`StatsError`] for more hits than probes, and for a confidence outside 0 to 1.
    pub fn rate(&self, count: &RecoveryCount) -> Result<RecoveryRate, StatsError> {
        self.rate_in(count, class_of(&count.attacker, count.kind))
    }

    /// The rate of a count of an attacker of this class, whatever its name.
    ///
    /// # Errors
    /// [`StatsError`] as of [`Self::rate`].
    pub fn rate_in(&self, count: &RecoveryCount, class: AttackerClass) -> Result<RecoveryRate, StatsError> {
        let AcceptanceCriteria {
            confidence,
            thresholds,
        } = self.criteria;
        let is_shown = shows(self.mask, count.measure);
        let threshold = thresholds.of(count.measure).filter(|_| !is_shown);
        let together = match class {
            AttackerClass::Model => self.models,
            AttackerClass::Database | AttackerClass::DatabaseAndStocks | AttackerClass::DatabaseAndDay => {
                self.attackers
            }
        };
        let simultaneous = wilson_interval(count.hits, count.asked, confidence, together)?;
        Ok(RecoveryRate {
            kind: count.kind,
            attacker: count.attacker.clone(),
            measure: count.measure,
            asked: count.asked,
            hits: count.hits,
            share: share(count.hits, count.asked),
            chance: count.chance,
            interval: wilson_interval(count.hits, count.asked, confidence, 1)?,
            status: RateStatus::of(
                is_shown,
                threshold,
                nine_decimals(simultaneous.upper - count.chance),
            ),
            simultaneous,
            threshold,
        })
    }
}

/// Share of counted things, nine decimals; 0 of none.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "nine decimals are kept, and counts of probes stay far below 2^53"
)]
pub(super) fn share(hits: u64, asked: u64) -> f64 {
    if asked == 0 {
        return 0.0;
    }
    nine_decimals(hits as f64 / asked as f64)
}

/// Wilson's interval at a confidence shared among `many` intervals, nine decimals; all of 0 to 1 without a probe.
///
/// # Errors
/// [`StatsError`] for more hits than probes, and for a confidence outside 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "attackers and measures are few")]
pub(super) fn wilson_interval(
    hits: u64,
    asked: u64,
    confidence: f64,
    many: usize,
) -> Result<RateInterval, StatsError> {
    let tail = (1.0 - confidence) / 2.0 / many.max(1) as f64;
    let interval = wilson(hits, asked, Confidence::with_tail(tail)?)?;
    let (lower, upper) = interval.map_or((0.0, 1.0), |interval| (interval.lower, interval.upper));
    Ok(RateInterval {
        lower: nine_decimals(lower),
        upper: nine_decimals(upper),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_masking::{Level, Numeric};

    fn rule(level: Level) -> AcceptanceRule {
        AcceptanceRule {
            mask: MaskSettings {
                level,
                numeric: Numeric::Exact,
            },
            criteria: AcceptanceCriteria {
                confidence: 0.95,
                thresholds: Thresholds::default(),
            },
            attackers: 10,
            models: 1,
        }
    }

    fn count(measure: Measure, hits: u64) -> RecoveryCount {
        RecoveryCount {
            kind: ProbeKind::Day,
            attacker: "price-level".to_owned(),
            measure,
            asked: 2000,
            hits,
            chance: 0.0025,
        }
    }

    #[test]
    fn a_bound_and_not_a_share_decides() {
        let rule = rule(Level::Blinded);
        // 40 of 2,000 are 2 %, below the threshold of 3 %; the bound for ten attackers is not.
        let rate = rule.rate(&count(Measure::Top1, 40)).unwrap();
        assert_eq!(rate.status, RateStatus::Holds);
        let rate = rule.rate(&count(Measure::Top1, 46)).unwrap();
        assert!(rate.share < 0.03 && rate.interval.upper < 0.0325 && 0.0325 < rate.simultaneous.upper);
        assert_eq!(rate.status, RateStatus::Broken);
    }

    #[test]
    fn more_attackers_need_a_wider_bound() {
        let alone = wilson_interval(5, 2000, 0.95, 1).unwrap();
        let together = wilson_interval(5, 2000, 0.95, 20).unwrap();
        assert!(together.lower < alone.lower && alone.upper < together.upper);
        let whole = RateInterval {
            lower: 0.0,
            upper: 1.0,
        };
        assert_eq!(wilson_interval(0, 0, 0.95, 1).unwrap(), whole);
        assert!(wilson_interval(2, 1, 0.95, 1).is_err());
    }

    #[test]
    fn what_is_shown_has_no_threshold() {
        let shown = rule(Level::DateBlind).rate(&count(Measure::Top1, 2000)).unwrap();
        assert_eq!((shown.status, shown.threshold), (RateStatus::Shown, None));
        let reported = rule(Level::Blinded).rate(&count(Measure::Date5, 2000)).unwrap();
        assert_eq!(reported.status, RateStatus::Reported);
    }
}
