//! Rolling figures of the documents: missing until their window is full.

/// Mean of the last `window` values.
pub(crate) fn rolling_mean(values: &[f64], window: usize) -> Vec<Option<f64>> {
    over_windows(values, window, mean)
}

/// Sample standard deviation (divided by `window` - 1) of the last `window` values.
pub(crate) fn rolling_deviation(values: &[f64], window: usize) -> Vec<Option<f64>> {
    over_windows(values, window, sample_deviation)
}

/// Highest of the last `window` values.
pub(crate) fn rolling_highest(values: &[f64], window: usize) -> Vec<Option<f64>> {
    over_windows(values, window, |window| {
        Some(window.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    })
}

/// Lowest of the last `window` values.
pub(crate) fn rolling_lowest(values: &[f64], window: usize) -> Vec<Option<f64>> {
    over_windows(values, window, |window| {
        Some(window.iter().copied().fold(f64::INFINITY, f64::min))
    })
}

fn over_windows(values: &[f64], window: usize, figure: impl Fn(&[f64]) -> Option<f64>) -> Vec<Option<f64>> {
    (1..=values.len())
        .map(|end| {
            let start = end.checked_sub(window)?;
            figure(values.get(start..end)?)
        })
        .collect()
}

/// Mean; `None` of nothing. Equal values have themselves as mean, whatever rounding says of their sum.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    if are_equal(values) {
        return Some(first);
    }
    Some(values.iter().sum::<f64>() / count(values.len()))
}

/// Sample standard deviation; 0 where all are equal, `None` of fewer than two.
pub(crate) fn sample_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    if are_equal(values) {
        return Some(0.0);
    }
    let centre = mean(values)?;
    let squares: f64 = values
        .iter()
        .map(|value| (value - centre) * (value - centre))
        .sum();
    Some((squares / count(values.len() - 1)).sqrt())
}

#[expect(
    clippy::float_cmp,
    reason = "the same value, bit for bit but for the sign of zero"
)]
fn are_equal(values: &[f64]) -> bool {
    values
        .first()
        .is_some_and(|first| values.iter().all(|value| value == first))
}

/// Exponential mean with this weight of the newest value, started at the first value.
pub(crate) fn exponential_mean(values: &[f64], weight: f64) -> Vec<f64> {
    let mut state: Option<f64> = None;
    values
        .iter()
        .map(|value| {
            let next = state.map_or(*value, |before| (1.0 - weight) * before + weight * value);
            state = Some(next);
            next
        })
        .collect()
}

/// A figure of the bar before.
pub(crate) fn before<T: Copy>(values: &[Option<T>], bar: usize) -> Option<T> {
    values.get(bar.checked_sub(1)?).copied().flatten()
}

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts of bars are far below 2^53")]
pub(crate) const fn count(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_full_before_they_say_anything() {
        assert_eq!(rolling_mean(&[1.0, 2.0, 6.0], 2), [None, Some(1.5), Some(4.0)]);
        assert_eq!(rolling_deviation(&[0.1, 0.1, 0.1], 3), [None, None, Some(0.0)]);
        assert_eq!(rolling_highest(&[3.0, 1.0], 2), [None, Some(3.0)]);
        assert_eq!(rolling_lowest(&[3.0, 1.0], 1), [Some(3.0), Some(1.0)]);
        assert_eq!(exponential_mean(&[2.0, 4.0], 0.25), [2.0, 2.5]);
        assert_eq!(before(&[Some(1), None], 1), Some(1));
        assert_eq!(before(&[Some(1)], 0), None);
    }
}
