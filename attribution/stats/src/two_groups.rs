//! Two groups of values compared: their means, and their ranks.

use crate::moments::{Moments, count};
use crate::normal::normal_two_sided_p;
use crate::spearman::mid_ranks;
use crate::student_t::student_t_two_sided_p;
use crate::undefined::Undefined;

/// The largest group whose test is exact, where nothing is tied.
const LARGEST_EXACT: usize = 8;

/// Welch's t for two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WelchTest {
    /// The first mean less the second, over its standard error.
    pub t: f64,
    /// Welch and Satterthwaite's degrees of freedom.
    pub degrees_of_freedom: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// Mann and Whitney's U of the first group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which the first group's value is the larger, ties counted half.
    pub u: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// Whether the p-value counts all orders; else it is normal, with ties and continuity.
    pub is_exact: bool,
}

fn enough(group: &[f64], need: usize) -> Result<(), Undefined> {
    let few = Undefined::TooFew {
        items: "values in a group",
        count: group.len(),
        need,
    };
    if group.len() < need { Err(few) } else { Ok(()) }
}

/// Compares two means without assuming one variance.
///
/// # Errors
/// [`Undefined::TooFew`] below two values in a group; [`Undefined::ZeroVariance`] where neither varies.
pub fn welch_test(left: &[f64], right: &[f64]) -> Result<WelchTest, Undefined> {
    let moments = |values: &[f64]| {
        enough(values, 2)?;
        let found = Moments::of(values).ok_or(Undefined::OutOfRange)?;
        Ok((found.mean(), found.variance() / count(values.len())))
    };
    let ((left_mean, left_part), (right_mean, right_part)) = (moments(left)?, moments(right)?);
    let variance = left_part + right_part;
    if variance <= 0.0 {
        return Err(Undefined::ZeroVariance);
    }
    let t = (left_mean - right_mean) / variance.sqrt();
    let weight = |part: f64, values: &[f64]| part * part / (count(values.len()) - 1.0);
    let degrees_of_freedom = variance * variance / (weight(left_part, left) + weight(right_part, right));
    let p = student_t_two_sided_p(t, degrees_of_freedom).map_err(|_| Undefined::OutOfRange)?;
    Ok(WelchTest {
        t,
        degrees_of_freedom,
        p,
    })
}

/// Compares two groups by ranks: exactly where one has fewer than nine values and nothing is tied.
///
/// # Errors
/// [`Undefined::TooFew`] of an empty group; [`Undefined::AllTied`] where all values are equal.
pub fn mann_whitney(left: &[f64], right: &[f64]) -> Result<MannWhitney, Undefined> {
    enough(left, 1)?;
    enough(right, 1)?;
    let both: Vec<f64> = left.iter().chain(right).copied().collect();
    let ranks = mid_ranks(&both);
    let (first, second) = (count(left.len()), count(right.len()));
    let rank_sum: f64 = ranks.iter().take(left.len()).sum();
    let u = rank_sum - first * (first + 1.0) / 2.0;
    let larger = u.max(first * second - u);
    let ties = tie_term(&both);
    if ties <= 0.0 && left.len().min(right.len()) <= LARGEST_EXACT {
        let p = (2.0 * exact_upper_tail(left.len(), right.len(), larger)).min(1.0);
        return Ok(MannWhitney { u, p, is_exact: true });
    }
    let p = normal_p(first, second, larger, ties)?;
    Ok(MannWhitney {
        u,
        p,
        is_exact: false,
    })
}

/// The two-sided p-value by the normal distribution, with ties and continuity.
fn normal_p(first: f64, second: f64, larger: f64, ties: f64) -> Result<f64, Undefined> {
    let total = first + second;
    let variance = first * second / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return Err(Undefined::AllTied);
    }
    let z = (larger - first * second / 2.0 - 0.5) / variance.sqrt();
    Ok(if z <= 0.0 { 1.0 } else { normal_two_sided_p(z) })
}

/// The sum of cubes less sizes over groups of equal values.
fn tie_term(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let groups = sorted
        .chunk_by(|left, right| left >= right)
        .map(|group| count(group.len()));
    groups.map(|size| size * size * size - size).sum()
}

/// The share of all orders of two groups whose U is at least so large.
fn exact_upper_tail(first: usize, second: usize, least: f64) -> f64 {
    // orders by U, one value of the second group more at a time: it lies above none to all of the first group
    let (small, large) = (first.min(second), first.max(second));
    let mut table: Vec<Vec<f64>> = vec![vec![1.0]; small + 1];
    for size in 1..=large {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for members in 1..=small {
            let mut ways = vec![0.0; members * size + 1];
            // the largest value belongs to one group or the other
            let without = next.get(members - 1).cloned().unwrap_or_default();
            for (slot, count) in ways.iter_mut().skip(size).zip(without) {
                *slot += count;
            }
            let fewer = table.get(members).cloned().unwrap_or_default();
            for (slot, count) in ways.iter_mut().zip(fewer) {
                *slot += count;
            }
            next.push(ways);
        }
        table = next;
    }
    let ways = table.pop().unwrap_or_default();
    let total: f64 = ways.iter().sum();
    let tail: f64 = ways
        .iter()
        .enumerate()
        .filter(|(u, _)| least <= count(*u))
        .map(|(_, ways)| ways)
        .sum();
    tail / total
}
