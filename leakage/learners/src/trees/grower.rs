//! How one tree grows: the leaf with the largest gain is cut next.

use super::bins::ColumnBins;
use super::histogram::{Cut, Gradients, Histogram, place};
use super::settings::BoostingSettings;
use super::tree::Tree;
use crate::real::count;
use std::ops::Range;

/// A leaf that may be cut.
#[derive(Debug)]
struct Leaf {
    node: usize,
    rows: Range<usize>,
    depth: usize,
    cut: Option<Cut>,
    histogram: Histogram,
}

/// Buffers of trees over the same rows.
#[derive(Debug)]
pub(super) struct Grower<'a> {
    settings: &'a BoostingSettings,
    bins: &'a [ColumnBins],
    /// The bins of each column, by row.
    binned: &'a [Vec<u8>],
    /// Row numbers; those of a leaf lie next to each other, ascending.
    rows: Vec<u32>,
    right: Vec<u32>,
    gathered: Vec<i64>,
    spare: Vec<Histogram>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(settings: &'a BoostingSettings, bins: &'a [ColumnBins], binned: &'a [Vec<u8>]) -> Self {
        let rows = binned.first().map_or(0, Vec::len);
        Self {
            settings,
            bins,
            binned,
            rows: Vec::with_capacity(rows),
            right: vec![0; rows],
            gathered: Vec::with_capacity(rows),
            spare: Vec::new(),
        }
    }

    /// Grows a tree on the gradients over some columns, and adds its values to the forecasts of the rows.
    pub(super) fn grow(&mut self, gradients: &Gradients, columns: &[usize], forecasts: &mut [f64]) -> Tree {
        let binned = self.binned;
        let used: Vec<&[u8]> = columns
            .iter()
            .filter_map(|column| binned.get(*column).map(Vec::as_slice))
            .collect();
        self.rows.clear();
        self.rows.extend((0..u32::MAX).take(forecasts.len()));
        let mut root = Leaf {
            node: 0,
            rows: 0..forecasts.len(),
            depth: 0,
            cut: None,
            histogram: self.spare.pop().unwrap_or_default(),
        };
        gradients.gather(&self.rows, &mut self.gathered);
        root.histogram.fill(&used, &self.rows, &self.gathered);
        root.cut = root.histogram.best(gradients, columns, self.bins, self.settings);
        let mut values = vec![self.value(gradients, &root.rows)];
        let mut tree = Tree::leaf(values.first().copied().unwrap_or(0.0));
        let mut leaves = vec![root];
        while leaves.len() < self.settings.leaves {
            let Some((chosen, cut)) = largest(&leaves) else {
                break;
            };
            let Some(at) = self.bins.get(cut.column).and_then(|bins| bins.bound(cut.bin)) else {
                break;
            };
            let leaf = leaves.swap_remove(chosen);
            let middle = self.partition(&leaf.rows, cut);
            let parts = [leaf.rows.start..middle, middle..leaf.rows.end];
            let pair = [&parts[0], &parts[1]].map(|rows| self.value(gradients, rows));
            let left = tree.split(leaf.node, cut.column, at, pair);
            values.extend(pair);
            let is_last = leaves.len() + 2 == self.settings.leaves;
            leaves.extend(self.children(gradients, (columns, &used), leaf, (left, parts), is_last));
        }
        for leaf in leaves {
            let value = values.get(leaf.node).copied().unwrap_or(0.0);
            for row in self.rows.get(leaf.rows).unwrap_or(&[]) {
                if let Some(forecast) = forecasts.get_mut(place(*row)) {
                    *forecast += value;
                }
            }
            self.spare.push(leaf.histogram);
        }
        tree
    }

    /// The value of a leaf.
    fn value(&mut self, gradients: &Gradients, rows: &Range<usize>) -> f64 {
        let of_leaf = self.rows.get(rows.clone()).unwrap_or(&[]);
        self.settings.value(gradients.sum(of_leaf), count(of_leaf.len()))
    }

    /// Orders the rows of a leaf by the side of the cut, ascending on each; gives where the right ones begin.
    fn partition(&mut self, range: &Range<usize>, cut: Cut) -> usize {
        let column = self.binned.get(cut.column).map_or(&[][..], Vec::as_slice);
        let rows = self.rows.get_mut(range.clone()).unwrap_or(&mut []);
        let (mut lefts, mut rights) = (0, 0);
        for next in 0..rows.len() {
            let row = rows.get(next).copied().unwrap_or(0);
            let goes_left = column.get(place(row)).is_some_and(|bin| *bin <= cut.bin);
            // Both are written and one is kept: a branch on the side would be mispredicted half the time. The place of a
            // left row is at most its own, which is read already.
            if let Some(cell) = rows.get_mut(lefts) {
                *cell = row;
            }
            if let Some(cell) = self.right.get_mut(rights) {
                *cell = row;
            }
            lefts += usize::from(goes_left);
            rights += usize::from(!goes_left);
        }
        for (cell, row) in rows.iter_mut().skip(lefts).zip(&self.right) {
            *cell = *row;
        }
        range.start + lefts
    }

    /// The two leaves of a cut. The smaller is summed and the larger is what is left, where either may be cut again.
    fn children(
        &mut self,
        gradients: &Gradients,
        (columns, used): (&[usize], &[&[u8]]),
        leaf: Leaf,
        (left, parts): (usize, [Range<usize>; 2]),
        is_last: bool,
    ) -> [Leaf; 2] {
        let depth = leaf.depth + 1;
        let [left_rows, right_rows] = parts;
        let left_is_smaller = left_rows.len() <= right_rows.len();
        let mut larger = leaf.histogram;
        let mut smaller = self.spare.pop().unwrap_or_default();
        let widest = left_rows.len().max(right_rows.len());
        let may_split = self.settings.may_split(depth, widest) && !is_last;
        let mut cuts = [None, None];
        if may_split {
            let rows = if left_is_smaller { &left_rows } else { &right_rows };
            let rows = self.rows.get(rows.clone()).unwrap_or(&[]);
            gradients.gather(rows, &mut self.gathered);
            smaller.fill(used, rows, &self.gathered);
            larger.subtract(&smaller);
            cuts = [&smaller, &larger]
                .map(|histogram| histogram.best(gradients, columns, self.bins, self.settings));
        }
        let mut histograms = [smaller, larger];
        if !left_is_smaller {
            histograms.reverse();
            cuts.reverse();
        }
        let ([left_histogram, right_histogram], [left_cut, right_cut]) = (histograms, cuts);
        let child = |node, rows, cut, histogram| Leaf {
            node,
            rows,
            depth,
            cut,
            histogram,
        };
        [
            child(left, left_rows, left_cut, left_histogram),
            child(left + 1, right_rows, right_cut, right_histogram),
        ]
    }
}

/// The leaf with the largest gain; among equals the one that was made first.
fn largest(leaves: &[Leaf]) -> Option<(usize, Cut)> {
    let cuts = leaves.iter().enumerate();
    let cuts = cuts.filter_map(|(place, leaf)| leaf.cut.map(|cut| (place, leaf.node, cut)));
    let best = cuts.max_by(|left, right| left.2.gain.total_cmp(&right.2.gain).then(right.1.cmp(&left.1)))?;
    Some((best.0, best.2))
}
