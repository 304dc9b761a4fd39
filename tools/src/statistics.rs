//! Means and deviations of a handful of numbers, summed in the order given.

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

/// Arithmetic mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values))
}

/// Standard deviation with n - 1; `None` of fewer than two.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| 2 <= values.len())?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((squares / (count(values) - 1.0)).sqrt())
}

/// Share of the values that are above 0; `None` of nothing.
pub(crate) fn share_above_zero(values: &[f64]) -> Option<f64> {
    let above: Vec<f64> = values.iter().copied().filter(|value| 0.0 < *value).collect();
    (!values.is_empty()).then(|| count(&above) / count(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(standard_deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
        assert_eq!(share_above_zero(&[1.0, 0.0, -1.0, 2.0]), Some(0.5));
        assert_eq!(share_above_zero(&[]), None);
    }
}
