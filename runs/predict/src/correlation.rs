//! Daily correlation of predictions and what followed.

/// The mean of numbers; 0 of none.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    if 0.0 < count { sum / count } else { 0.0 }
}

/// The mean over days of the correlation of prediction and return, without days on which either does not vary.
pub(crate) fn mean_correlation(days: impl Iterator<Item = Vec<(f64, f64)>>) -> f64 {
    mean(days.filter_map(|day| correlation(&day)))
}

fn correlation(day: &[(f64, f64)]) -> Option<f64> {
    let centre = (
        mean(day.iter().map(|(predicted, _)| *predicted)),
        mean(day.iter().map(|(_, target)| *target)),
    );
    let (mut both, mut left, mut right) = (0.0, 0.0, 0.0);
    for (predicted, target) in day {
        let apart = (predicted - centre.0, target - centre.1);
        both += apart.0 * apart.1;
        left += apart.0 * apart.0;
        right += apart.1 * apart.1;
    }
    let scale = (left * right).sqrt();
    (0.0 < scale).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_variation_do_not_count() {
        let days = [
            vec![(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)],
            vec![(1.0, 5.0), (1.0, 7.0)],
            vec![(1.0, 1.0), (2.0, -1.0)],
        ];
        assert!(mean_correlation(days.into_iter()).abs() < 1e-15);
        assert!((mean_correlation(std::iter::once(vec![(0.0, 1.0), (2.0, 9.0)])) - 1.0).abs() < 1e-15);
    }
}
