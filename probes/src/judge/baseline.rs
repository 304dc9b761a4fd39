//! Whether chance recovers what it must: the attacker `random` against its exact expectation.

use super::attacker::RANDOM;
use super::decimals::nine_decimals;
use super::rate::{RateInterval, RecoveryRate, wilson_interval};
use crate::{Measure, ProbeKind};
use ktd_stats::{StatsError, binomial_two_sided_p};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Comparison of what the attacker `random` recovered with its exact expectation.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCheck {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// What was asked.
    pub measure: Measure,
    /// The expectation.
    pub chance: f64,
    /// Wilson interval that holds for all these rows together.
    pub interval: RateInterval,
    /// How likely so much or so little is by chance, for all these rows together (exact, Bonferroni).
    pub p_value: f64,
    /// Whether it is likely enough.
    pub holds: bool,
}

/// A sound baseline is refused once in a thousand certificates; a broken one is off by far more than chance ever is.
const LEAST_BASELINE_P: f64 = 0.001;

/// The checks of all rates of `random`.
///
/// # Errors
/// [`StatsError`] for impossible counts.
pub(super) fn baseline(rates: &[RecoveryRate], confidence: f64) -> Result<Vec<BaselineCheck>, StatsError> {
    let random: Vec<&RecoveryRate> = rates.iter().filter(|rate| rate.attacker == RANDOM).collect();
    let row = |rate: &&RecoveryRate| {
        let interval = wilson_interval(rate.hits, rate.asked, confidence, random.len())?;
        let p_value = binomial_two_sided_p(rate.hits, rate.asked, rate.chance)?;
        let p_value = nine_decimals((p_value * float(random.len())).min(1.0));
        Ok(BaselineCheck {
            kind: rate.kind,
            measure: rate.measure,
            chance: rate.chance,
            interval,
            p_value,
            holds: LEAST_BASELINE_P <= p_value,
        })
    };
    random.iter().map(row).collect()
}

#[expect(clippy::cast_precision_loss, reason = "rows are few")]
const fn float(rows: usize) -> f64 {
    rows as f64
}
