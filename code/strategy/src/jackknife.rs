//! Bounds of an estimate by what it is with one observation left out at a time.

use crate::indicators::{count, mean};
use ktd_stats::student_t_quantile;

/// The share of estimates that lie below the upper bound.
const CONFIDENCE_UPPER: f64 = 0.975;

/// How far the 95 % bounds of an estimate reach, from what it is with one observation left out at a time: the jackknife's deviation
/// by Student's t for one observation less; none below two.
#[must_use]
pub fn jackknife_reach(left: &[f64]) -> Option<f64> {
    let number = count(left.len());
    let quantile = student_t_quantile(CONFIDENCE_UPPER, number - 1.0)
        .ok()
        .filter(|_| 1.0 < number)?;
    let middle = mean(left)?;
    let squares: f64 = left.iter().map(|own| (own - middle) * (own - middle)).sum();
    Some(quantile * libm::sqrt(squares * (number - 1.0) / number))
}
