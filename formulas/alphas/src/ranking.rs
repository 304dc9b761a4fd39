//! Values over the names of one day.

/// Whether the values are not all equal.
pub(crate) fn varies(values: &[f64]) -> bool {
    let first = values.first().copied().unwrap_or(f64::NAN);
    values.iter().any(|value| *value < first || first < *value)
}

/// The places of so many of the highest values, the highest first, of equal ones the earlier.
#[must_use]
pub fn highest(values: impl IntoIterator<Item = Option<f64>>, most: usize) -> Vec<usize> {
    let values = values.into_iter().zip(0..);
    let mut order: Vec<(f64, usize)> = values
        .filter_map(|(value, place)| Some((value?, place)))
        .collect();
    order.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    order.into_iter().take(most).map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::highest;

    #[test]
    fn the_highest_come_first_and_of_equal_ones_the_earlier() {
        let values = [Some(0.01), Some(0.05), None, Some(0.04), Some(0.05), Some(-0.02)];
        assert_eq!(highest(values, 20), [1, 4, 3, 0, 5]);
        assert_eq!(highest(values, 2), [1, 4]);
        assert_eq!(highest(values, 0), [0; 0]);
    }
}
