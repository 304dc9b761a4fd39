//! Windows with weights: linear, exponential, and the count of present cells.

use crate::block::{WindowSums, walk};
use crate::casts::count_of;

/// Sums of cells and of cells times their places.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LinearSums {
    count: f64,
    cell: f64,
    product: f64,
}

impl WindowSums for LinearSums {
    type Cell = f64;
    type Anchor = ();

    fn anchor(cell: f64) -> Option<()> {
        (!cell.is_nan()).then_some(())
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, cell: f64, (): (), place: f64) {
        if !cell.is_nan() {
            self.count += 1.0;
            self.cell += cell;
            self.product += place * cell;
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn is_empty(&self) -> bool {
        self.count < 0.5
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn joined(tail: Self, (): (), head: Self, (): ()) -> Self {
        Self {
            count: tail.count + head.count,
            cell: tail.cell + head.cell,
            product: tail.product + head.product,
        }
    }
}

/// Qlib's linearly weighted mean: over the number of present cells once more.
pub(crate) fn linear(cells: &[f64], window: usize, tails: &mut Vec<LinearSums>, answer: &mut Vec<f64>) {
    walk(cells, window, tails, |row| {
        let sums = row.sums;
        let rows = count_of(row.rows);
        // the first row of the window has the weight 1
        let offset = rows - row.place;
        let weighted = sums.product + offset * sums.cell;
        let weights = rows * (rows + 1.0) / 2.0;
        answer.push(if sums.count < 1.0 {
            f64::NAN
        } else {
            weighted / weights / sums.count
        });
    });
}

/// Exponential weights, `share` being today's; a missing row keeps the value and ages the weights.
pub(crate) fn exponential(cells: &[f64], share: f64, answer: &mut Vec<f64>) {
    let keep = 1.0 - share;
    let (mut sum, mut weights, mut value) = (0.0, 0.0, f64::NAN);
    answer.extend(cells.iter().map(|cell| {
        sum *= keep;
        weights *= keep;
        if !cell.is_nan() {
            sum += cell;
            weights += 1.0;
            value = sum / weights;
        }
        value
    }));
}

/// Exponential weights over all rows so far, whose span is their number: missing cells add nothing, and their weights
/// count. The weights of all rows change with every row, so that a row costs as many steps as there are before it.
pub(crate) fn exponential_all(cells: &[f64], answer: &mut Vec<f64>) {
    let mut has_any = false;
    for (row, cell) in cells.iter().enumerate() {
        has_any |= !cell.is_nan();
        let rows = count_of(row + 1);
        let keep = 1.0 - 2.0 / (1.0 + rows);
        let (mut sum, mut weights) = (0.0, 0.0);
        for cell in cells.iter().take(row + 1) {
            sum = sum * keep + if cell.is_nan() { 0.0 } else { *cell };
            weights = weights * keep + 1.0;
        }
        answer.push(if has_any { sum / weights } else { f64::NAN });
    }
}

/// The number of cells that are not missing; an infinity is present.
pub(crate) fn present(cells: &[f64], window: usize, answer: &mut Vec<f64>) {
    let mut count = 0_usize;
    let leaving = std::iter::repeat_n(None, if window == 0 { cells.len() } else { window })
        .chain(cells.iter().map(Some));
    for (cell, left) in cells.iter().zip(leaving) {
        count += usize::from(!cell.is_nan());
        count -= usize::from(left.is_some_and(|left| !left.is_nan()));
        answer.push(count_of(count));
    }
}
