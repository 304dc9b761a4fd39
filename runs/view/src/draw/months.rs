//! Months of a daily series.

use std::ops::RangeInclusive;

/// Trading days of a month of which nobody is told the days.
pub const MONTH_DAYS: usize = 21;

/// The days of each month, from 1, by the letters of its name in dates such as `2024-04-30`; without dates months of [`MONTH_DAYS`] each.
#[must_use]
pub fn months(days: usize, dates: &[String]) -> Vec<RangeInclusive<usize>> {
    let month = |day: usize| day.checked_sub(1).and_then(|place| dates.get(place)?.get(..7));
    let ends = |day: &usize| {
        *day == days
            || if dates.is_empty() {
                day.is_multiple_of(MONTH_DAYS)
            } else {
                month(*day) != month(day + 1)
            }
    };
    let mut begin = 1;
    let months = (1..=days).filter(ends).map(|end| {
        let own = begin..=end;
        begin = end + 1;
        own
    });
    months.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_the_calendar_or_of_21_days() {
        let dates = ["2024-04-29", "2024-04-30", "2024-05-06", "2025-05-06"].map(str::to_owned);
        assert_eq!(months(4, &dates), [1..=2, 3..=3, 4..=4]);
        assert_eq!(months(43, &[]), [1..=21, 22..=42, 43..=43]);
        assert_eq!(months(0, &[]), []);
    }
}
