//! Statistics of the order within a window: its cells are kept sorted while rows enter and leave.

use super::operator::ShareStatistic;
use super::windows::{Window, sum_of, sum_of_pairs};
use crate::casts::{float, floor_of};

/// Cells in ascending order.
#[derive(Debug, Default)]
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub(super) fn insert(&mut self, cell: f64) {
        let place = self.below(cell);
        self.0.insert(place, cell);
    }

    fn remove(&mut self, cell: f64) {
        let place = self.below(cell);
        if place < self.0.len() {
            self.0.remove(place);
        }
    }

    /// Cells below one.
    fn below(&self, cell: f64) -> usize {
        self.0.partition_point(|known| *known < cell)
    }

    /// The average rank of a cell as a share of all.
    pub(super) fn rank_share(&self, cell: f64) -> f64 {
        let below = self.below(cell);
        let equal = self.0.partition_point(|known| *known <= cell) - below;
        (float(below) + f64::midpoint(float(equal), 1.0)) / float(self.0.len())
    }

    fn at(&self, place: usize) -> f64 {
        self.0.get(place).copied().unwrap_or(f64::NAN)
    }

    /// Linear between order statistics.
    fn quantile(&self, share: f64) -> f64 {
        let place = share * (float(self.0.len()) - 1.0);
        let whole = floor_of(place);
        let part = place - float(whole);
        if part <= 0.0 {
            return self.at(whole);
        }
        self.at(whole) + (self.at(whole + 1) - self.at(whole)) * part
    }

    fn median(&self) -> f64 {
        let half = self.0.len() / 2;
        if self.0.len().is_multiple_of(2) {
            f64::midpoint(self.at(half.saturating_sub(1)), self.at(half))
        } else {
            self.at(half)
        }
    }
}

/// A statistic of each full window from its sorted cells and the last one.
fn of_sorted(series: &[f64], rows: usize, mut statistic: impl FnMut(&Sorted, f64) -> f64) -> Vec<f64> {
    let mut sorted = Sorted::default();
    let mut leaving = series.iter();
    let mut entered = 0_usize;
    let cells = series.iter().map(|cell| {
        entered += 1;
        let left = if rows < entered { leaving.next() } else { None };
        if cell.is_nan() {
            sorted.0.clear();
            return f64::NAN;
        }
        // after a gap the window is short, and what leaves it was cleared
        if sorted.0.len() == rows
            && let Some(left) = left
        {
            sorted.remove(*left);
        }
        sorted.insert(*cell);
        if sorted.0.len() < rows {
            f64::NAN
        } else {
            statistic(&sorted, *cell)
        }
    });
    cells.collect()
}

/// The median of each full window.
pub(super) fn medians(series: &[f64], rows: usize) -> Vec<f64> {
    of_sorted(series, rows, |sorted, _| sorted.median())
}

/// The median absolute deviation from the median of each full window.
pub(super) fn median_deviations(series: &[f64], rows: usize) -> Vec<f64> {
    let mut deviations = Sorted::default();
    of_sorted(series, rows, move |sorted, _| {
        let median = sorted.median();
        deviations.0.clear();
        deviations
            .0
            .extend(sorted.0.iter().map(|cell| (cell - median).abs()));
        deviations.0.sort_unstable_by(f64::total_cmp);
        deviations.median()
    })
}

/// The average rank of the last cell of each full window, as a share.
pub(super) fn ranks(series: &[f64], rows: usize) -> Vec<f64> {
    of_sorted(series, rows, Sorted::rank_share)
}

/// A quantile of each full window, or the mean of the cells up to it.
pub(super) fn shares(statistic: ShareStatistic, series: &[f64], rows: usize, share: f64) -> Vec<f64> {
    of_sorted(series, rows, |sorted, _| {
        let quantile = sorted.quantile(share);
        match statistic {
            ShareStatistic::Quantile => quantile,
            ShareStatistic::TailMean => {
                let tail = sorted.0.partition_point(|cell| *cell <= quantile);
                let cells = sorted.0.get(..tail).unwrap_or(&[]);
                sum_of(cells, |cell| cell) / float(tail)
            }
        }
    })
}

/// Spearman's correlation of a window's cells with time: Pearson's of average ranks.
pub(super) fn time_rank(window: Window<'_>) -> f64 {
    if window.constant {
        return f64::NAN;
    }
    let cells = window.cells;
    let middle = (float(cells.len()) - 1.0) / 2.0;
    let places: Vec<f64> = cells
        .iter()
        .map(|cell| {
            let below = sum_of(cells, |other| if other < *cell { 1.0 } else { 0.0 });
            let up_to = sum_of(cells, |other| if other <= *cell { 1.0 } else { 0.0 });
            f64::midpoint(below, up_to - 1.0) - middle
        })
        .collect();
    let times: Vec<f64> = (0..cells.len()).map(|place| float(place) - middle).collect();
    let products = sum_of_pairs(&places, &times, |one, other| one * other);
    let (of_places, of_times) = (
        sum_of(&places, |place| place * place),
        sum_of(&times, |time| time * time),
    );
    products / (of_places * of_times).sqrt()
}
