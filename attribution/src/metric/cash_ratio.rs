//! How much stayed in cash.

use super::nav_path::Daily;
use ktd_stats::Undefined;
use ktd_stats::moments::mean;

/// Mean over days of the cash at the close over the net asset value at the close.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn cash_ratio(cash: &Daily<'_>) -> Result<f64, Undefined> {
    let shares: Vec<f64> = cash
        .values()
        .iter()
        .zip(cash.path().closes())
        .map(|(cash, nav)| cash / nav)
        .collect();
    let value = mean(&shares).ok_or(Undefined::TooFewDays {
        days: 0,
        need_days: 1,
    })?;
    Undefined::unless_finite(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::NavPath;

    #[test]
    fn cash_is_taken_at_the_same_close() {
        let path = NavPath::new(100.0, &[100.0, 200.0]).unwrap();
        let ratio = cash_ratio(&path.daily("cash", &[100.0, 50.0]).unwrap()).unwrap();
        assert!((ratio - 0.625).abs() < 1e-15);
    }
}
