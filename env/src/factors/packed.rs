//! Valid values packed without gaps, so that any window of days is one slice.

use std::collections::VecDeque;
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

    /// Largest valid value of the `window_days` exchange days ending at each of `days`; missing for none.
    ///
    /// A maximum has no rounding, so it may be carried from day to day: the candidates are the values that no
    /// later value of the window reaches, largest first.
    pub(super) fn sliding_largest(&self, window_days: usize, days: Range<usize>) -> Vec<f64> {
        let mut candidates: VecDeque<(usize, f64)> = VecDeque::new();
        let mut next = 0;
        let largest = days.map(|day| {
            let places = self.places(day, window_days);
            let first = places.start.max(next);
            for (place, value) in (first..).zip(self.values.get(first..places.end).unwrap_or(&[])) {
                while candidates
                    .pop_back_if(|(_, candidate)| *candidate <= *value)
                    .is_some()
                {}
                candidates.push_back((place, *value));
            }
            next = places.end;
            while candidates
                .pop_front_if(|(place, _)| *place < places.start)
                .is_some()
            {}
            candidates.front().map_or(f64::NAN, |(_, value)| *value)
        });
        largest.collect()
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
    fn the_largest_of_a_sliding_window_is_that_of_its_slice() {
        let values = [5.0, f64::NAN, 3.0, 3.0, 1.0, f64::NAN, f64::NAN, 2.0, 9.0];
        let all = Packed::new(0..9, &values);
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let expected = [5.0, 5.0, 3.0, 3.0, 3.0, 1.0, f64::NAN, 2.0, 9.0];
        assert_eq!(bits(all.sliding_largest(2, 0..9)), bits(expected.to_vec()));
        assert_eq!(bits(all.sliding_largest(2, 4..9)), bits(expected[4..].to_vec()));
        assert_eq!(bits(all.sliding_largest(100, 7..9)), bits(vec![5.0, 9.0]));
    }
}
