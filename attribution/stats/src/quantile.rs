//! Quantiles, and what the seeds of one agent say.

use super::sample::Sample;
use super::split_mix::whole;
use crate::Undefined;
use crate::moments::count;

/// Median and quartiles, type 7.
///
/// Of fewer than 5 values the quartiles are midpoints between few points: list the points beside them, or instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// How many values there are.
    pub values: usize,
    /// First quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub upper: f64,
}

/// Median and quartiles.
///
/// # Errors
/// [`Undefined::TooFew`] without a value; [`Undefined::OutOfRange`] where a difference of values overflows.
pub fn spread(sample: &Sample<'_>) -> Result<Quartiles, Undefined> {
    let sorted = sample.sorted();
    Ok(Quartiles {
        values: sample.len(),
        lower: of_sorted(&sorted, 0.25)?,
        median: of_sorted(&sorted, 0.5)?,
        upper: of_sorted(&sorted, 0.75)?,
    })
}

/// The median: the middle value, or the mean of the two in the middle.
///
/// # Errors
/// As [`spread`].
pub fn median(sample: &Sample<'_>) -> Result<f64, Undefined> {
    of_sorted(&sample.sorted(), 0.5)
}

/// The quantile of type 7 (linear between the order statistics); `share` is clamped to 0 to 1.
///
/// # Errors
/// As [`spread`].
pub fn quantile(sample: &Sample<'_>, share: f64) -> Result<f64, Undefined> {
    of_sorted(&sample.sorted(), share)
}

/// Type 7 of values in ascending order.
pub(crate) fn of_sorted(sorted: &[f64], share: f64) -> Result<f64, Undefined> {
    let last = sorted.len().checked_sub(1).ok_or(NO_VALUE)?;
    let place = count(last) * share.clamp(0.0, 1.0);
    let low = *sorted.get(whole(place)).ok_or(NO_VALUE)?;
    let high = sorted.get(whole(place) + 1).copied().unwrap_or(low);
    let (part, step) = (place - place.floor(), high - low);
    // From the nearer end, so that the quantile of 1 is the highest value to the bit.
    let value = if part < 0.5 {
        low + step * part
    } else {
        high - step * (1.0 - part)
    };
    Undefined::unless_finite(value)
}

const NO_VALUE: Undefined = Undefined::TooFew {
    items: "values",
    count: 0,
    need: 1,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample<'_> {
        Sample::new("values", values).unwrap()
    }

    #[test]
    fn quartiles_of_three_are_midpoints() {
        let three = spread(&sample(&[6.0, 1.0, 2.0])).unwrap();
        assert!((three.lower - 1.5).abs() < 1e-15 && (three.upper - 4.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_has_no_quantile() {
        assert_eq!(median(&sample(&[])), Err(NO_VALUE));
        assert_eq!(NO_VALUE.to_string(), "0 values, but at least 1 are needed");
    }

    #[test]
    fn a_difference_that_overflows_is_a_reason() {
        assert_eq!(median(&sample(&[f64::MIN, f64::MAX])), Err(Undefined::OutOfRange));
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_stay_inside(
            values in prop::collection::vec(-1e6..1e6_f64, 1..40),
            shares in (0.0..=1.0_f64, 0.0..=1.0_f64),
        ) {
            let sample = sample(&values);
            let (low, high) = (shares.0.min(shares.1), shares.0.max(shares.1));
            let of = |share| quantile(&sample, share).unwrap();
            prop_assert!(of(low) <= of(high));
            prop_assert!(of(0.0) <= of(low) && of(high) <= of(1.0));
        }
    }
}
