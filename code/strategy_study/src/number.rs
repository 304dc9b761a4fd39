//! Counts as numbers, and means.

#[expect(clippy::cast_precision_loss, reason = "counts of lines and of submissions")]
pub(crate) const fn as_number(count: usize) -> f64 {
    count as f64
}

/// Mean; none of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / as_number(values.len()))
}
