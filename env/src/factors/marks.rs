//! The mark of a name on each day: its last close, carried through suspensions.

use super::series::Series;
use std::ops::Range;

/// Marks of consecutive days; NaN before the first bar.
pub(super) struct Marks {
    first_day: usize,
    values: Vec<f64>,
}

impl Marks {
    /// Marks of `days`; the first of them looks back as far as it must for its bar.
    pub(super) fn new(series: &Series<'_>, days: Range<usize>) -> Self {
        let first_day = days.start;
        let mut mark = first_day
            .checked_sub(1)
            .map_or(f64::NAN, |before| series.mark(before));
        let values = days.map(|day| {
            let close = series.bar_close(day);
            if !close.is_nan() {
                mark = close;
            }
            mark
        });
        Self {
            first_day,
            values: values.collect(),
        }
    }

    /// The mark at the close of `day`; NaN outside the days held.
    pub(super) fn at(&self, day: usize) -> f64 {
        let index = day.checked_sub(self.first_day);
        index
            .and_then(|index| self.values.get(index))
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// The mark `days` exchange days before `day`.
    pub(super) fn before(&self, day: usize, days: usize) -> f64 {
        day.checked_sub(days).map_or(f64::NAN, |day| self.at(day))
    }

    /// The `days` marks ending at `day`, or nothing when the name had no bar by the first of them.
    pub(super) fn window(&self, day: usize, days: usize) -> &[f64] {
        let bounds = (day + 1)
            .checked_sub(self.first_day)
            .and_then(|end| Some(end.checked_sub(days)?..end));
        let window = bounds.and_then(|bounds| self.values.get(bounds)).unwrap_or(&[]);
        if window.first().is_some_and(|oldest| !oldest.is_nan()) {
            window
        } else {
            &[]
        }
    }
}
