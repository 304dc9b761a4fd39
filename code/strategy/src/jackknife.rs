//! Bounds of an estimate by what it is with one observation left out at a time.

use crate::indicators::{count, mean};
use ktd_stats::student_t_quantile;

/// The share of errors of 95 % bounds on either side.
const ERROR_OF_SIDE: f64 = 0.025;

/// How far the 95 % bounds of an estimate reach, from what it is with one observation left out at a time: the jackknife's deviation
/// by Student's t for one observation less; none below two.
pub(crate) fn jackknife_reach(left: &[f64]) -> Option<f64> {
    reach(left, ERROR_OF_SIDE, 0.0)
}

/// The same where the estimate has this variance at least, whatever the few observations show.
pub(crate) fn jackknife_reach_from(left: &[f64], least_variance: f64) -> Option<f64> {
    reach(left, ERROR_OF_SIDE, least_variance)
}

/// The same of one of so many estimates, 95 of 100 of which have all of them within their bounds (Bonferroni).
pub(crate) fn jackknife_reach_among(left: &[f64], estimates: usize) -> Option<f64> {
    reach(left, ERROR_OF_SIDE / count(estimates.max(1)), 0.0)
}

fn reach(left: &[f64], error_of_side: f64, least_variance: f64) -> Option<f64> {
    let number = count(left.len());
    let quantile = student_t_quantile(1.0 - error_of_side, number - 1.0)
        .ok()
        .filter(|_| 1.0 < number)?;
    let middle = mean(left)?;
    let squares: f64 = left.iter().map(|own| (own - middle) * (own - middle)).sum();
    let variance = squares * (number - 1.0) / number;
    Some(quantile * libm::sqrt(variance.max(least_variance)))
}
