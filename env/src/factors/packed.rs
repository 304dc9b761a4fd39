//! Valid values packed without gaps, so that any window of days is one slice.

use std::ops::Range;

/// The valid values of consecutive days, and how many there are up to each day.
///
/// A window's slice holds the same values in the same order whatever days surround it, which is what keeps the
/// bits of a factor free of the range asked for.
pub(super) struct Packed {
    first_day: usize,
    values: Vec<f64>,
    /// `counts[k]`: valid values among the first `k` days.
    counts: Vec<usize>,
}

impl Packed {
    /// Packs `value(day)` over `days`, leaving out what is not finite.
    pub(super) fn new(days: Range<usize>, value: impl Fn(usize) -> f64) -> Self {
        let first_day = days.start;
        let mut values = Vec::with_capacity(days.len());
        let mut counts = Vec::with_capacity(days.len() + 1);
        counts.push(0);
        for day in days {
            let value = value(day);
            if value.is_finite() {
                values.push(value);
            }
            counts.push(values.len());
        }
        Self {
            first_day,
            values,
            counts,
        }
    }

    /// Valid values before `day`, counted from the first day held.
    fn count_before(&self, day: usize) -> usize {
        self.counts
            .get(day.saturating_sub(self.first_day))
            .copied()
            .unwrap_or(self.values.len())
    }

    /// Valid values on `days`.
    pub(super) fn count(&self, days: &Range<usize>) -> usize {
        self.count_before(days.end)
            .saturating_sub(self.count_before(days.start))
    }

    /// Valid values of the `days` exchange days ending at `day`, oldest first.
    pub(super) fn window(&self, day: usize, days: usize) -> &[f64] {
        let end = self.count_before(day + 1);
        let start = self.count_before((day + 1).saturating_sub(days));
        self.values.get(start..end).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_leaves_out_the_gaps_and_ignores_where_packing_began() {
        let value = |day: usize| [1.0, f64::NAN, 3.0, 4.0, f64::NAN, 6.0][day];
        let all = Packed::new(0..6, value);
        assert_eq!(all.window(3, 2), [3.0, 4.0]);
        assert_eq!(all.window(4, 4), [3.0, 4.0]);
        assert_eq!(all.window(2, 100), [1.0, 3.0]);
        assert_eq!(all.window(5, 1), [6.0]);
        assert_eq!(all.count(&(1..5)), 2);

        let late = Packed::new(2..6, value);
        assert_eq!(late.window(5, 3), all.window(5, 3));
        assert_eq!(late.window(3, 2), all.window(3, 2));
    }
}
