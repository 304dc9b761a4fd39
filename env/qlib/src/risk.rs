//! Qlib's `risk_analysis` (rule A4), with its habits: 238 days a year, and no leading zero in the drawdown.

use super::python;

/// Trading days by which Qlib scales a year.
pub const DAYS_PER_YEAR: f64 = 238.0;

/// How returns add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RiskMode {
    /// As a sum, Qlib's default.
    Sum,
    /// As a product; the deviation is then of logarithmic returns.
    Product,
}

/// Qlib's five figures of a series of daily returns. All are `NaN` for an empty series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiskReport {
    /// Mean daily return; geometric in mode [`RiskMode::Product`].
    pub mean: f64,
    /// Standard deviation with one degree of freedom taken off.
    pub std: f64,
    /// Return scaled to a year.
    pub annualized_return: f64,
    /// Mean over deviation, scaled to a year.
    pub information_ratio: f64,
    /// Deepest fall from a peak, not above zero. The peak is among the days themselves: a loss on the first day does
    /// not show.
    pub max_drawdown: f64,
}

/// The figures of `returns`, one a day.
#[must_use]
pub fn risk_analysis(returns: &[f64], mode: RiskMode) -> RiskReport {
    let n_days = count(returns);
    let (mean, std, annualized_return, max_drawdown) = match mode {
        RiskMode::Sum => {
            let mean = mean(returns);
            let mut sum = 0.0;
            let curve = returns.iter().map(|daily| {
                sum += daily;
                sum
            });
            (
                mean,
                deviation(returns),
                mean * DAYS_PER_YEAR,
                deepest(curve, |value, peak| value - peak),
            )
        }
        RiskMode::Product => {
            let mut product = 1.0;
            let curve: Vec<f64> = returns
                .iter()
                .map(|daily| {
                    product *= 1.0 + daily;
                    product
                })
                .collect();
            let logs: Vec<f64> = returns.iter().map(|daily| libm::log(1.0 + daily)).collect();
            let total = curve.last().copied().unwrap_or(f64::NAN);
            let mean = libm::pow(total, 1.0 / n_days) - 1.0;
            let annual = libm::pow(1.0 + (total - 1.0), DAYS_PER_YEAR / n_days) - 1.0;
            (
                mean,
                deviation(&logs),
                annual,
                deepest(curve.into_iter(), |value, peak| value / peak - 1.0),
            )
        }
    };
    let information_ratio = mean / std * DAYS_PER_YEAR.sqrt();
    RiskReport {
        mean,
        std,
        annualized_return,
        information_ratio,
        max_drawdown,
    }
}

fn deepest(curve: impl Iterator<Item = f64>, fall: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut peak, mut deepest) = (f64::NEG_INFINITY, f64::NAN);
    for value in curve {
        peak = python::max(peak, value);
        let depth = fall(value, peak);
        deepest = if deepest.is_nan() {
            depth
        } else {
            python::min(deepest, depth)
        };
    }
    deepest
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values)
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / (count(values) - 1.0)).sqrt()
}

fn count(values: &[f64]) -> f64 {
    f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_on_the_first_day_is_no_drawdown() {
        for mode in [RiskMode::Sum, RiskMode::Product] {
            assert!(risk_analysis(&[-0.1, 0.02, 0.03], mode).max_drawdown.abs() <= 0.0);
        }
        let report = risk_analysis(&[0.1, -0.02, 0.03], RiskMode::Sum);
        assert!((report.max_drawdown + 0.02).abs() < 1e-15);
        assert!((report.annualized_return - 0.11 / 3.0 * 238.0).abs() < 1e-12);
        let report = risk_analysis(&[0.1, -0.02, 0.03], RiskMode::Product);
        assert!((report.max_drawdown + 0.02).abs() < 1e-15);
    }

    #[test]
    fn no_day_has_no_figures() {
        for mode in [RiskMode::Sum, RiskMode::Product] {
            let report = risk_analysis(&[], mode);
            assert!(report.mean.is_nan() && report.max_drawdown.is_nan());
        }
    }
}
