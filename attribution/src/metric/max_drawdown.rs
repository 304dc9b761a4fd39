//! The deepest fall from a peak.

use super::nav_path::NavPath;
use ktd_stats::Undefined;

/// Maximum drawdown as a positive fraction of the peak before it; the initial cash counts as a peak, and a path
/// that never falls has 0.
///
/// # Errors
/// [`Undefined::TooFewDays`] without a day.
pub fn max_drawdown(path: &NavPath<'_>) -> Result<f64, Undefined> {
    if path.days() == 0 {
        return Err(Undefined::TooFewDays {
            days: 0,
            need_days: 1,
        });
    }
    let mut peak = path.initial();
    let mut deepest: f64 = 0.0;
    for nav in path.closes() {
        peak = peak.max(*nav);
        deepest = deepest.max(1.0 - nav / peak);
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawdown(initial: f64, nav: &[f64]) -> f64 {
        max_drawdown(&NavPath::new(initial, nav).unwrap()).unwrap()
    }

    #[test]
    fn a_loss_on_the_first_day_is_a_drawdown() {
        assert!((drawdown(100.0, &[90.0, 95.0, 99.0]) - 0.1).abs() < 1e-15);
    }

    #[test]
    fn a_path_that_only_rises_has_none() {
        assert!(drawdown(100.0, &[100.0, 101.0, 102.0]).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn it_is_measured_from_the_last_peak() {
        assert!((drawdown(100.0, &[120.0, 90.0, 130.0, 110.0]) - 0.25).abs() < 1e-15);
    }
}
