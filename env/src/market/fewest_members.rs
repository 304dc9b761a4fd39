//! How few members an index has at least: a count of the panel and of no day.

use super::{DayIndex, Market};

impl Market {
    /// The fewest index members that any day from `first` to the panel's end has.
    #[must_use]
    pub fn fewest_members(&self, first: DayIndex) -> usize {
        let days = self.calendar.len();
        // What each day changes against the day before; the last cell takes what ends with the panel.
        let mut joined = vec![0_usize; days + 1];
        let mut left = vec![0_usize; days + 1];
        for info in &self.names {
            // Spans of one name may touch or overlap: a day counts once.
            let mut counted = info.first.index();
            for span in &info.member {
                let from = self
                    .calendar
                    .partition_point(|date| *date < span.start)
                    .max(counted);
                let end = self.calendar.partition_point(|date| *date <= span.end);
                if from < end {
                    counted = end;
                    for (cells, place) in [(&mut joined, from), (&mut left, end)] {
                        if let Some(cell) = cells.get_mut(place) {
                            *cell += 1;
                        }
                    }
                }
            }
        }
        let members = joined
            .into_iter()
            .zip(left)
            .scan(0_usize, |members, (joined, left)| {
                *members = (*members + joined).saturating_sub(left);
                Some(*members)
            });
        members.take(days).skip(first.index()).min().unwrap_or(0)
    }
}
