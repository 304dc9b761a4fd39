//! Spearman's rank correlation over few pairs, with an exact p-value and bounds.

use crate::indicators::count;
use ktd_stats::{mid_ranks, normal_quantile, spearman};

/// Pairs up to which all orders are counted.
const EXACT_MAX: usize = 12;
/// Pairs below which nothing is said.
const PAIRS_MIN: usize = 3;
/// Pairs below which there are no bounds.
const BOUNDED_MIN: usize = 4;
/// The share of correlations that lie below the upper bound.
const CONFIDENCE_UPPER: f64 = 0.975;

/// Spearman's correlation; none below two pairs, and where one side does not vary.
#[must_use]
pub fn rank_correlation(left: &[f64], right: &[f64]) -> Option<f64> {
    (left.len() > 1).then(|| spearman(left, right).ok()?)?
}

/// Rank correlation of pairs, and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankCorrelation {
    /// Spearman's rho.
    pub rho: f64,
    /// Share of all orders whose correlation lies at least as far from 0; none above twelve pairs.
    pub p: Option<f64>,
    /// 95 % bounds; none below four pairs.
    pub bounds: Option<(f64, f64)>,
}

impl RankCorrelation {
    /// The correlation of pairs; none below three, and where one side does not vary.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let rho = rank_correlation(&left, &right).filter(|_| pairs.len() >= PAIRS_MIN)?;
        Some(Self {
            rho,
            p: exact_p(&left, &right),
            bounds: spearman_bounds(rho, pairs.len()),
        })
    }
}

/// Ranks as whole numbers: twice the mean of the places that equal values share.
fn doubled_ranks(values: &[f64]) -> Option<Vec<i64>> {
    let mut ranks = Vec::with_capacity(values.len());
    for rank in mid_ranks(values) {
        let doubled = (0_i32..=64).find(|whole| (f64::from(*whole) - 2.0 * rank).abs() < 0.25)?;
        ranks.push(i64::from(doubled));
    }
    Some(ranks)
}

/// Counts all orders of the right ranks by the sum of their products with the left ones, set by set of ranks used so far.
fn exact_p(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() > EXACT_MAX {
        return None;
    }
    let (left, right) = (doubled_ranks(left)?, doubled_ranks(right)?);
    let size = i64::try_from(left.len()).ok()?;
    // The sum of products in the mean over all orders, times the number of pairs.
    let centre = left.iter().sum::<i64>() * right.iter().sum::<i64>();
    let observed: i64 = left.iter().zip(&right).map(|(one, other)| one * other).sum();
    let distance = |sum: i64| (size * sum - centre).abs();
    let limit = usize::try_from(
        left.iter()
            .map(|rank| rank * rank)
            .sum::<i64>()
            .max(right.iter().map(|rank| rank * rank).sum()),
    )
    .ok()?
        + 1;
    let mut counts: Vec<Vec<u64>> = vec![Vec::new(); 1 << right.len()];
    *counts.first_mut()? = vec![1];
    for used in 0..counts.len() {
        let taken = usize::try_from(used.count_ones()).ok()?;
        let Some(rank) = left.get(taken) else { continue };
        let own = counts.get_mut(used).map(std::mem::take)?;
        for (place, other) in right
            .iter()
            .enumerate()
            .filter(|(place, _)| used & (1 << place) == 0)
        {
            let step = usize::try_from(rank * other).ok()?;
            let next = counts.get_mut(used | (1 << place))?;
            next.resize(next.len().max((own.len() + step).min(limit)), 0);
            for (sum, number) in next.iter_mut().skip(step).zip(&own) {
                *sum += number;
            }
        }
    }
    let orders = counts.last()?;
    let all: u64 = orders.iter().sum();
    let far = orders
        .iter()
        .zip(0_i64..)
        .filter(|(_, sum)| distance(*sum) >= distance(observed));
    let far: u64 = far.map(|(number, _)| *number).sum();
    Some(as_number(far) / as_number(all))
}

#[expect(clippy::cast_precision_loss, reason = "at most the orders of twelve pairs")]
const fn as_number(count: u64) -> f64 {
    count as f64
}

/// 95 % bounds of a rank correlation after Bonett and Wright (*Sample size requirements for estimating Pearson, Kendall and Spearman correlations*, 2000): the
/// inverse hyperbolic tangent is normal, of variance (1 + rho^2 / 2) / (pairs - 3). A correlation of 1 is taken half a step of
/// what so many ranks can have below it: there is no room above.
pub(crate) fn spearman_bounds(rho: f64, pairs: usize) -> Option<(f64, f64)> {
    let number = count(pairs);
    let quantile = normal_quantile(CONFIDENCE_UPPER)
        .ok()
        .filter(|_| BOUNDED_MIN <= pairs)?;
    let most = 1.0 - 6.0 / (number * (number * number - 1.0));
    let rho = rho.clamp(-most, most);
    let (middle, reach) = (
        libm::atanh(rho),
        quantile * libm::sqrt((1.0 + rho * rho / 2.0) / (number - 3.0)),
    );
    Some((libm::tanh(middle - reach), libm::tanh(middle + reach)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(right: &[f64]) -> Vec<(f64, f64)> {
        (1..).map(f64::from).zip(right.iter().copied()).collect()
    }

    #[test]
    fn p_is_the_share_of_orders_that_lie_as_far() {
        // Of six orders of three, the given one and its reverse.
        let found = RankCorrelation::of(&pairs(&[10.0, 20.0, 30.0])).unwrap();
        assert!((found.rho - 1.0).abs() < 1e-12 && (found.p.unwrap() - 2.0 / 6.0).abs() < 1e-12);
        // rho = 0.8 of four: 1.0 and -1.0, and three orders each of 0.8 and -0.8.
        let found = RankCorrelation::of(&pairs(&[2.0, 1.0, 3.0, 4.0])).unwrap();
        assert!((found.p.unwrap() - 8.0 / 24.0).abs() < 1e-12, "{found:?}");
        // Two equal values: of three places for the third, one order in three is as far on either side.
        let found = RankCorrelation::of(&pairs(&[1.0, 1.0, 2.0])).unwrap();
        assert!((found.p.unwrap() - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn twelve_pairs_are_counted_and_thirteen_are_not() {
        let falling: Vec<f64> = (0..13).map(|place| -f64::from(place)).collect();
        let found = RankCorrelation::of(&pairs(&falling[..12])).unwrap();
        assert!((found.p.unwrap() - 2.0 / 479_001_600.0).abs() < 1e-18);
        assert_eq!(RankCorrelation::of(&pairs(&falling)).unwrap().p, None);
    }

    /// By hand: of five pairs with rho 0.9, atanh(0.9) = 1.4722 and a deviation of sqrt(1.405 / 2) = 0.8382.
    #[test]
    fn bounds_are_those_of_the_normal_transform_and_reach_inside_of_one() {
        let (low, high) = RankCorrelation::of(&pairs(&[2.0, 1.0, 3.0, 4.0, 5.0]))
            .unwrap()
            .bounds
            .unwrap();
        assert!((low - libm::tanh(1.472_219 - 1.642_749)).abs() < 1e-5, "{low}");
        assert!((high - libm::tanh(1.472_219 + 1.642_749)).abs() < 1e-5, "{high}");
        let (low, high) = RankCorrelation::of(&pairs(&[1.0, 2.0, 3.0, 4.0]))
            .unwrap()
            .bounds
            .unwrap();
        assert!(low < 0.0 && 0.99 < high && high < 1.0, "{low} {high}");
        assert_eq!(
            RankCorrelation::of(&pairs(&[1.0, 2.0, 3.0])).unwrap().bounds,
            None
        );
    }

    #[test]
    fn what_does_not_vary_has_none() {
        assert_eq!(RankCorrelation::of(&pairs(&[1.0, 1.0, 1.0])), None);
        assert_eq!(RankCorrelation::of(&pairs(&[1.0, 2.0])), None);
        assert_eq!(rank_correlation(&[1.0], &[1.0]), None);
    }
}
