//! Windows whose days an attacker finds: who knows a few windows wholly is missed where none of them was probed.

use super::count::RANDOM;
use super::decimals::nine_decimals;
use super::rate::{AcceptanceRule, RateStatus, share};
use super::thresholds::shows;
use crate::{Measure, ProbeKind};
use ktd_stats::{StatsError, binomial_at_most};
use serde::{Deserialize, Serialize};

/// What windows are asked: the day, which all probes of a window share.
pub(super) const ASKED: Measure = Measure::Date20;

/// Count of one attacker and kind of probe over windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowCount {
    /// The probes' kind.
    pub kind: ProbeKind,
    /// The attacker.
    pub attacker: String,
    /// Windows that were probed with so many probes that one which is known would be seen.
    pub probed: u64,
    /// Those whose day within 20 trading days it found more often than chance explains, by their place among the stretches.
    pub found: Vec<usize>,
}

/// Share of the windows whose days one attacker finds. Nine decimals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowRate {
    /// What was counted.
    pub count: WindowCount,
    /// Windows that there are, probed or not.
    pub population: u64,
    /// Upper bound of the share of all windows that it finds, at the confidence of a single interval (hypergeometric, exact).
    pub most: f64,
    /// What chance recovers.
    pub chance: f64,
    /// Largest excess of the bound over chance; none where nothing hangs on it.
    pub threshold: Option<f64>,
    /// What the verdict makes of it.
    pub status: RateStatus,
}

impl WindowRate {
    /// How far the bound lies above chance.
    #[must_use]
    pub fn excess(&self) -> f64 {
        nine_decimals(self.most - self.chance)
    }

    pub(super) fn of(rule: &AcceptanceRule, count: &WindowCount, (population, chance): (u64, f64)) -> Self {
        let is_shown = shows(rule.mask, ASKED);
        let is_judged = !is_shown && count.attacker != RANDOM;
        let threshold = rule.criteria.thresholds.of(ASKED).filter(|_| is_judged);
        let found = u64::try_from(count.found.len()).unwrap_or(u64::MAX);
        let most = most_known(population, (count.probed, found), 1.0 - rule.criteria.confidence);
        let mut rate = Self {
            count: count.clone(),
            population,
            most: share(most, population),
            chance,
            threshold,
            status: RateStatus::Reported,
        };
        rate.status = match threshold {
            _ if is_shown => RateStatus::Shown,
            None => RateStatus::Reported,
            Some(most) if rate.excess() <= most => RateStatus::Holds,
            Some(_) => RateStatus::Broken,
        };
        rate
    }
}

/// Trading days within which a day counts as found: those of [`ASKED`].
pub(super) const WINDOW_DAYS: usize = 20;

/// Running count of one attacker, kind and window.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfWindow {
    pub(super) asked: u64,
    pub(super) hits: u64,
    /// What the best blind guess found of it.
    pub(super) blind_hits: u64,
}

/// A window counts as found where so many hits are this unlikely by chance, over all windows of a kind: some hundred series of
/// attackers and kinds are looked at.
const FOUND_P: f64 = 1e-5;

impl OfWindow {
    pub(super) const fn with_hits(self, hits: u64) -> Self {
        Self { hits, ..self }
    }

    /// Whether so many hits of one of `windows` are more than chance and the blind guess explain.
    #[expect(clippy::cast_precision_loss, reason = "windows and their probes are few")]
    pub(super) fn is_found(self, chance: f64, windows: usize) -> Result<bool, StatsError> {
        let Some(fewer) = self.hits.checked_sub(1) else {
            return Ok(false);
        };
        let of_blind = self.blind_hits as f64 / self.asked.max(1) as f64;
        let chance = chance.max(of_blind).clamp(0.0, 1.0);
        let at_least = 1.0 - binomial_at_most(fewer, self.asked, chance)?;
        Ok(at_least * (windows as f64) < FOUND_P)
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
    let ways = |of: u64, drawn: u64| ln_factorial(of) - ln_factorial(drawn) - ln_factorial(of - drawn);
    let exactly = |hit: u64| {
        let missed = known.checked_sub(hit)?;
        (hit <= probed && missed <= population.checked_sub(probed)?).then(|| {
            libm::exp(ways(probed, hit) + ways(population - probed, missed) - ways(population, known))
        })
    };
    (0..=found).filter_map(exactly).sum()
}

fn ln_factorial(number: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "windows are few")]
    let number = number as f64;
    libm::lgamma(number + 1.0)
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

    #[test]
    fn a_window_is_found_by_more_than_chance_and_the_blind_guess() {
        let found = |asked, hits, blind_hits| {
            let of = OfWindow {
                asked,
                hits,
                blind_hits,
            };
            of.is_found(0.02, 60).unwrap()
        };
        assert!(found(30, 30, 0) && found(30, 9, 0));
        assert!(!found(30, 0, 0) && !found(30, 3, 0));
        assert!(
            !found(30, 30, 28) && !found(3, 3, 0),
            "who answers the same always, and few probes"
        );
    }
}
