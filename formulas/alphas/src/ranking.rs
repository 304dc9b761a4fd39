//! Values over the names of one day.

/// Whether the values are not all equal.
pub(crate) fn varies(values: &[f64]) -> bool {
    let first = values.first().copied().unwrap_or(f64::NAN);
    values.iter().any(|value| *value < first || first < *value)
}
