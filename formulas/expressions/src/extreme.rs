//! The largest and the smallest cell of a window, and its place.

use crate::block::{WindowRow, WindowSums, fill, walk};
use crate::casts::count_of;
use crate::node::Statistic;

/// The extreme of some rows, its place and that of the first missing cell; `SMALLEST` turns all cells' signs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExtremeOf<const SMALLEST: bool> {
    value: f64,
    place: f64,
    missing: f64,
}

impl<const SMALLEST: bool> Default for ExtremeOf<SMALLEST> {
    fn default() -> Self {
        Self {
            value: f64::NEG_INFINITY,
            place: f64::INFINITY,
            missing: f64::INFINITY,
        }
    }
}

impl<const SMALLEST: bool> WindowSums for ExtremeOf<SMALLEST> {
    type Cell = f64;
    type Anchor = ();

    fn anchor(_: f64) -> Option<()> {
        None
    }

    /// Of equal cells the first counts: rows come in their order in a head, and against it in a tail.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, cell: f64, (): (), place: f64) {
        let cell = if SMALLEST { -cell } else { cell };
        let is_earlier = place < self.place;
        let wins = (cell > self.value) || ((cell >= self.value) & is_earlier);
        self.value = if wins { cell } else { self.value };
        self.place = if wins { place } else { self.place };
        let is_first_missing = cell.is_nan() && (place < self.missing);
        self.missing = if is_first_missing { place } else { self.missing };
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn is_empty(&self) -> bool {
        false
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn joined(tail: Self, (): (), head: Self, (): ()) -> Self {
        let extreme = if tail.value >= head.value { tail } else { head };
        Self {
            missing: tail.missing.min(head.missing),
            ..extreme
        }
    }
}

impl<const SMALLEST: bool> ExtremeOf<SMALLEST> {
    fn cell(row: &WindowRow<Self>) -> f64 {
        let value = row.sums.value;
        if value.is_infinite() {
            return f64::NAN;
        }
        if SMALLEST { -value } else { value }
    }

    /// The place from the window's first row on, counted from 1; a missing cell wins over all others.
    fn place(row: &WindowRow<Self>) -> f64 {
        if row.sums.value.is_infinite() {
            return f64::NAN;
        }
        let place = if row.sums.missing.is_finite() {
            row.sums.missing
        } else {
            row.sums.place
        };
        place - row.place + count_of(row.rows)
    }
}

fn extremes<const SMALLEST: bool>(
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    tails: &mut Vec<ExtremeOf<SMALLEST>>,
) {
    match asked {
        [(Statistic::Place, answer)] => fill(cells, window, tails, answer, ExtremeOf::place),
        [(_, answer)] => fill(cells, window, tails, answer, ExtremeOf::cell),
        _ => walk(cells, window, tails, |row| {
            for (statistic, answer) in asked.iter_mut() {
                let is_place = *statistic == Statistic::Place;
                answer.push(if is_place {
                    ExtremeOf::place(&row)
                } else {
                    ExtremeOf::cell(&row)
                });
            }
        }),
    }
}

/// Fills the largest cells of a window and their places.
pub(crate) fn largest(
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    tails: &mut Vec<ExtremeOf<false>>,
) {
    extremes(cells, window, asked, tails);
}

/// Fills the smallest cells of a window and their places.
pub(crate) fn smallest(
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    tails: &mut Vec<ExtremeOf<true>>,
) {
    extremes(cells, window, asked, tails);
}
