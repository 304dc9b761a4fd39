//! The line through a window: slope, residual and explained variance.

use crate::block::{WindowRow, WindowSums, walk};
use crate::moments::LEAST_DEVIATION;
use crate::node::Statistic;

/// Sums of places, of distances from the anchor, and of their products.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineSums {
    count: f64,
    place: f64,
    place_square: f64,
    cell: f64,
    product: f64,
    cell_square: f64,
}

impl WindowSums for LineSums {
    type Cell = f64;
    type Anchor = f64;

    fn anchor(cell: f64) -> Option<f64> {
        (!cell.is_nan()).then_some(cell)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, cell: f64, anchor: f64, place: f64) {
        let is_present = !cell.is_nan();
        let distance = if is_present { cell - anchor } else { 0.0 };
        let place = if is_present { place } else { 0.0 };
        self.count += if is_present { 1.0 } else { 0.0 };
        self.place += place;
        self.place_square += place * place;
        self.cell += distance;
        self.product += place * distance;
        self.cell_square += distance * distance;
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn is_empty(&self) -> bool {
        self.count < 0.5
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn joined(tail: Self, far: f64, head: Self, near: f64) -> Self {
        let shift = near - far;
        Self {
            count: tail.count + head.count,
            place: tail.place + head.place,
            place_square: tail.place_square + head.place_square,
            cell: tail.cell + (head.cell + shift * head.count),
            product: tail.product + (head.product + shift * head.place),
            cell_square: tail.cell_square
                + (head.cell_square + shift * (2.0 * head.cell + shift * head.count)),
        }
    }
}

impl LineSums {
    /// The count times the sum of products about both means.
    const fn scaled_products(&self) -> f64 {
        self.count * self.product - self.place * self.cell
    }

    const fn scaled_place_squares(&self) -> f64 {
        self.count * self.place_square - self.place * self.place
    }

    const fn scaled_cell_squares(&self) -> f64 {
        self.count * self.cell_square - self.cell * self.cell
    }

    fn slope(&self) -> f64 {
        if self.count < 2.0 {
            f64::NAN
        } else {
            self.scaled_products() / self.scaled_place_squares()
        }
    }
}

fn residual(row: &WindowRow<LineSums>) -> f64 {
    let sums = &row.sums;
    let place = sums.count * row.place - sums.place;
    (row.cell - row.anchor) - (sums.cell + sums.slope() * place) / sums.count
}

/// The explained share; missing where the cells are equal, or their deviation too small.
fn explained(row: &WindowRow<LineSums>, least_deviation: f64) -> f64 {
    let sums = &row.sums;
    let squares = sums.scaled_cell_squares();
    let least = least_deviation * least_deviation * (sums.count * (sums.count - 1.0));
    if sums.count < 2.0 || squares <= least {
        return f64::NAN;
    }
    let products = sums.scaled_products();
    (products / sums.scaled_place_squares()) * (products / squares)
}

/// Fills the answers of all statistics of one window's line. An infinity makes all rows from its own on missing.
pub(crate) fn lines(
    raw: &[f64],
    cells: &[f64],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    tails: &mut Vec<LineSums>,
) {
    // Qlib's bound stands in its windows alone, not over all rows so far
    let least_deviation = if window == 0 { 0.0 } else { LEAST_DEVIATION };
    walk(cells, window, tails, |row| {
        for (statistic, answer) in asked.iter_mut() {
            #[expect(clippy::wildcard_enum_match_arm, reason = "three statistics have a line")]
            answer.push(match statistic {
                Statistic::Slope => row.sums.slope(),
                Statistic::Residual => residual(&row),
                _ => explained(&row, least_deviation),
            });
        }
    });
    let spoilt = raw
        .iter()
        .position(|cell| cell.is_infinite())
        .unwrap_or(raw.len());
    for (_, answer) in asked {
        answer.iter_mut().skip(spoilt).for_each(|cell| *cell = f64::NAN);
    }
}
