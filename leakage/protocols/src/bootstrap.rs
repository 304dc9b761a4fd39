//! The bootstrap of a mean without a draw, as it was published: the golden sets pin it, and no report has it, for of nine years it
//! holds in some 90 % where 95 % are said.

use ktd_stats::SplitMix64;
use ktd_stats::moments::count;

/// The most values whose samples are all counted.
const EXACT_VALUES_MAX: usize = 12;
/// Samples that are drawn of more.
const DRAWS: u32 = 20_000;

/// The interval of a bootstrapped mean, its bounds by the inverted distribution function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapMean {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// Samples that were counted, or drawn.
    pub samples: usize,
    /// Whether they are all there are.
    pub is_exact: bool,
}

/// The central interval that leaves `tail` of the samples out at each end. Up to 12 values the samples are all there are, as
/// multisets with their weights; beyond, 20,000 are drawn by the seed. `None` of nothing.
#[must_use]
pub fn bootstrap_mean(values: &[f64], tail: f64, seed: u64) -> Option<BootstrapMean> {
    let is_exact = values.len() <= EXACT_VALUES_MAX;
    let mut weighted = if is_exact {
        all_samples(values)
    } else {
        drawn_samples(values, seed)
    };
    weighted.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
    let quantile = |share: f64| {
        let mut reached = 0.0;
        weighted.iter().find_map(|(mean, weight)| {
            reached += weight;
            (share * total <= reached).then_some(*mean)
        })
    };
    Some(BootstrapMean {
        low: quantile(tail)?,
        high: quantile(1.0 - tail)?,
        samples: weighted.len(),
        is_exact,
    })
}

/// The mean of every multiset of as many values, with the number of orders in which it is drawn.
fn all_samples(values: &[f64]) -> Vec<(f64, f64)> {
    let mut samples = Vec::new();
    let size = values.len();
    if 0 < size {
        extend(values, size, (0.0, orders(size)), count(size), &mut samples);
    }
    samples
}

/// Takes the first of the values any number of times, and goes on with the others.
fn extend(values: &[f64], left: usize, (sum, weight): (f64, f64), size: f64, samples: &mut Vec<(f64, f64)>) {
    let Some((value, others)) = values.split_first() else {
        return;
    };
    if others.is_empty() {
        let sum = (0..left).fold(sum, |sum, _| sum + value);
        samples.push((sum / size, weight / orders(left)));
        return;
    }
    let mut sum = sum;
    for times in 0..=left {
        extend(others, left - times, (sum, weight / orders(times)), size, samples);
        sum += value;
    }
}

/// The factorial: of at most 12 it is exact, and so are its quotients by others.
fn orders(items: usize) -> f64 {
    (1..=items).map(count).product()
}

fn drawn_samples(values: &[f64], seed: u64) -> Vec<(f64, f64)> {
    let size = values.len();
    let sample = |replicate: u32| {
        let mut stream = SplitMix64::of_replicate(seed, replicate);
        let sum: f64 = (0..size)
            .filter_map(|_| values.get(below(stream.next_u64(), size)))
            .sum();
        (sum / count(size), 1.0)
    };
    (0..DRAWS).map(sample).collect()
}

/// A place below a number (Lemire's multiplication).
fn below(bits: u64, items: usize) -> usize {
    let product = u128::from(bits) * u128::try_from(items).unwrap_or(0);
    usize::try_from(product >> 64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_by_hand() {
        // 1, 1.5 twice, 2: a quarter, a half, a quarter.
        let all = |tail| bootstrap_mean(&[1.0, 2.0], tail, 0).unwrap();
        assert_eq!((all(0.25).low, all(0.25).high), (1.0, 1.5));
        assert_eq!((all(0.26).low, all(0.24).high), (1.5, 2.0));
        assert_eq!((all(0.1).samples, all(0.1).is_exact), (3, true));
        assert_eq!(bootstrap_mean(&[], 0.025, 0), None);
    }

    #[test]
    fn weights_are_those_of_ordered_samples() {
        for size in 1..=7_usize {
            let values: Vec<f64> = (0..size).map(count).collect();
            let samples = all_samples(&values);
            let orders: f64 = samples.iter().map(|(_, weight)| weight).sum();
            let all: f64 = (0..size).map(|_| count(size)).product();
            assert!((orders - all).abs() < 1e-9, "{size}");
        }
        assert_eq!(all_samples(&[0.5; 9]).len(), 24_310);
    }

    #[test]
    fn many_values_are_drawn_by_the_seed() {
        let values: Vec<f64> = (0..40).map(count).collect();
        let interval = bootstrap_mean(&values, 0.025, 7).unwrap();
        assert!(!interval.is_exact && interval.samples == 20_000);
        // The mean has a deviation of 11.54 / sqrt(40) = 1.83.
        assert!(
            (interval.low - 15.9).abs() < 0.3 && (interval.high - 23.1).abs() < 0.3,
            "{interval:?}"
        );
        assert_eq!(bootstrap_mean(&values, 0.025, 7), Some(interval));
    }
}
