//! How alike two orders are.

use super::error::StatsError;
use super::moments::{count, mean};
use super::sample::Sample;

/// Spearman's rank correlation (1904): Pearson's of the ranks, where equal values share the mean of their places. `None`
/// where one of the two does not vary.
///
/// # Errors
/// [`StatsError::Length`] unless both have the same number of values, and what [`Sample::new`] refuses.
pub fn spearman(left: &[f64], right: &[f64]) -> Result<Option<f64>, StatsError> {
    if left.len() != right.len() {
        return Err(StatsError::Length {
            left: left.len(),
            right: right.len(),
        });
    }
    Sample::new("left", left)?;
    Sample::new("right", right)?;
    let mut ranking = Ranking::default();
    let (mut left_ranks, mut right_ranks) = (Vec::new(), Vec::new());
    ranking.centred_ranks(left, &mut left_ranks);
    ranking.centred_ranks(right, &mut right_ranks);
    Ok(rank_correlation(&left_ranks, &right_ranks))
}

/// The place of each value from the lowest up, 1 for the first; equal values share the mean of their places.
#[must_use]
pub fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = Vec::new();
    Ranking::default().centred_ranks(values, &mut ranks);
    let middle = count(values.len()) + 1.0;
    ranks
        .into_iter()
        .map(|rank| f64::midpoint(f64::from(rank), middle))
        .collect()
}

/// Ranks of many columns, whose room is used again.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    keys: Vec<u64>,
    wide: Vec<(u64, u32)>,
}

impl Ranking {
    /// Twice the rank of each value less the number of values plus 1: whole numbers whose sum is 0, so that sums of their
    /// products have no rounding. Equal values share the mean of their places, and -0 equals 0; no value may be NaN.
    pub fn centred_ranks(&mut self, values: &[f64], ranks: &mut Vec<i32>) {
        ranks.clear();
        ranks.resize(values.len(), 0);
        // A float32's order and its place fit one integer, which sorts several times faster.
        self.keys.clear();
        let narrow = values
            .iter()
            .zip(0_u32..)
            .map_while(|(value, place)| narrow_key(*value, place));
        self.keys.extend(narrow);
        if self.keys.len() == values.len() {
            self.keys.sort_unstable();
            let order = self.keys.iter().map(|key| (key >> 32, low_half(*key)));
            set_ranks(order, ranks);
        } else {
            self.wide.clear();
            self.wide
                .extend(values.iter().map(|value| ordered(*value)).zip(0..));
            self.wide.sort_unstable();
            set_ranks(self.wide.iter().copied(), ranks);
        }
    }
}

/// Pearson's correlation of centred ranks; `None` where one of the two does not vary. Exact but for one root and one quotient.
#[must_use]
pub fn rank_correlation(left: &[i32], right: &[i32]) -> Option<f64> {
    let (of_left, of_right) = (product(left, left), product(right, right));
    let scale = (of_left * of_right).sqrt();
    (0.0 < scale).then(|| (product(left, right) / scale).clamp(-1.0, 1.0))
}

/// Pearson's correlation; `None` where one of the two does not vary. Values are scaled first, so that no square leaves the
/// range of floats.
#[must_use]
pub fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    let centred = |values: &[f64]| -> Option<Vec<f64>> {
        let mean = mean(values)?;
        let largest = values
            .iter()
            .map(|value| (value - mean).abs())
            .fold(0.0, f64::max);
        (0.0 < largest).then(|| values.iter().map(|value| (value - mean) / largest).collect())
    };
    let (left, right) = (centred(left)?, centred(right)?);
    let product = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    };
    let scale = (product(&left, &left) * product(&right, &right)).sqrt();
    Some((product(&left, &right) / scale).clamp(-1.0, 1.0))
}

/// Products whose sum cannot leave 64 bits, for columns of up to 2^25 values.
const EXACT_PRODUCTS: usize = 4096;

fn product(left: &[i32], right: &[i32]) -> f64 {
    let parts = left.chunks(EXACT_PRODUCTS).zip(right.chunks(EXACT_PRODUCTS));
    let sum: i128 = parts
        .map(|(left, right)| {
            let products = left.iter().zip(right);
            i128::from(
                products
                    .map(|(left, right)| i64::from(*left) * i64::from(*right))
                    .sum::<i64>(),
            )
        })
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53: 300,000 values")]
    let sum = sum as f64;
    sum
}

/// Bits whose order is that of floats.
const fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The order of a float32 above its place; `None` for a value that no float32 is.
fn narrow_key(value: f64, place: u32) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "compared with the value right after"
    )]
    let single = value as f32 + 0.0;
    let is_same = f64::from(single).to_bits() == (value + 0.0).to_bits();
    let bits = single.to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    is_same.then_some(u64::from(ordered) << 32 | u64::from(place))
}

const fn low_half(key: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
    let place = key as u32;
    place
}

/// Ranks by keys in ascending order with their places.
fn set_ranks(order: impl ExactSizeIterator<Item = (u64, u32)> + Clone, ranks: &mut [i32]) {
    let size = i32::try_from(order.len()).unwrap_or(i32::MAX);
    let (mut below, mut rest) = (0, order);
    while let Some((key, _)) = rest.clone().next() {
        let mut equal = rest.clone().take_while(|(other, _)| *other == key);
        let ties = i32::try_from(equal.by_ref().count()).unwrap_or(i32::MAX);
        for (_, place) in rest.by_ref().take(usize::try_from(ties).unwrap_or(0)) {
            if let Some(rank) = usize::try_from(place).ok().and_then(|place| ranks.get_mut(place)) {
                *rank = 2 * below + ties - size;
            }
        }
        below += ties;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let close = |left: &[f64], right: &[f64], expected: f64| {
            let found = spearman(left, right).unwrap().unwrap();
            assert!((found - expected).abs() < 1e-15, "{found}");
        };
        close(&[1.0, 2.0, 3.0], &[10.0, 200.0, 201.0], 1.0);
        close(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], -1.0);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
        close(
            &[0.0, 5.0, 5.0, 9.0],
            &[1.0, 2.0, 3.0, 4.0],
            4.5 / (4.5_f64 * 5.0).sqrt(),
        );
    }

    #[test]
    fn a_column_is_exactly_its_own_copy() {
        for scale in [1.0, 1e-200, 1e200] {
            let values: Vec<f64> = (0..17_u32)
                .map(|place| scale * f64::from(place * place % 11))
                .collect();
            assert_eq!(spearman(&values, &values), Ok(Some(1.0)));
            assert_eq!(pearson(&values, &values), Some(1.0));
        }
        assert_eq!(pearson(&[2.0, 2.0], &[1.0, 2.0]), None);
    }

    #[test]
    fn ranks_of_floats32_and_of_others_are_the_same() {
        let single = [3.0, -0.0, -2.5, 0.0, 3.0, 1.0, -2.5, -2.5];
        assert_eq!(mid_ranks(&single), [7.5, 4.5, 2.0, 4.5, 7.5, 6.0, 2.0, 2.0]);
        let double: Vec<f64> = single.iter().map(|value| value * 0.1).collect();
        assert_eq!(mid_ranks(&double), mid_ranks(&single));
        assert_eq!(mid_ranks(&[f64::MAX, 1.0, f64::MIN]), [3.0, 2.0, 1.0]);
    }

    #[test]
    fn what_cannot_be_compared() {
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), Ok(None));
        assert!(spearman(&[1.0, 2.0], &[1.0]).is_err());
        assert!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]).is_err());
    }
}
