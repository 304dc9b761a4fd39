//! The trading days of a run and what lies before and after each (rules R2, R6).

use super::bins::QlibPanel;
use chrono::{Days, NaiveDate};
use thiserror::Error;

/// One trading day of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Index in the trade calendar.
    pub(super) day: usize,
    /// The day.
    pub(super) date: NaiveDate,
    /// The calendar day before, or `None` on the first of the calendar: a signal of that day is traded now.
    pub(super) previous: Option<NaiveDate>,
    /// The calendar day after: the step lasts until then.
    pub(super) next: NaiveDate,
}

impl Step {
    /// Whether the step lasts longer than a day, as before weekends: Qlib then takes another path (rule R7).
    pub(super) fn spans_days(&self) -> bool {
        self.date
            .checked_add_days(Days::new(1))
            .is_some_and(|tomorrow| tomorrow < self.next)
    }
}

/// A window that cannot be traded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// No day of the calendar lies in the window.
    #[error("no trading day from {start} to {end}")]
    Empty {
        /// Start asked for.
        start: NaiveDate,
        /// End asked for.
        end: NaiveDate,
    },
    /// The calendar ends with the window.
    #[error(
        "the last day {last} has no trading day after it in the calendar, and a step lasts until the next"
    )]
    NoNextDay {
        /// Last day of the window.
        last: NaiveDate,
    },
}

impl WindowError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "move `start` and `end` into the calendar",
            Self::NoNextDay { .. } => {
                "add calendars/day_future.txt with the next trading day, or set `end` one trading day earlier"
            }
        }
    }
}

/// The trading days from `start` to `end`.
///
/// Where there is no day after the last, Qlib raises `IndexError` on the last step and the run is lost; here it is
/// refused before it begins.
pub(super) fn steps(panel: &QlibPanel, start: NaiveDate, end: NaiveDate) -> Result<Vec<Step>, WindowError> {
    let calendar = panel.trade_calendar();
    let first = calendar.partition_point(|day| *day < start);
    let past = calendar.partition_point(|day| *day <= end);
    let days = calendar.get(first..past).unwrap_or_default();
    let (Some(earliest), Some(last)) = (days.first().copied(), days.last().copied()) else {
        return Err(WindowError::Empty { start, end });
    };
    let after = calendar
        .get(past)
        .copied()
        .ok_or(WindowError::NoNextDay { last })?;
    let nexts = days.iter().skip(1).chain([&after]).copied();
    let mut previous = calendar.iter().copied().take_while(|day| *day < earliest).last();
    let mut steps = Vec::with_capacity(days.len());
    for (offset, (date, next)) in days.iter().copied().zip(nexts).enumerate() {
        steps.push(Step {
            day: first + offset,
            date,
            previous,
            next,
        });
        previous = Some(date);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAYS: &str = "2024-01-04\n2024-01-05\n2024-01-08\n";

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn days_outside_the_calendar_are_moved_inwards() {
        let panel = QlibPanel::parse(DAYS, None, "", []).unwrap();
        let steps = steps(&panel, day("2024-01-01"), day("2024-01-07")).unwrap();
        let friday = Step {
            day: 1,
            date: day("2024-01-05"),
            previous: Some(day("2024-01-04")),
            next: day("2024-01-08"),
        };
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].previous, None);
        assert_eq!(steps[1], friday);
        assert!(friday.spans_days() && !steps[0].spans_days());
    }

    #[test]
    fn the_last_day_needs_a_day_after_it() {
        let panel = QlibPanel::parse(DAYS, None, "", []).unwrap();
        let last = day("2024-01-08");
        let error = steps(&panel, day("2024-01-04"), last).unwrap_err();
        assert_eq!(error, WindowError::NoNextDay { last });
        assert!(error.hint().contains("day_future.txt"));
        let future = format!("{DAYS}2024-01-09\n");
        let panel = QlibPanel::parse(DAYS, Some(&future), "", []).unwrap();
        assert_eq!(steps(&panel, day("2024-01-04"), last).unwrap().len(), 3);
    }

    #[test]
    fn a_window_without_days_is_refused() {
        let panel = QlibPanel::parse(DAYS, None, "", []).unwrap();
        let (start, end) = (day("2024-01-06"), day("2024-01-07"));
        assert_eq!(steps(&panel, start, end), Err(WindowError::Empty { start, end }));
    }
}
