//! Return for the risk taken.

use super::nav_path::NavPath;
use ktd_stats::Undefined;
use ktd_stats::moments::Moments;

/// Annualised Sharpe ratio of daily returns: `sqrt(252) * mean / deviation`, ddof 1, riskless rate 0.
///
/// # Errors
/// [`Undefined::TooFewDays`] below two returns; [`Undefined::ZeroVariance`] when the returns do not vary.
pub fn sharpe_ratio(path: &NavPath<'_>) -> Result<f64, Undefined> {
    let returns: Vec<f64> = path.returns().collect();
    let moments = Moments::of(&returns).ok_or(Undefined::TooFewDays {
        days: returns.len(),
        need_days: 2,
    })?;
    moments.annual_ratio(Undefined::ZeroVariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_path_has_a_reason_and_no_ratio() {
        let path = NavPath::new(100.0, &[100.0, 100.0, 100.0]).unwrap();
        assert_eq!(sharpe_ratio(&path), Err(Undefined::ZeroVariance));
        let grows = NavPath::new(100.0, &[101.0, 102.01, 103.030_1]).unwrap();
        assert_eq!(sharpe_ratio(&grows), Err(Undefined::ZeroVariance));
    }

    #[test]
    fn one_day_is_too_few() {
        let path = NavPath::new(100.0, &[101.0]).unwrap();
        let reason = sharpe_ratio(&path).unwrap_err();
        assert_eq!(
            reason,
            Undefined::TooFewDays {
                days: 1,
                need_days: 2
            }
        );
        assert_eq!(reason.to_string(), "1 daily returns, but at least 2 are needed");
    }

    #[test]
    fn returns_that_overflow_are_a_reason() {
        let path = NavPath::new(1.0, &[1e-300, 1e300, 1.0]).unwrap();
        assert_eq!(sharpe_ratio(&path), Err(Undefined::OutOfRange));
    }
}
