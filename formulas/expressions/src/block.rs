//! Sums over a sliding window without subtraction: blocks of the window's length, from the name's first row on.
//!
//! A window ends in one block and begins in the one before it (or is one whole block). So its sums are those of the head
//! of one block and of the tail of the other, each built by additions alone. A spike that has left the window has left
//! the sums: nothing is subtracted, nothing drifts, and a cell depends on the rows of two blocks only, never on where an
//! evaluation began. Running sums with compensation would keep a residue of 1e16 in cells of 1.
//!
//! Head and tail are summed about a cell of the window, the anchor: the present cell next to the border between the
//! blocks. A sum of squares about a cell of the window is at most as many times the one about the mean as the window has
//! cells, so that variances keep their digits at any level, and are exactly 0 where all cells are equal.

use crate::casts::count_of;
use pulp::{Arch, NullaryFnOnce};

/// Sums over some rows, about an anchor that is one of their cells.
pub(crate) trait WindowSums: Copy + Default {
    /// What a row holds.
    type Cell: Copy;
    /// About what the sums are taken.
    type Anchor: Copy + Default;

    /// The anchor that a row would give; `None` where its cell is missing.
    fn anchor(cell: Self::Cell) -> Option<Self::Anchor>;
    /// Adds a row at a place, counted from the border.
    fn add(&mut self, cell: Self::Cell, anchor: Self::Anchor, place: f64);
    /// Whether no row was present.
    fn is_empty(&self) -> bool;
    /// The sums of both, about the tail's anchor; neither is empty.
    fn joined(tail: Self, far: Self::Anchor, head: Self, near: Self::Anchor) -> Self;
}

/// The sums of one window, and where its row stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowRow<S: WindowSums> {
    pub(crate) sums: S,
    pub(crate) anchor: S::Anchor,
    pub(crate) cell: S::Cell,
    /// The row's place, counted from the border.
    pub(crate) place: f64,
    /// The rows of the window, missing ones among them.
    pub(crate) rows: usize,
}

/// Walks over all rows; a window of 0 rows is all rows so far.
///
/// The same code is compiled for several widths of vectors and chosen at run time. Nothing is added in another order and
/// no product fused with a sum, so that bits do not depend on the choice.
pub(crate) fn walk<S: WindowSums>(
    cells: &[S::Cell],
    window: usize,
    tails: &mut Vec<S>,
    visit: impl FnMut(WindowRow<S>),
) {
    Arch::new().dispatch(Walk {
        cells,
        window,
        tails,
        visit,
    });
}

struct Walk<'a, S: WindowSums, F> {
    cells: &'a [S::Cell],
    window: usize,
    tails: &'a mut Vec<S>,
    visit: F,
}

impl<S: WindowSums, F: FnMut(WindowRow<S>)> NullaryFnOnce for Walk<'_, S, F> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        walk_rows(self.cells, self.window, self.tails, self.visit);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn walk_rows<S: WindowSums>(
    cells: &[S::Cell],
    window: usize,
    tails: &mut Vec<S>,
    mut visit: impl FnMut(WindowRow<S>),
) {
    if cells.is_empty() {
        return;
    }
    let block = if window == 0 {
        cells.len()
    } else {
        window.min(cells.len())
    };
    let mut before: &[S::Cell] = &[];
    for now in cells.chunks(block) {
        let near = now.iter().find_map(|cell| S::anchor(*cell)).unwrap_or_default();
        let far = before
            .iter()
            .rev()
            .find_map(|cell| S::anchor(*cell))
            .unwrap_or_default();
        sum_tails(before, far, block, tails);
        let mut head = S::default();
        for (place, (cell, tail)) in now.iter().zip(tails.iter()).enumerate() {
            let at = count_of(place);
            head.add(*cell, near, at);
            // an empty head has the anchor of a later row, which must not be read
            let (sums, anchor) = if tail.is_empty() {
                (head, near)
            } else if head.is_empty() {
                (*tail, far)
            } else {
                (S::joined(*tail, far, head, near), far)
            };
            let rows = if before.is_empty() { place + 1 } else { block };
            visit(WindowRow {
                sums,
                anchor,
                cell: *cell,
                place: at,
                rows,
            });
        }
        before = now;
    }
}

/// The sums of each tail of a block: for the first row of the next one all rows but the first, and so on to none.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn sum_tails<S: WindowSums>(before: &[S::Cell], far: S::Anchor, block: usize, tails: &mut Vec<S>) {
    tails.clear();
    tails.resize(block, S::default());
    let mut sums = S::default();
    let tailed = tails.iter_mut().rev().skip(1);
    for (distance, (cell, tail)) in before.iter().rev().zip(tailed).enumerate() {
        sums.add(*cell, far, -count_of(distance + 1));
        *tail = sums;
    }
}

/// Walks over all rows and fills one answer.
pub(crate) fn fill<S: WindowSums>(
    cells: &[S::Cell],
    window: usize,
    tails: &mut Vec<S>,
    answer: &mut Vec<f64>,
    value: impl Fn(&WindowRow<S>) -> f64,
) {
    answer.clear();
    answer.resize(cells.len(), f64::NAN);
    let mut slots = answer.iter_mut();
    walk(cells, window, tails, |row| {
        if let Some(slot) = slots.next() {
            *slot = value(&row);
        }
    });
}
