//! Whether a daily mean differs from 0, when days depend on each other.

use super::normal::normal_two_sided_p;
use super::sample::Sample;
use crate::Undefined;
use crate::moments::{count, is_rounding, mean};

/// A mean with the standard error of Newey and West (1987).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeweyWest {
    /// Daily mean.
    pub mean: f64,
    /// Lags of the Bartlett window, in days.
    pub lag_days: usize,
    /// Standard error of the mean, without a correction for small samples.
    pub standard_error: f64,
    /// Mean over standard error.
    pub t: f64,
    /// Two-sided p-value of `t`, by the normal distribution.
    pub p: f64,
}

/// `floor(4 (T / 100)^(2 / 9))`: 5 of 548 days.
///
/// In whole numbers, because the floor of a float power is off by one where the power is whole: it is the largest `L`
/// with `L^9 100^2 <= 4^9 T^2`.
#[must_use]
pub fn default_lag_days(days: usize) -> usize {
    let whole = |number: usize| u128::try_from(number).unwrap_or(u128::MAX);
    let right = whole(days)
        .saturating_mul(whole(days))
        .saturating_mul(4_u128.pow(9));
    let fits = |lag: &usize| {
        let left = whole(*lag)
            .checked_pow(9)
            .and_then(|power| power.checked_mul(10_000));
        left.is_some_and(|left| left <= right)
    };
    (1..=days).take_while(fits).last().unwrap_or(0)
}

/// The mean of daily values, such as daily selection, and its t. `lag_days` of `None` is [`default_lag_days`].
///
/// # Errors
/// [`Undefined::TooFewDays`] below two days; [`Undefined::ZeroVariance`] when the values do not vary, as the selection
/// of an all-cash agent; [`Undefined::OutOfRange`] where a sum overflows.
pub fn newey_west(values: &Sample<'_>, lag_days: Option<usize>) -> Result<NeweyWest, Undefined> {
    let days = values.len();
    let too_few = Undefined::TooFewDays { days, need_days: 2 };
    let mean = mean(values.values()).filter(|_| 2 <= days).ok_or(too_few)?;
    let lag_days = lag_days.unwrap_or_else(|| default_lag_days(days));
    let centred: Vec<f64> = values.values().iter().map(|value| value - mean).collect();
    let total = count(days);
    let mut variance = cross_product(&centred, 0) / total;
    for lag in 1..=lag_days.min(days - 1) {
        let weight = 1.0 - count(lag) / (count(lag_days) + 1.0);
        variance += 2.0 * weight * cross_product(&centred, lag) / total;
    }
    let variance = Undefined::unless_finite(variance)?;
    // The Bartlett window keeps the variance at 0 or above, but for rounding.
    if is_rounding(variance.max(0.0).sqrt(), mean) {
        return Err(Undefined::ZeroVariance);
    }
    let standard_error = (variance / total).sqrt();
    let t = Undefined::unless_finite(mean / standard_error)?;
    Ok(NeweyWest {
        mean,
        lag_days,
        standard_error,
        t,
        p: normal_two_sided_p(t),
    })
}

/// Sum of products of values so many days apart.
fn cross_product(values: &[f64], lag: usize) -> f64 {
    let later = values.iter().skip(lag);
    later.zip(values).map(|(later, earlier)| later * earlier).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[f64], lag: Option<usize>) -> Result<NeweyWest, Undefined> {
        newey_west(&Sample::new("selection", values).unwrap(), lag)
    }

    #[test]
    fn the_floor_is_exact_where_the_power_is_whole() {
        let cases = [
            (0, 0),
            (1, 1),
            (67, 3),
            (100, 4),
            (256, 4),
            (548, 5),
            (51_199, 15),
            (51_200, 16),
        ];
        for (days, lag) in cases {
            assert_eq!(default_lag_days(days), lag, "{days} days");
        }
    }

    #[test]
    fn what_has_no_t() {
        assert!(matches!(of(&[0.1], None), Err(Undefined::TooFewDays { .. })));
        assert_eq!(of(&[0.0; 60], None), Err(Undefined::ZeroVariance));
        assert_eq!(of(&[0.1; 60], None), Err(Undefined::ZeroVariance));
        assert_eq!(of(&[f64::MAX, -f64::MAX], None), Err(Undefined::OutOfRange));
    }

    proptest! {
        #[test]
        fn t_does_not_change_with_the_unit(
            values in prop::collection::vec(-0.1..0.1_f64, 5..60), factor in 0.5..20.0_f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
            let (one, other) = (of(&values, None).unwrap(), of(&scaled, None).unwrap());
            prop_assert!((one.t - other.t).abs() <= 1e-9 * one.t.abs().max(1.0));
            prop_assert!((0.0..=1.0).contains(&one.p));
        }

        #[test]
        fn without_lags_it_is_the_plain_standard_error(values in prop::collection::vec(-0.1..0.1_f64, 5..60)) {
            let days = count(values.len());
            let mean = values.iter().sum::<f64>() / days;
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            let plain = (squares / days / days).sqrt();
            prop_assert!((of(&values, Some(0)).unwrap().standard_error - plain).abs() < 1e-15);
        }
    }
}
