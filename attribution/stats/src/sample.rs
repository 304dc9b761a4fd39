//! Values that were checked once.

use super::error::StatsError;

/// Finite values, in the order given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    values: &'a [f64],
}

impl<'a> Sample<'a> {
    /// Checks values; `series` names them in the error.
    ///
    /// # Errors
    /// [`StatsError::NotFinite`] for a value that is NaN or infinite.
    pub fn new(series: &'static str, values: &'a [f64]) -> Result<Self, StatsError> {
        for (place, value) in values.iter().copied().enumerate() {
            if !value.is_finite() {
                return Err(StatsError::NotFinite { series, place, value });
            }
        }
        Ok(Self { values })
    }

    /// The values.
    #[must_use]
    pub const fn values(&self) -> &'a [f64] {
        self.values
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values in ascending order.
    pub(crate) fn sorted(&self) -> Vec<f64> {
        let mut values = self.values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_no_number_is_named() {
        let error = Sample::new("differences", &[0.0, f64::NAN]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "differences: value 1 was NaN, but it must be a finite number"
        );
        assert!(Sample::new("differences", &[f64::NEG_INFINITY]).is_err());
        assert!(Sample::new("differences", &[]).is_ok_and(|sample| sample.is_empty()));
    }
}
