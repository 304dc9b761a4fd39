//! Shares with their intervals, and whether each holds.

use super::chance::nine_decimals;
use super::count::{Count, measure};
use crate::CertifyError;
use ktd_masking::MaskSettings;
use ktd_probes::judge::{Thresholds, shows};
use ktd_stats::{Confidence, wilson};
use serde::{Deserialize, Serialize};

/// One share with what may be concluded from it. All figures have nine decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
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
    /// `hits / asked`.
    pub share: f64,
    /// The share that the baseline recovers.
    pub chance: f64,
    /// Wilson interval of the share, by itself.
    pub interval: (f64, f64),
    /// Wilson interval that holds for all attackers together (Bonferroni).
    pub simultaneous: (f64, f64),
    /// Largest excess of the simultaneous upper bound over chance; none where nothing hangs on it.
    pub threshold: Option<f64>,
    /// What the verdict makes of it.
    pub standing: Standing,
}

/// What a verdict makes of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The upper bound lies within the threshold.
    Holds,
    /// The upper bound lies above it.
    Broken,
    /// The mask shows it openly: recovering it proves nothing.
    Shown,
    /// It is reported, and nothing hangs on it.
    Reported,
}

impl Figure {
    /// How far the simultaneous upper bound lies above chance.
    #[must_use]
    pub fn excess(&self) -> f64 {
        nine_decimals(self.simultaneous.1 - self.chance)
    }
}

/// By what figures are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// What is hidden.
    pub mask: MaskSettings,
    /// Confidence of each interval, such as 0.95.
    pub confidence: f64,
    /// Thresholds.
    pub thresholds: Thresholds,
    /// How many attackers the simultaneous bounds hold for.
    pub attackers: usize,
}

impl Rule {
    /// The figure of a count.
    ///
    /// # Errors
    /// [`CertifyError::Input`] for a count that is none: more hits than probes, or an unknown measure.
    pub fn figure(&self, count: &Count) -> Result<Figure, CertifyError> {
        let asked = measure(&count.measure).ok_or_else(|| {
            CertifyError::input(
                format!("there is no measure {:?}", count.measure),
                "see `set.json`",
            )
        })?;
        let interval = wilson_of(count.hits, count.asked, self.confidence, 1)?;
        let simultaneous = wilson_of(count.hits, count.asked, self.confidence, self.attackers)?;
        let is_shown = shows(self.mask, asked);
        let threshold = self.thresholds.of(asked).filter(|_| !is_shown);
        let mut figure = Figure {
            kind: count.kind.clone(),
            attacker: count.attacker.clone(),
            measure: count.measure.clone(),
            asked: count.asked,
            hits: count.hits,
            share: share(count.hits, count.asked),
            chance: count.chance,
            interval,
            simultaneous,
            threshold,
            standing: Standing::Reported,
        };
        figure.standing = match threshold {
            _ if is_shown => Standing::Shown,
            None => Standing::Reported,
            Some(most) if figure.excess() <= most => Standing::Holds,
            Some(_) => Standing::Broken,
        };
        Ok(figure)
    }
}

/// A share of counted things, nine decimals; 0 of none.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "nine decimals are kept, and counts of probes stay far below 2^53"
)]
pub fn share(hits: u64, asked: u64) -> f64 {
    if asked == 0 {
        return 0.0;
    }
    nine_decimals(hits as f64 / asked as f64)
}

/// Wilson's interval at a confidence shared among `many` intervals, nine decimals.
///
/// # Errors
/// [`CertifyError::Input`] for more hits than probes, and for a confidence that is none.
#[expect(clippy::cast_precision_loss, reason = "attackers and measures are few")]
pub fn wilson_of(hits: u64, asked: u64, confidence: f64, many: usize) -> Result<(f64, f64), CertifyError> {
    let unfit = |error: ktd_stats::InputError| CertifyError::input(error.to_string(), error.hint());
    let tail = (1.0 - confidence) / 2.0 / many.max(1) as f64;
    let confidence = Confidence::with_tail(tail).map_err(unfit)?;
    let interval = wilson(hits, asked, confidence).map_err(unfit)?;
    Ok(interval.map_or((0.0, 1.0), |interval| {
        (nine_decimals(interval.lower), nine_decimals(interval.upper))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_masking::{Level, Numeric};

    fn rule(level: Level) -> Rule {
        Rule {
            mask: MaskSettings {
                level,
                numeric: Numeric::Exact,
            },
            confidence: 0.95,
            thresholds: Thresholds::default(),
            attackers: 10,
        }
    }

    fn count(measure: &str, hits: u64) -> Count {
        Count {
            kind: "day".to_owned(),
            attacker: "price-level".to_owned(),
            measure: measure.to_owned(),
            asked: 2000,
            hits,
            chance: 0.0025,
        }
    }

    #[test]
    fn a_bound_and_not_a_share_decides() {
        let rule = rule(Level::Blinded);
        // 40 of 2,000 are 2 %, below the threshold of 3 %; the bound for ten attackers is not.
        let figure = rule.figure(&count("top1", 40)).unwrap();
        assert_eq!(figure.standing, Standing::Holds);
        let figure = rule.figure(&count("top1", 46)).unwrap();
        assert!(figure.share < 0.03 && figure.interval.1 < 0.0325 && 0.0325 < figure.simultaneous.1);
        assert_eq!(figure.standing, Standing::Broken);
    }

    #[test]
    fn more_attackers_need_a_wider_bound() {
        let alone = wilson_of(5, 2000, 0.95, 1).unwrap();
        let together = wilson_of(5, 2000, 0.95, 20).unwrap();
        assert!(together.0 < alone.0 && alone.1 < together.1);
        assert_eq!(wilson_of(0, 0, 0.95, 1).unwrap(), (0.0, 1.0));
        assert!(wilson_of(2, 1, 0.95, 1).is_err());
    }

    #[test]
    fn what_is_shown_is_told_apart() {
        let shown = rule(Level::DateBlind).figure(&count("top1", 2000)).unwrap();
        assert_eq!((shown.standing, shown.threshold), (Standing::Shown, None));
        let reported = rule(Level::Blinded).figure(&count("date5", 2000)).unwrap();
        assert_eq!(reported.standing, Standing::Reported);
        assert!(rule(Level::Blinded).figure(&count("size", 1)).is_err());
    }
}
