//! Sums of gradients by bin.
//!
//! A gradient is a whole number of small steps, so that sums do not depend on the order of rows, and the difference of two
//! histograms is exact. With it goes the number of rows: both lie in one 64-bit number, the rows in the low 24 bits, and
//! one addition counts both.

use super::bins::{BINS_MAX, ColumnBins};
use super::settings::BoostingSettings;

/// Bits of the number of rows.
const ROW_BITS: u32 = 24;
/// There are fewer rows than this.
pub(super) const ROWS_LIMIT: usize = 1 << ROW_BITS;
/// Cells of a column: one more than bins, so that any byte is a cell.
const CELLS: usize = BINS_MAX + 1;

/// Gradients as whole steps, each with one row counted.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    packed: Vec<i64>,
    step: f64,
}

impl Gradients {
    /// Takes gradients anew. The step is so small a power of 2 that the sum of all rows still fits.
    pub(super) fn set(&mut self, gradients: impl ExactSizeIterator<Item = f64> + Clone) {
        let largest = gradients
            .clone()
            .fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let row_bits = usize::BITS - gradients.len().leading_zeros();
        let mut scale = 1.0;
        if 0.0 < largest && largest.is_finite() {
            let bits = 62_u32.saturating_sub(ROW_BITS + row_bits).min(30);
            let top = f64::from(1_u32 << bits);
            scale = libm::ldexp(1.0, libm::ilogb(top / largest));
        }
        self.step = 1.0 / scale;
        self.packed.clear();
        self.packed.extend(gradients.map(|value| pack(value * scale)));
    }

    /// Copies those of some rows, in their order.
    pub(super) fn gather(&self, rows: &[u32], gathered: &mut Vec<i64>) {
        gathered.clear();
        gathered.extend(
            rows.iter()
                .map(|row| self.packed.get(place(*row)).copied().unwrap_or(0)),
        );
    }

    /// The sum over some rows.
    pub(super) fn sum(&self, rows: &[u32]) -> f64 {
        let cells = rows
            .iter()
            .map(|row| self.packed.get(place(*row)).copied().unwrap_or(0));
        self.unpack(cells.sum()).0
    }

    /// The sum and the number of rows that a cell holds.
    fn unpack(&self, cell: i64) -> (f64, f64) {
        (
            whole(cell >> ROW_BITS) * self.step,
            whole(cell & ((1 << ROW_BITS) - 1)),
        )
    }
}

/// A row's number as a place.
pub(super) fn place(row: u32) -> usize {
    usize::try_from(row).unwrap_or(usize::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the scale keeps it far below 2^63"
)]
fn pack(steps: f64) -> i64 {
    ((steps.round_ties_even() as i64) << ROW_BITS) | 1
}

#[expect(clippy::cast_precision_loss, reason = "sums are below 2^39")]
const fn whole(sum: i64) -> f64 {
    sum as f64
}

/// A cut of the rows of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// How much better the two leaves are than the one.
    pub(super) gain: f64,
    /// 0-based column.
    pub(super) column: usize,
    /// Last bin of the left side.
    pub(super) bin: u8,
}

/// Sums of the rows of a leaf, by column and bin.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    cells: Vec<[i64; CELLS]>,
}

impl Histogram {
    /// Sums the rows of a leaf over the columns of a tree; `gradients` are those of `rows`.
    pub(super) fn fill(&mut self, columns: &[&[u8]], rows: &[u32], gradients: &[i64]) {
        self.cells.clear();
        for column in columns {
            let mut cells = [0_i64; CELLS];
            if rows.len() == column.len() {
                for (bin, gradient) in column.iter().zip(gradients) {
                    add(&mut cells, *bin, *gradient);
                }
            } else {
                for (row, gradient) in rows.iter().zip(gradients) {
                    if let Some(bin) = column.get(place(*row)) {
                        add(&mut cells, *bin, *gradient);
                    }
                }
            }
            self.cells.push(cells);
        }
    }

    /// What is left of a leaf without one of its two children.
    pub(super) fn subtract(&mut self, child: &Self) {
        for (cells, of_child) in self.cells.iter_mut().zip(&child.cells) {
            for (cell, of_child) in cells.iter_mut().zip(of_child) {
                *cell -= of_child;
            }
        }
    }

    /// The best cut; among equals the first in the order of columns and bins. `columns` are the numbers of those summed.
    pub(super) fn best(
        &self,
        gradients: &Gradients,
        columns: &[usize],
        bins: &[ColumnBins],
        settings: &BoostingSettings,
    ) -> Option<Cut> {
        let mut best: Option<Cut> = None;
        for (cells, column) in self.cells.iter().zip(columns) {
            let last = bins.get(*column)?.len() - 1;
            let all: i64 = cells.iter().sum();
            let (sum, rows) = gradients.unpack(all);
            let whole = settings.score(sum, rows);
            let mut left = 0;
            for (bin, cell) in (0..=u8::MAX).zip(cells).take(last) {
                left += cell;
                let (left_sum, left_rows) = gradients.unpack(left);
                let (right_sum, right_rows) = gradients.unpack(all - left);
                if !settings.may_be_leaf(left_rows.min(right_rows)) {
                    continue;
                }
                let gain =
                    settings.score(left_sum, left_rows) + settings.score(right_sum, right_rows) - whole;
                if best.map_or(0.0, |best| best.gain) + LEAST_GAIN < gain {
                    let column = *column;
                    best = Some(Cut { gain, column, bin });
                }
            }
        }
        best
    }
}

/// A later cut is better by more than rounding.
const LEAST_GAIN: f64 = 1e-12;

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "four additions a row and column: a call would double them"
)]
fn add(cells: &mut [i64; CELLS], bin: u8, gradient: i64) {
    if let Some(cell) = cells.get_mut(usize::from(bin)) {
        *cell += gradient;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_rows_share_a_number_also_below_zero() {
        let mut gradients = Gradients::default();
        let values = [-0.75, 0.5, -1.0, 0.125];
        gradients.set(values.iter().copied());
        let mut histogram = Histogram::default();
        let column = [0_u8, 1, 1, 1];
        histogram.fill(&[&column], &[0, 1, 2, 3], &gradients.packed);
        let (sum, rows) = gradients.unpack(histogram.cells[0][1]);
        assert!((sum + 0.375).abs() < 1e-15 && (rows - 3.0).abs() < 1e-15);
        let mut gathered = Vec::new();
        gradients.gather(&[0, 2], &mut gathered);
        let mut child = Histogram::default();
        child.fill(&[&column], &[0, 2], &gathered);
        histogram.subtract(&child);
        let (sum, rows) = gradients.unpack(histogram.cells[0].iter().sum());
        assert!((sum - 0.625).abs() < 1e-15 && (rows - 2.0).abs() < 1e-15);
    }

    #[test]
    fn gradients_of_zero_have_a_step() {
        let mut gradients = Gradients::default();
        gradients.set([0.0, -0.0].into_iter());
        let (sum, rows) = gradients.unpack(gradients.packed.iter().sum());
        assert!(sum.abs() < 1e-300 && (rows - 2.0).abs() < 1e-15);
    }
}
