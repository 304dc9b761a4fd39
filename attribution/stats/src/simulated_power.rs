//! How often the exact Wilcoxon test finds a difference, by simulation: with few pairs the normal approximation promises
//! too much. At the difference to which it gives power 0.8, ten pairs have 0.70 and six have 0.46.

use super::sample::Sample;
use super::wilcoxon::{Zeros, minimum_p, wilcoxon};
use crate::moments::count;

/// Experiments that are simulated: the power is known to half a percent.
pub const SIMULATED_EXPERIMENTS: usize = 10_000;
/// The most pairs that are simulated, as many as the test counts exactly. Beyond, the approximation is good to 3 %.
const PAIRS_MAX: usize = 60;
/// No design needs more deviations than this: at six pairs, the fewest that can be significant, it is 1.8.
const DEVIATIONS_MAX: f64 = 4.0;
const HALVINGS: usize = 12;

/// The power of the exact signed-rank test of so many pairs, with simulated differences of standard deviation 1 around 0.
#[derive(Debug, Clone)]
pub struct SimulatedPower {
    /// The largest sum of ranks on the rarer side that is significant.
    critical: usize,
    draws: Vec<Vec<f64>>,
}

impl SimulatedPower {
    /// The test of so many pairs at a two-sided significance; `normal` draws from the standard normal distribution. `None`
    /// where no outcome is significant, and beyond the pairs that the test counts exactly.
    pub fn of(pairs: usize, significance: f64, mut normal: impl FnMut() -> f64) -> Option<Self> {
        if PAIRS_MAX < pairs || significance < minimum_p(pairs) {
            return None;
        }
        let critical =
            (0..=pairs * (pairs + 1) / 4).take_while(|sum| is_significant((pairs, *sum), significance));
        Some(Self {
            critical: critical.last()?,
            draws: (0..SIMULATED_EXPERIMENTS)
                .map(|_| (0..pairs).map(|_| normal()).collect())
                .collect(),
        })
    }

    /// The share of simulated experiments in which a true difference of so many standard deviations is found.
    #[must_use]
    pub fn at(&self, deviations: f64) -> f64 {
        let found = self.draws.iter().filter(|draw| self.finds(draw, deviations));
        count(found.count()) / count(SIMULATED_EXPERIMENTS)
    }

    /// The least true difference, in standard deviations, that is found with this probability.
    #[must_use]
    pub fn least_deviations(&self, power: f64) -> f64 {
        let (mut low, mut high) = (0.0, DEVIATIONS_MAX);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if self.at(middle) < power {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    fn finds(&self, draw: &[f64], deviations: f64) -> bool {
        let mut differences: Vec<f64> = draw.iter().map(|noise| noise + deviations).collect();
        differences.sort_unstable_by(|left, right| left.abs().total_cmp(&right.abs()));
        let ranked = differences.iter().zip(1..);
        let below: usize = ranked
            .filter(|(value, _)| **value < 0.0)
            .map(|(_, rank): (_, usize)| rank)
            .sum();
        let all = draw.len() * (draw.len() + 1) / 2;
        below.min(all - below) <= self.critical
    }
}

/// Whether differences whose ranks below 0 sum up to `sum` are significant.
fn is_significant((pairs, sum): (usize, usize), significance: f64) -> bool {
    let mut left = sum;
    let mut differences: Vec<f64> = Vec::with_capacity(pairs);
    // Any sum is one of distinct ranks, the largest that fit first.
    for rank in (1..=pairs).rev() {
        let is_below = rank <= left;
        if is_below {
            left -= rank;
        }
        let size = count(rank);
        differences.push(if is_below { -size } else { size });
    }
    let sample = Sample::new("differences", &differences).ok();
    let outcome = sample.and_then(|sample| wilcoxon(&sample, Zeros::Wilcox).ok());
    outcome.is_some_and(|outcome| outcome.p <= significance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;
    use crate::normal_quantile;

    fn of(pairs: usize) -> Option<SimulatedPower> {
        let mut generator = SplitMix64::new(7);
        SimulatedPower::of(pairs, 0.05, || {
            loop {
                if let Ok(value) = normal_quantile(generator.uniform()) {
                    break value;
                }
            }
        })
    }

    /// The usual table of the signed-rank test, two-sided 0.05.
    #[test]
    fn critical_sums_are_those_of_the_published_table() {
        for (pairs, critical) in [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (12, 13),
            (15, 25),
            (20, 52),
        ] {
            assert_eq!(of(pairs).unwrap().critical, critical, "{pairs} pairs");
        }
        assert!(of(5).is_none() && of(61).is_none());
    }

    #[test]
    fn without_a_difference_it_is_found_as_often_as_the_test_is_wrong() {
        // The exact size of the test of ten pairs is 50 of 1,024.
        let size = of(10).unwrap().at(0.0);
        assert!((size - 50.0 / 1_024.0).abs() < 0.008, "{size}");
    }

    #[test]
    fn few_pairs_find_less_than_the_approximation_says() {
        // (1.959964 + 0.841621) / sqrt(n 3 / pi)
        let approximate = |pairs: usize| 2.801_585 / (count(pairs) * 3.0 / std::f64::consts::PI).sqrt();
        let ten = of(10).unwrap();
        assert!((0.68..0.73).contains(&ten.at(approximate(10))));
        let least = ten.least_deviations(0.8);
        assert!((1.0..1.05).contains(&least), "{least}");
        assert!((ten.at(least) - 0.8).abs() < 0.005);
        let ratio = |pairs| of(pairs).unwrap().least_deviations(0.8) / approximate(pairs);
        let (six, sixty) = (ratio(6), ratio(PAIRS_MAX));
        assert!(1.4 < six && (0.97..1.03).contains(&sixty), "{six} {sixty}");
    }
}
