//! Full windows: a statistic is computed on `rows` values without a gap, and is missing elsewhere.

use crate::casts::{equal, finite};

/// The cells of a full window, oldest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    pub(super) cells: &'a [f64],
    /// Whether all are equal: counted, so that a spread is exactly 0 there.
    pub(super) constant: bool,
}

/// Counts present and equal cells up to a row.
#[derive(Debug, Default)]
struct Runs {
    present: usize,
    equal: usize,
    last: f64,
}

impl Runs {
    fn add(&mut self, cell: f64) {
        if cell.is_nan() {
            *self = Self::default();
            return;
        }
        let repeated = 0 < self.present && equal(cell, self.last);
        self.equal = if repeated { self.equal + 1 } else { 1 };
        self.present += 1;
        self.last = cell;
    }
}

/// A statistic of each full window of a series.
pub(super) fn of_windows(
    series: &[f64],
    rows: usize,
    mut statistic: impl FnMut(Window<'_>) -> f64,
) -> Vec<f64> {
    let mut runs = Runs::default();
    let cells = series.iter().enumerate().map(|(row, cell)| {
        runs.add(*cell);
        if runs.present < rows {
            return f64::NAN;
        }
        let window = Window {
            cells: last_rows(series, row, rows),
            constant: rows <= runs.equal,
        };
        finite(statistic(window))
    });
    cells.collect()
}

/// A statistic of each pair of full windows of two series.
pub(super) fn of_pairs(
    left: &[f64],
    right: &[f64],
    rows: usize,
    mut statistic: impl FnMut(Window<'_>, Window<'_>) -> f64,
) -> Vec<f64> {
    let (mut of_left, mut of_right) = (Runs::default(), Runs::default());
    let cells = left.iter().zip(right).enumerate().map(|(row, (first, second))| {
        of_left.add(*first);
        of_right.add(*second);
        if of_left.present.min(of_right.present) < rows {
            return f64::NAN;
        }
        let window = |series, runs: &Runs| Window {
            cells: last_rows(series, row, rows),
            constant: rows <= runs.equal,
        };
        finite(statistic(window(left, &of_left), window(right, &of_right)))
    });
    cells.collect()
}

/// The `rows` cells that end at a row.
pub(super) fn last_rows(series: &[f64], row: usize, rows: usize) -> &[f64] {
    let start = (row + 1).saturating_sub(rows);
    series.get(start..=row).unwrap_or(&[])
}

/// The sum in four lanes: an order that depends on nothing but the length, and that vector units can follow.
pub(super) fn sum_of(cells: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; 4];
    let (blocks, rest) = cells.as_chunks::<4>();
    for block in blocks {
        for (lane, cell) in lanes.iter_mut().zip(block) {
            *lane += term(*cell);
        }
    }
    let tail: f64 = rest.iter().map(|cell| term(*cell)).sum();
    let [a, b, c, d] = lanes;
    (a + b) + (c + d) + tail
}

/// The sum over pairs, in the same order.
pub(super) fn sum_of_pairs(left: &[f64], right: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; 4];
    let (left_blocks, left_rest) = left.as_chunks::<4>();
    let (right_blocks, right_rest) = right.as_chunks::<4>();
    for (first, second) in left_blocks.iter().zip(right_blocks) {
        for (lane, (one, other)) in lanes.iter_mut().zip(first.iter().zip(second)) {
            *lane += term(*one, *other);
        }
    }
    let tail: f64 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(one, other)| term(*one, *other))
        .sum();
    let [a, b, c, d] = lanes;
    (a + b) + (c + d) + tail
}
