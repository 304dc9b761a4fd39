//! Valid values packed without gaps, so that any window of days is one slice.

use std::ops::Range;

/// The valid values of consecutive days, and how many there are up to each day.
///
/// A window's slice holds the same values in the same order whatever days surround it, which is what keeps
/// the bits of a factor free of the range asked for.
pub(super) struct Packed {
    first_day: usize,
    values: Vec<f64>,
    /// `counts[k]`: valid values among the first `k` days.
    counts: Vec<usize>,
}

impl Packed {
    /// Packs one value a day of `days`, leaving out what is not finite.
    pub(super) fn new(days: Range<usize>, daily: &[f64]) -> Self {
        let mut values = vec![0.0; daily.len()];
        let mut counts = Vec::with_capacity(days.len() + 1);
        let mut count = 0;
        counts.push(count);
        for value in daily {
            // Written over by the next one where it does not count: no branch to be guessed.
            if let Some(cell) = values.get_mut(count) {
                *cell = *value;
            }
            count += usize::from(value.is_finite());
            counts.push(count);
        }
        values.truncate(count);
        Self {
            first_day: days.start,
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

    /// Places of the valid values of the `days` exchange days ending at `day`.
    fn places(&self, day: usize, days: usize) -> Range<usize> {
        self.count_before((day + 1).saturating_sub(days))..self.count_before(day + 1)
    }

    /// Valid values of the `days` exchange days ending at `day`, oldest first.
    pub(super) fn window(&self, day: usize, days: usize) -> &[f64] {
        self.values.get(self.places(day, days)).unwrap_or(&[])
    }

    /// The longest stretch of `days`, from their start on and of a power of two of them or all, whose windows hold
    /// equally many values and each begin one value after the one before, as between suspensions: its days, the values of
    /// all its windows, and how many one holds.
    pub(super) fn stretch(&self, window_days: usize, days: &Range<usize>) -> (usize, &[f64], usize) {
        let first = self.places(days.start, window_days);
        let mut stretch = days.len();
        while 1 < stretch {
            let last = self.places(days.start + stretch - 1, window_days);
            // Counts rise by one a day at most: what has risen by as many as there are days has risen on each.
            let rise = stretch - 1;
            if (last.start, last.end) == (first.start + rise, first.end + rise) {
                break;
            }
            stretch = stretch.next_power_of_two() / 2;
        }
        let values = first.start..first.end + stretch.max(1) - 1;
        (
            stretch.max(1),
            self.values.get(values).unwrap_or(&[]),
            first.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_leaves_out_the_gaps_and_ignores_where_packing_began() {
        let values = [1.0, f64::NAN, 3.0, 4.0, f64::NAN, 6.0];
        let all = Packed::new(0..6, &values);
        assert_eq!(all.window(3, 2), [3.0, 4.0]);
        assert_eq!(all.window(4, 4), [3.0, 4.0]);
        assert_eq!(all.window(2, 100), [1.0, 3.0]);
        assert_eq!(all.window(5, 1), [6.0]);
        assert_eq!(all.count(&(1..5)), 2);

        let late = Packed::new(2..6, &values[2..]);
        assert_eq!(late.window(5, 3), all.window(5, 3));
        assert_eq!(late.window(3, 2), all.window(3, 2));
    }

    #[test]
    fn a_stretch_ends_where_a_gap_comes_or_goes() {
        let mut values = [1.0; 40];
        values[20] = f64::NAN;
        let all = Packed::new(0..40, &values);
        // Windows of five: full from day 4, short of one from day 20 to day 24.
        let stretch = |start: usize| {
            let (stretch, values, length) = all.stretch(5, &(start..40));
            (stretch, values.len(), length)
        };
        assert_eq!(stretch(4), (16, 20, 5));
        assert_eq!(stretch(19), (1, 5, 5));
        assert_eq!(stretch(20), (4, 7, 4));
        assert_eq!(stretch(24), (1, 4, 4));
        assert_eq!(stretch(25), (15, 19, 5));
    }
}
