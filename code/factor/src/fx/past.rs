//! Recursions and statistics of the whole past.

use super::operator::{Expanding, Running};
use super::ordered::Sorted;
use super::spread_divisor::SpreadDivisor;
use crate::casts::{equal, finite, float};

/// y = weight x + (1 - weight) y', started at the first value; the row of a gap after it is the error.
pub(super) fn smoothed(series: &[f64], weight: f64) -> Result<Vec<f64>, usize> {
    let mut last: Option<f64> = None;
    let mut cells = Vec::with_capacity(series.len());
    for (row, cell) in series.iter().enumerate() {
        if cell.is_nan() {
            if last.is_some() {
                return Err(row);
            }
            cells.push(f64::NAN);
            continue;
        }
        let next = last.map_or(*cell, |before| weight * cell + (1.0 - weight) * before);
        last = Some(next);
        cells.push(finite(next));
    }
    Ok(cells)
}

/// Sums and products of all rows, where a missing one counts as 0 or as 1; extremes, missing where today's value is.
pub(super) fn running(kind: Running, series: &[f64]) -> Vec<f64> {
    let mut state = match kind {
        Running::Sum => 0.0,
        Running::Product => 1.0,
        Running::Max => f64::NEG_INFINITY,
        Running::Min => f64::INFINITY,
    };
    let cells = series.iter().map(|cell| {
        let skips = cell.is_nan();
        if !skips {
            state = match kind {
                Running::Sum => state + cell,
                Running::Product => state * cell,
                Running::Max => cell.max(state),
                Running::Min => cell.min(state),
            };
        }
        let shown = !skips || matches!(kind, Running::Sum | Running::Product);
        if shown { finite(state) } else { f64::NAN }
    });
    cells.collect()
}

/// A statistic of all rows so far that have all arguments, from the `least`-th on; missing where today's is.
pub(super) fn expanding(
    kind: Expanding,
    series: &[f64],
    second: Option<&[f64]>,
    least: usize,
    divisor: SpreadDivisor,
) -> Vec<f64> {
    let mut moments = Moments::default();
    let mut sorted = Sorted::default();
    let pairs = series.iter().enumerate().map(|(row, cell)| {
        let other = second.map_or(Some(*cell), |cells| cells.get(row).copied());
        (*cell, other.unwrap_or(f64::NAN))
    });
    let cells = pairs.map(|(cell, other)| {
        if cell.is_nan() || other.is_nan() {
            return f64::NAN;
        }
        moments.add(cell, other);
        if kind == Expanding::Rank {
            sorted.insert(cell);
        }
        if moments.count < least {
            return f64::NAN;
        }
        finite(match kind {
            Expanding::Mean => moments.mean,
            Expanding::Deviation if moments.constant => 0.0,
            Expanding::Deviation => (moments.squares / divisor.of(moments.count)).sqrt(),
            Expanding::Beta if moments.other_constant => f64::NAN,
            Expanding::Beta => moments.products / moments.other_squares,
            Expanding::Rank => sorted.rank_share(cell),
        })
    });
    cells.collect()
}

/// Means, and sums of squares and products about them, updated a row at a time (Welford 1962).
#[derive(Debug, Default)]
struct Moments {
    count: usize,
    mean: f64,
    other_mean: f64,
    squares: f64,
    other_squares: f64,
    products: f64,
    first: f64,
    other_first: f64,
    constant: bool,
    other_constant: bool,
}

impl Moments {
    fn add(&mut self, cell: f64, other: f64) {
        if self.count == 0 {
            (self.first, self.other_first) = (cell, other);
            (self.constant, self.other_constant) = (true, true);
        }
        self.constant &= equal(cell, self.first);
        self.other_constant &= equal(other, self.other_first);
        self.count += 1;
        let count = float(self.count);
        let (from_mean, from_other) = (cell - self.mean, other - self.other_mean);
        self.mean += from_mean / count;
        self.other_mean += from_other / count;
        self.squares += from_mean * (cell - self.mean);
        self.other_squares += from_other * (other - self.other_mean);
        self.products += from_mean * (other - self.other_mean);
    }
}
