//! Windows whose days an attacker finds: who knows a few windows wholly is missed where none of them was probed.

use super::attacker::RANDOM;
use super::hypergeometric::Draw;
use super::rate::{AcceptanceRule, RateStatus, share};
use super::thresholds::shows;
use super::window_count::{ASKED, WindowCount};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of the windows whose days one attacker finds. Nine decimals.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRate {
    /// What was counted.
    pub count: WindowCount,
    /// Windows that there are, probed or not.
    pub population: u64,
    /// Upper bound of the share of all windows that it finds, at the confidence of a single interval (hypergeometric, exact).
    pub most: f64,
    /// How large the bound may be; none where nothing hangs on it.
    pub threshold: Option<f64>,
    /// What the verdict makes of it.
    pub status: RateStatus,
}

impl WindowRate {
    pub(super) fn of(rule: &AcceptanceRule, count: &WindowCount, population: u64) -> Self {
        let is_shown = shows(rule.mask, ASKED);
        let is_judged = !is_shown && count.attacker != RANDOM;
        let threshold = rule.criteria.thresholds.of(ASKED).filter(|_| is_judged);
        let found = u64::try_from(count.found.len()).unwrap_or(u64::MAX);
        let most = most_known(population, (count.probed, found), 1.0 - rule.criteria.confidence);
        let most = share(most, population);
        Self {
            count: count.clone(),
            population,
            most,
            threshold,
            status: RateStatus::of(is_shown, threshold, most),
        }
    }
}

/// The most windows of the population that could be known where so few of the probed ones were found: with one more, as few or
/// fewer would be probed with a probability of at most `rest`.
fn most_known(population: u64, (probed, found): (u64, u64), rest: f64) -> u64 {
    let is_likely = |known: &u64| rest < at_most_found(population, (probed, found), *known);
    (found..=population).rev().find(is_likely).unwrap_or(found)
}

/// Probability that at most `found` of `known` windows are among the probed ones of a population.
fn at_most_found(population: u64, (probed, found): (u64, u64), known: u64) -> f64 {
    let draw = Draw {
        all: population,
        marked: probed,
        drawn: known,
    };
    draw.at_most(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_counting_all_draws() {
        // Of six windows three are probed and none is found: with two known, 4 of 20 draws miss both, with three, 1 of 20.
        assert!((at_most_found(6, (3, 0), 2) - 0.2).abs() < 1e-12);
        assert!((at_most_found(6, (3, 0), 3) - 0.05).abs() < 1e-12);
        assert_eq!(most_known(6, (3, 0), 0.051), 2);
        assert_eq!(most_known(6, (3, 0), 0.049), 3);
        // Where all are probed nothing is left to know.
        assert_eq!((most_known(5, (5, 0), 0.05), most_known(5, (5, 2), 0.05)), (0, 2));
        assert_eq!(most_known(2, (1, 0), 0.05), 1);
    }
}
