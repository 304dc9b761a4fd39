//! Wilcoxon's signed-rank test of paired differences.

use super::normal::normal_cdf;
use super::sample::Sample;
use crate::Undefined;
use crate::moments::count;
use std::fmt;

/// What becomes of pairs without a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zeros {
    /// Dropped before ranking (Wilcoxon).
    #[default]
    Wilcox,
    /// Ranked with the rest and dropped then (Pratt 1959).
    Pratt,
}

/// How the p-values were computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PValueMethod {
    /// By counting all assignments of signs: exact with ties and zeros.
    Exact,
    /// By the normal distribution, its variance corrected for ties and zeros, without a continuity correction.
    Normal,
}

/// The most differences other than 0 whose signs are all counted.
const EXACT_PAIRS_MAX: usize = 60;

/// The test's outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Pairs that differ.
    pub pairs: usize,
    /// Pairs that do not.
    pub zeros: usize,
    /// Sum of the midranks of differences above 0.
    pub w_plus: f64,
    /// Sum of the midranks of differences below 0.
    pub w_minus: f64,
    /// Two-sided p-value: twice the smaller tail, at most 1. It is 1 when no pair differs.
    pub p: f64,
    /// Probability of a `w_plus` at least as large, were the signs those of a fair coin.
    pub p_greater: f64,
    /// Probability of a `w_plus` at most as large.
    pub p_less: f64,
    /// Rank-biserial correlation: share of ranks above 0 less share below; `None` when no pair differs.
    pub rank_biserial: Option<f64>,
    /// How the p-values were computed.
    pub method: PValueMethod,
}

impl Wilcoxon {
    /// The smallest two-sided p-value that the pairs that differ can reach.
    #[must_use]
    pub fn minimum_p(&self) -> f64 {
        minimum_p(self.pairs)
    }

    /// Says so when no outcome of the pairs that differ could be significant.
    #[must_use]
    pub fn underpowered(&self, significance: f64) -> Option<Underpowered> {
        Underpowered::of(self.pairs, significance)
    }
}

/// The smallest two-sided exact p-value of so many pairs: `2 / 2^n`, at most 1.
#[must_use]
pub fn minimum_p(pairs: usize) -> f64 {
    // Below 2^-1074 there is no float: 0 is the nearest.
    (1..pairs.min(1100)).fold(1.0, |p, _| p / 2.0)
}

/// A test that cannot reach its significance whatever the data are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Underpowered {
    pairs: usize,
    significance: f64,
}

impl Underpowered {
    /// So many pairs against a significance, such as 0.05; `None` when they can reach it.
    #[must_use]
    pub fn of(pairs: usize, significance: f64) -> Option<Self> {
        (significance < minimum_p(pairs)).then_some(Self { pairs, significance })
    }
}

impl fmt::Display for Underpowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "underpowered: with {} pairs that differ the smallest p is {}, above {}",
            self.pairs,
            minimum_p(self.pairs),
            self.significance
        )
    }
}

/// Tests whether paired differences are symmetric about 0.
///
/// Differences are rounded to 1e-12 first, so that ties and zeros do not hang on the last bits. Up to 60 differences
/// other than 0 the p-values are exact, counted over doubled midranks; beyond, they are normal.
///
/// # Errors
/// [`Undefined::TooFew`] without a pair.
pub fn wilcoxon(differences: &Sample<'_>, zeros: Zeros) -> Result<Wilcoxon, Undefined> {
    if differences.is_empty() {
        return Err(Undefined::TooFew {
            items: "pairs",
            count: 0,
            need: 1,
        });
    }
    let mut rounded: Vec<f64> = differences.values().iter().map(|value| round(*value)).collect();
    let is_zero = |value: &f64| value.abs() < f64::MIN_POSITIVE;
    let zero_count = rounded.iter().filter(|value| is_zero(value)).count();
    if zeros == Zeros::Wilcox {
        rounded.retain(|value| !is_zero(value));
    }
    let mut signed = doubled_midranks(rounded);
    signed.retain(|(value, _)| !is_zero(value));
    Ok(outcome(&signed, zero_count))
}

/// To the nearest multiple of 1e-12; values whose multiple overflows have no such digits and stay.
fn round(value: f64) -> f64 {
    let multiple = value * 1e12;
    if multiple.is_finite() {
        multiple.round_ties_even() / 1e12
    } else {
        value
    }
}

/// Each value beside twice its midrank by magnitude, in the order of magnitude.
fn doubled_midranks(mut values: Vec<f64>) -> Vec<(f64, usize)> {
    values.sort_unstable_by(|left, right| left.abs().total_cmp(&right.abs()));
    let mut ranked = Vec::with_capacity(values.len());
    for tied in values.chunk_by(|left, right| left.abs().total_cmp(&right.abs()).is_eq()) {
        // Twice the mean of the ranks `before + 1` to `before + tied`.
        let rank = 2 * ranked.len() + tied.len() + 1;
        ranked.extend(tied.iter().map(|value| (*value, rank)));
    }
    ranked
}

fn outcome(signed: &[(f64, usize)], zeros: usize) -> Wilcoxon {
    let all: usize = signed.iter().map(|(_, rank)| rank).sum();
    let above = signed.iter().filter(|(value, _)| 0.0 < *value);
    let plus: usize = above.map(|(_, rank)| rank).sum();
    let ranks: Vec<usize> = signed.iter().map(|(_, rank)| *rank).collect();
    let (tails, method) = if ranks.len() <= EXACT_PAIRS_MAX {
        (exact_tails(&ranks, plus), PValueMethod::Exact)
    } else {
        (normal_tails(&ranks, plus), PValueMethod::Normal)
    };
    let (p_greater, p_less) = tails;
    let minus = all - plus;
    Wilcoxon {
        pairs: signed.len(),
        zeros,
        w_plus: count(plus) / 2.0,
        w_minus: count(minus) / 2.0,
        p: (2.0 * p_greater.min(p_less)).min(1.0),
        p_greater,
        p_less,
        rank_biserial: (0 < all).then(|| (count(plus) - count(minus)) / count(all)),
        method,
    }
}

/// Upper and lower tail at `plus`, by counting the subsets of ranks of each sum. There are at most 2^60 of them, so
/// that every count is exact.
fn exact_tails(ranks: &[usize], plus: usize) -> (f64, f64) {
    let all: usize = ranks.iter().sum();
    let mut subsets = vec![0_u64; all + 1];
    if let Some(none) = subsets.first_mut() {
        *none = 1;
    }
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (*rank..=reached).rev() {
            let without = subsets.get(sum - rank).copied().unwrap_or(0);
            if let Some(subsets) = subsets.get_mut(sum) {
                *subsets += without;
            }
        }
    }
    let of_all = |subsets: u64| ranks.iter().fold(nearest(subsets), |share, _| share / 2.0);
    let upper: u64 = subsets.iter().skip(plus).sum();
    let lower: u64 = subsets.iter().take(plus + 1).sum();
    (of_all(upper), of_all(lower))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "one rounding of an exact count, as of the quotient itself"
)]
const fn nearest(subsets: u64) -> f64 {
    subsets as f64
}

/// Upper and lower tail of the normal distribution with the mean and variance of the sum of fair signs.
fn normal_tails(ranks: &[usize], plus: usize) -> (f64, f64) {
    let (mut mean, mut variance) = (0.0, 0.0);
    for rank in ranks {
        // Half the doubled rank is the rank; each is in the sum with probability a half.
        mean += count(*rank) / 2.0;
        variance += count(*rank) * count(*rank) / 4.0;
    }
    let z = (count(plus) - mean) / f64::sqrt(variance);
    (normal_cdf(-z), normal_cdf(z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn test(values: &[f64], zeros: Zeros) -> Wilcoxon {
        wilcoxon(&Sample::new("differences", values).unwrap(), zeros).unwrap()
    }

    #[test]
    fn five_pairs_cannot_be_significant_and_it_says_so() {
        let five = test(&[0.1, 0.2, 0.3, 0.4, 0.5], Zeros::Wilcox);
        assert!((five.p - 0.0625).abs() < 1e-15 && (five.minimum_p() - 0.0625).abs() < 1e-15);
        assert_eq!(
            five.underpowered(0.05).unwrap().to_string(),
            "underpowered: with 5 pairs that differ the smallest p is 0.0625, above 0.05"
        );
        assert_eq!(
            test(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], Zeros::Wilcox).underpowered(0.05),
            None
        );
    }

    #[test]
    fn the_smallest_p_of_ten_windows() {
        let expected = [(0, 1.0), (1, 1.0), (2, 0.5), (10, 2.0 / 1024.0), (1_000_000, 0.0)];
        for (pairs, p) in expected {
            assert_eq!(minimum_p(pairs).to_bits(), f64::to_bits(p), "{pairs}");
        }
    }

    #[test]
    fn no_difference_at_all_is_no_evidence() {
        let none = test(&[0.0, -0.0, 1e-13], Zeros::Pratt);
        assert_eq!((none.pairs, none.zeros, none.rank_biserial), (0, 3, None));
        assert!((none.p - 1.0).abs() < 1e-15);
        let empty = Sample::new("differences", &[]).unwrap();
        assert!(matches!(
            wilcoxon(&empty, Zeros::Wilcox),
            Err(Undefined::TooFew { .. })
        ));
    }

    #[test]
    fn the_last_bits_make_no_ranks() {
        let exact = test(&[0.3, -0.3, 0.2], Zeros::Wilcox);
        let noisy = test(&[0.1 + 0.2, -0.3, 0.2], Zeros::Wilcox);
        assert_eq!(exact, noisy);
    }

    #[test]
    fn sixty_pairs_are_counted_and_sixty_one_are_not() {
        let alternating = |pairs: i32| -> Vec<f64> {
            let value = |place: i32| f64::from(place) * if place % 3 == 0 { -1.0 } else { 1.0 };
            (1..=pairs).map(value).collect()
        };
        let (exact, normal) = (
            test(&alternating(60), Zeros::Wilcox),
            test(&alternating(61), Zeros::Wilcox),
        );
        assert_eq!(
            (exact.method, normal.method),
            (PValueMethod::Exact, PValueMethod::Normal)
        );
        let all_plus: Vec<f64> = (1..=60).map(f64::from).collect();
        let p = test(&all_plus, Zeros::Wilcox).p;
        assert_eq!(p.to_bits(), minimum_p(60).to_bits());
    }

    #[test]
    fn beyond_sixty_it_is_scipys_approximation_with_ties_and_zeros() {
        let value = |place: i32| f64::from((place * 37) % 23 - 10) / 2.0;
        let values: Vec<f64> = (1..=80).map(value).collect();
        let cases = [
            (
                Zeros::Wilcox,
                0.196_002_060_559_280_6,
                0.098_001_030_279_640_3,
                1712.5,
            ),
            (
                Zeros::Pratt,
                0.202_449_385_403_365_43,
                0.101_224_692_701_682_72,
                1880.5,
            ),
        ];
        for (zeros, p, p_greater, w_plus) in cases {
            let found = test(&values, zeros);
            assert_eq!((found.method, found.zeros), (PValueMethod::Normal, 4));
            assert!((found.p - p).abs() < 1e-12 && (found.p_greater - p_greater).abs() < 1e-12);
            assert!((found.p_less + p_greater - 1.0).abs() < 1e-12 && (found.w_plus - w_plus).abs() < 1e-12);
        }
    }

    #[test]
    fn values_too_large_to_round_are_still_ranked() {
        let huge = test(&[1e300, -1e299, 2e299], Zeros::Wilcox);
        assert!((huge.w_plus - 5.0).abs() < 1e-15 && (huge.w_minus - 1.0).abs() < 1e-15);
    }

    /// All assignments of signs, one by one.
    fn enumerate(ranks: &[usize], plus: usize) -> (f64, f64) {
        let all = 1_usize << ranks.len();
        let sum = |signs: usize| -> usize {
            let on = ranks.iter().enumerate().filter(|(bit, _)| signs >> bit & 1 == 1);
            on.map(|(_, rank)| rank).sum()
        };
        let share = |keep: &dyn Fn(usize) -> bool| {
            count((0..all).filter(|signs| keep(sum(*signs))).count()) / count(all)
        };
        (share(&|sum| plus <= sum), share(&|sum| sum <= plus))
    }

    proptest! {
        #[test]
        fn counting_is_enumerating(values in prop::collection::vec(-3..=3_i32, 1..10), pratt: bool) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let zeros = if pratt { Zeros::Pratt } else { Zeros::Wilcox };
            let found = test(&values, zeros);
            let kept = values.iter().copied().filter(|value| pratt || *value != 0.0).collect();
            let mut signed = doubled_midranks(kept);
            signed.retain(|(value, _)| *value != 0.0);
            let ranks: Vec<usize> = signed.iter().map(|(_, rank)| *rank).collect();
            let plus: usize = signed.iter().filter(|(value, _)| 0.0 < *value).map(|(_, rank)| rank).sum();
            let (upper, lower) = enumerate(&ranks, plus);
            prop_assert_eq!((found.p_greater, found.p_less), (upper, lower));
        }

        #[test]
        fn order_does_not_matter_and_signs_mirror(values in prop::collection::vec(-1.0..1.0_f64, 1..80)) {
            let found = test(&values, Zeros::Wilcox);
            let mirrored: Vec<f64> = values.iter().rev().map(|value| -value).collect();
            let mirrored = test(&mirrored, Zeros::Wilcox);
            prop_assert!((found.p - mirrored.p).abs() < 1e-14);
            prop_assert_eq!(found.w_plus.to_bits(), mirrored.w_minus.to_bits());
            prop_assert!(0.0 < found.p && found.p <= 1.0);
            if found.method == PValueMethod::Exact {
                prop_assert!(found.minimum_p() <= found.p);
            }
        }
    }
}
