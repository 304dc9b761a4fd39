//! Covariance and correlation of two series over the rows where both are present.

use crate::block::{WindowRow, WindowSums, fill, walk};
use crate::moments::{LEAST_DEVIATION, MomentScratch, OwnCells, counted_deviations};
use crate::node::Statistic;

/// Sums of the distances of two series from their anchors.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PairSums {
    count: f64,
    left: f64,
    right: f64,
    left_square: f64,
    right_square: f64,
    product: f64,
}

impl WindowSums for PairSums {
    type Cell = [f64; 2];
    type Anchor = [f64; 2];

    fn anchor(cell: Self::Cell) -> Option<Self::Anchor> {
        let [left, right] = cell;
        (!left.is_nan() && !right.is_nan()).then_some(cell)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn add(&mut self, cell: Self::Cell, anchor: Self::Anchor, _: f64) {
        let ([left, right], [left_anchor, right_anchor]) = (cell, anchor);
        let is_present = !left.is_nan() & !right.is_nan();
        let left = if is_present { left - left_anchor } else { 0.0 };
        let right = if is_present { right - right_anchor } else { 0.0 };
        self.count += if is_present { 1.0 } else { 0.0 };
        self.left += left;
        self.right += right;
        self.left_square += left * left;
        self.right_square += right * right;
        self.product += left * right;
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn is_empty(&self) -> bool {
        self.count < 0.5
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn joined(tail: Self, far: Self::Anchor, head: Self, near: Self::Anchor) -> Self {
        let ([near_left, near_right], [far_left, far_right]) = (near, far);
        let (left, right) = (near_left - far_left, near_right - far_right);
        let count = head.count;
        Self {
            count: tail.count + count,
            left: tail.left + (head.left + left * count),
            right: tail.right + (head.right + right * count),
            left_square: tail.left_square + (head.left_square + left * (2.0 * head.left + left * count)),
            right_square: tail.right_square
                + (head.right_square + right * (2.0 * head.right + right * count)),
            product: tail.product + (head.product + left * head.right + right * (head.left + left * count)),
        }
    }
}

impl PairSums {
    /// The count times the sum of products about both means.
    const fn scaled_products(&self) -> f64 {
        self.count * self.product - self.left * self.right
    }
}

fn covariance(row: &WindowRow<PairSums>) -> f64 {
    let count = row.sums.count;
    if count < 2.0 {
        f64::NAN
    } else {
        row.sums.scaled_products() / (count * (count - 1.0))
    }
}

/// The correlation, where neither side is flat: each over its own cells, which are the common ones unless counts differ.
fn correlation(row: &WindowRow<PairSums>, own: Option<&[OwnCells; 2]>) -> f64 {
    let sums = &row.sums;
    let count = sums.count;
    let left = count * sums.left_square - sums.left * sums.left;
    let right = count * sums.right_square - sums.right * sums.right;
    if count < 2.0 || left <= 0.0 || right <= 0.0 {
        return f64::NAN;
    }
    let least = LEAST_DEVIATION * LEAST_DEVIATION * (count * (count - 1.0));
    let is_flat = |squares: f64, own: Option<&OwnCells>| match own {
        Some((own_count, deviation)) if count < *own_count => *deviation <= LEAST_DEVIATION,
        _ => squares <= least,
    };
    let [left_own, right_own] = own.map_or([None; 2], |[left, right]| [Some(left), Some(right)]);
    if is_flat(left, left_own) | is_flat(right, right_own) {
        return f64::NAN;
    }
    sums.scaled_products() / (left.sqrt() * right.sqrt())
}

/// What states of pairs keep between names.
#[derive(Debug, Default)]
pub(crate) struct PairScratch {
    tails: Vec<PairSums>,
    own: Vec<[OwnCells; 2]>,
}

/// Fills the answers of all statistics of one window of two series.
pub(crate) fn pairs(
    cells: &[[f64; 2]],
    window: usize,
    asked: &mut [(Statistic, Vec<f64>)],
    scratch: &mut PairScratch,
    moments: &mut MomentScratch,
) {
    let differs = cells.iter().any(|[left, right]| left.is_nan() != right.is_nan());
    let tails = &mut scratch.tails;
    for (statistic, answer) in asked {
        if *statistic == Statistic::Covariance {
            fill(cells, window, tails, answer, covariance);
        } else if differs {
            let own = &mut scratch.own;
            count_own_cells(cells, window, own, moments);
            let mut own = own.iter();
            walk(cells, window, tails, |row| {
                answer.push(correlation(&row, own.next()));
            });
        } else {
            fill(cells, window, tails, answer, |row| correlation(row, None));
        }
    }
}

/// The present cells of each side in each window, with their deviations: a cell without its counterpart counts here.
fn count_own_cells(
    cells: &[[f64; 2]],
    window: usize,
    own: &mut Vec<[OwnCells; 2]>,
    moments: &mut MomentScratch,
) {
    let left = counted_deviations(cells.iter().map(|[left, _]| *left), window, moments);
    let right = counted_deviations(cells.iter().map(|[_, right]| *right), window, moments);
    own.clear();
    own.extend(left.into_iter().zip(right).map(|(left, right)| [left, right]));
}
