//! Sums of powers and products of a full window.

use super::operator::PairStatistic;
use super::spread_divisor::SpreadDivisor;
use super::windows::{Window, of_pairs, sum_of, sum_of_pairs};
use crate::casts::float;

impl SpreadDivisor {
    /// What the squares of `count` values are divided by.
    pub(super) const fn of(self, count: usize) -> f64 {
        match self {
            Self::Sample => float(count) - 1.0,
            Self::Population => float(count),
        }
    }
}

/// The mean; of equal cells the cell itself.
pub(super) fn mean(window: Window<'_>) -> f64 {
    match window.cells.first() {
        Some(first) if window.constant => *first,
        _ => sum_of(window.cells, |cell| cell) / float(window.cells.len()),
    }
}

/// The variance, exactly 0 of equal cells.
pub(super) fn variance(window: Window<'_>, divisor: SpreadDivisor) -> f64 {
    if window.constant {
        return 0.0;
    }
    let centre = mean(window);
    sum_of(window.cells, |cell| (cell - centre) * (cell - centre)) / divisor.of(window.cells.len())
}

/// Bias-corrected skewness, missing where all cells are equal.
pub(super) fn skew(window: Window<'_>, divisor: SpreadDivisor) -> f64 {
    let (centre, deviation) = (mean(window), variance(window, divisor).sqrt());
    if deviation <= 0.0 {
        return f64::NAN;
    }
    let count = float(window.cells.len());
    let cubes = sum_of(window.cells, |cell| {
        let scaled = (cell - centre) / deviation;
        scaled * scaled * scaled
    });
    count / ((count - 1.0) * (count - 2.0)) * cubes
}

/// Bias-corrected excess kurtosis, missing where all cells are equal.
pub(super) fn kurtosis(window: Window<'_>, divisor: SpreadDivisor) -> f64 {
    let (centre, deviation) = (mean(window), variance(window, divisor).sqrt());
    if deviation <= 0.0 {
        return f64::NAN;
    }
    let count = float(window.cells.len());
    let fourths = sum_of(window.cells, |cell| {
        let square = (cell - centre) / deviation * ((cell - centre) / deviation);
        square * square
    });
    let below = (count - 2.0) * (count - 3.0);
    count * (count + 1.0) / ((count - 1.0) * below) * fourths - 3.0 * (count - 1.0) * (count - 1.0) / below
}

/// Covariance, correlation or slope of each pair of full windows.
pub(super) fn pairs(
    statistic: PairStatistic,
    left: &[f64],
    right: &[f64],
    rows: usize,
    divisor: SpreadDivisor,
) -> Vec<f64> {
    of_pairs(left, right, rows, |first, second| match statistic {
        PairStatistic::Covariance => covariance(first, second, divisor),
        PairStatistic::Correlation => {
            let spread = variance(first, divisor) * variance(second, divisor);
            if first.constant || second.constant {
                return f64::NAN;
            }
            covariance(first, second, divisor) / spread.sqrt()
        }
        PairStatistic::Beta if second.constant => f64::NAN,
        PairStatistic::Beta => covariance(first, second, divisor) / variance(second, divisor),
    })
}

fn covariance(left: Window<'_>, right: Window<'_>, divisor: SpreadDivisor) -> f64 {
    let (of_left, of_right) = (mean(left), mean(right));
    sum_of_pairs(left.cells, right.cells, |one, other| {
        (one - of_left) * (other - of_right)
    }) / divisor.of(left.cells.len())
}
