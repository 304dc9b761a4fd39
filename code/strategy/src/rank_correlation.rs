//! Spearman's rank correlation over few pairs: with an exact p-value and bounds by drawing pairs again.

use ktd_env::KeyedStream;
use ktd_stats::{mid_ranks, spearman};

/// Pairs up to which all orders are counted.
const EXACT_MAX: usize = 12;
/// Pairs below which nothing is said.
const PAIRS_MIN: usize = 3;
/// How often pairs are drawn again.
const DRAWS: usize = 1000;
/// Correlations of as many draws must exist for bounds.
const DRAWS_MIN: usize = 500;

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
    /// The middle 95 % where pairs are drawn again; none where too few draws vary.
    pub bounds: Option<(f64, f64)>,
}

impl RankCorrelation {
    /// The correlation of pairs; none below three, and where one side does not vary.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], seed: u64) -> Option<Self> {
        let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let rho = rank_correlation(&left, &right).filter(|_| pairs.len() >= PAIRS_MIN)?;
        Some(Self {
            rho,
            p: exact_p(&left, &right),
            bounds: bounds(pairs, seed),
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

fn bounds(pairs: &[(f64, f64)], seed: u64) -> Option<(f64, f64)> {
    let size = u64::try_from(pairs.len()).ok()?;
    let mut stream = KeyedStream::for_purpose(seed, "rank correlation/bootstrap");
    let mut drawn: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            let picked = (0..pairs.len())
                .filter_map(|_| pairs.get(usize::try_from(stream.below(size)).ok()?).copied());
            let (left, right): (Vec<f64>, Vec<f64>) = picked.unzip();
            rank_correlation(&left, &right)
        })
        .collect();
    if drawn.len() < DRAWS_MIN {
        return None;
    }
    drawn.sort_by(f64::total_cmp);
    let cut = drawn.len() / 40;
    Some((*drawn.get(cut)?, *drawn.get(drawn.len() - 1 - cut)?))
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
        let found = RankCorrelation::of(&pairs(&[10.0, 20.0, 30.0]), 1).unwrap();
        assert!((found.rho - 1.0).abs() < 1e-12 && (found.p.unwrap() - 2.0 / 6.0).abs() < 1e-12);
        // rho = 0.8 of four: 1.0 and -1.0, and three orders each of 0.8 and -0.8.
        let found = RankCorrelation::of(&pairs(&[2.0, 1.0, 3.0, 4.0]), 1).unwrap();
        assert!((found.p.unwrap() - 8.0 / 24.0).abs() < 1e-12, "{found:?}");
        // Two equal values: of three places for the third, one order in three is as far on either side.
        let found = RankCorrelation::of(&pairs(&[1.0, 1.0, 2.0]), 1).unwrap();
        assert!((found.p.unwrap() - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn twelve_pairs_are_counted_and_thirteen_are_not() {
        let falling: Vec<f64> = (0..13).map(|place| -f64::from(place)).collect();
        let found = RankCorrelation::of(&pairs(&falling[..12]), 1).unwrap();
        assert!((found.p.unwrap() - 2.0 / 479_001_600.0).abs() < 1e-18);
        assert_eq!(found.bounds, Some((-1.0, -1.0)));
        assert_eq!(RankCorrelation::of(&pairs(&falling), 1).unwrap().p, None);
    }

    #[test]
    fn what_does_not_vary_has_none() {
        assert_eq!(RankCorrelation::of(&pairs(&[1.0, 1.0, 1.0]), 1), None);
        assert_eq!(RankCorrelation::of(&pairs(&[1.0, 2.0]), 1), None);
        assert_eq!(rank_correlation(&[1.0], &[1.0]), None);
    }
}
