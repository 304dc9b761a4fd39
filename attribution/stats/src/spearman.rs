//! How alike two orders are.

use super::error::StatsError;
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
    let (left, right) = (Sample::new("left", left)?, Sample::new("right", right)?);
    Ok(correlation(&mid_ranks(left.values()), &mid_ranks(right.values())))
}

/// The place of each value from the lowest up, 1 for the first; equal values share the mean of their places.
fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0.0;
    for equal in order.chunk_by(|left, right| right.0 <= left.0) {
        #[expect(clippy::cast_precision_loss, reason = "a sample is far below 2^53 long")]
        let count = equal.len() as f64;
        for (_, place) in equal {
            if let Some(rank) = ranks.get_mut(*place) {
                *rank = before + count.midpoint(1.0);
            }
        }
        before += count;
    }
    ranks
}

fn correlation(left: &[f64], right: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a sample is far below 2^53 long")]
    let count = left.len() as f64;
    let (left_mean, right_mean) = (
        left.iter().sum::<f64>() / count,
        right.iter().sum::<f64>() / count,
    );
    let (mut both, mut of_left, mut of_right) = (0.0, 0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (left - left_mean, right - right_mean);
        both += left * right;
        of_left += left * left;
        of_right += right * right;
    }
    let scale = (of_left * of_right).sqrt();
    (0.0 < scale).then(|| both / scale)
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
    fn what_cannot_be_compared() {
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), Ok(None));
        assert!(spearman(&[1.0, 2.0], &[1.0]).is_err());
        assert!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]).is_err());
    }
}
