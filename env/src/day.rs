//! Real trading dates.

use chrono::{Datelike, Months, NaiveDate, Weekday};
use std::fmt;

/// A calendar date of the exchange.
///
/// Like [`crate::Ticker`] it has no `Display`, no serialisation and a redacted `Debug`; the date leaves only
/// through [`TradeDate::reveal`], which lints confine to the mask and to the edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TradeDate(NaiveDate);

/// A text that is no date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a date of the form 2024-04-01 or 20240401")]
pub struct DateError {
    /// The text as given.
    pub text: String,
}

impl TradeDate {
    /// The last date that four digits of a year can write; the end of an open-ended span.
    pub const LATEST: Self = Self(match NaiveDate::from_ymd_opt(9999, 12, 31) {
        Some(date) => date,
        None => NaiveDate::MAX,
    });

    /// Reads `2024-04-01` or `20240401`.
    ///
    /// # Errors
    /// [`DateError`] for any other form and for days that do not exist.
    pub fn parse(text: &str) -> Result<Self, DateError> {
        let digits_only = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
        let dashed = text.len() == 10 && text.bytes().filter(u8::is_ascii_digit).count() == 8;
        let format = match (digits_only, dashed) {
            (true, _) => "%Y%m%d",
            (_, true) => "%Y-%m-%d",
            _ => {
                return Err(DateError {
                    text: text.to_owned(),
                });
            }
        };
        NaiveDate::parse_from_str(text, format)
            .map(Self)
            .map_err(|_| DateError {
                text: text.to_owned(),
            })
    }

    /// A date of a rule; the earliest where the calendar has no such day, which a test of the rule's steps shows.
    #[must_use]
    pub(crate) const fn of(year: i32, month: u32, day: u32) -> Self {
        match NaiveDate::from_ymd_opt(year, month, day) {
            Some(date) => Self(date),
            None => Self::earliest(),
        }
    }

    /// The earliest date that can be held.
    #[must_use]
    pub(crate) const fn earliest() -> Self {
        match NaiveDate::from_ymd_opt(1, 1, 1) {
            Some(date) => Self(date),
            None => Self(NaiveDate::MIN),
        }
    }

    /// The date that lies `days` after 1970-01-01, or `None` outside the supported range.
    #[must_use]
    pub fn from_days_since_epoch(days: i32) -> Option<Self> {
        NaiveDate::from_epoch_days(days)
            .map(Self)
            .filter(|date| DateSpan::ALWAYS.contains(*date))
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days_since_epoch(self) -> i32 {
        self.0.to_epoch_days()
    }

    /// Whether the date falls on Saturday or Sunday (never a session of these exchanges).
    #[must_use]
    pub fn is_weekend(self) -> bool {
        matches!(self.0.weekday(), Weekday::Sat | Weekday::Sun)
    }

    /// The same day of the month so many months later; the last of the month where it has no such day.
    pub(crate) fn plus_months(self, months: u32) -> Self {
        Self(self.0.checked_add_months(Months::new(months)).unwrap_or(self.0))
    }

    /// The calendar year.
    pub(crate) fn year(self) -> i32 {
        self.0.year()
    }

    /// The date before, for converting half-open ends to inclusive ones.
    #[must_use]
    pub fn day_before(self) -> Self {
        Self(self.0.pred_opt().unwrap_or(self.0))
    }

    /// The real date as `2024-04-01`. Only the mask and the edge may call this.
    #[must_use]
    pub fn reveal(self) -> String {
        format!("{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl fmt::Debug for TradeDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TradeDate(redacted)")
    }
}

/// Dates from `start` to `end`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateSpan {
    /// First date.
    pub start: TradeDate,
    /// Last date, included (as in Qlib's instruments files).
    pub end: TradeDate,
}

impl DateSpan {
    /// Every date.
    pub const ALWAYS: Self = Self {
        start: TradeDate::earliest(),
        end: TradeDate::LATEST,
    };

    /// Whether `date` lies in the span.
    #[must_use]
    pub fn contains(&self, date: TradeDate) -> bool {
        self.start <= date && date <= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test compares real texts")]
    fn two_spellings_one_date() {
        assert_eq!(TradeDate::parse("2024-04-01"), TradeDate::parse("20240401"));
        assert_eq!(TradeDate::parse("2024-04-01").unwrap().reveal(), "2024-04-01");
    }

    /// A panel of another program may count any number of days: what four digits of a year cannot write is no date.
    #[test]
    fn days_beyond_four_digits_of_a_year_are_no_dates() {
        for end in [TradeDate::earliest(), TradeDate::LATEST] {
            let days = end.days_since_epoch();
            assert_eq!(TradeDate::from_days_since_epoch(days), Some(end));
        }
        let beyond = [
            TradeDate::earliest().days_since_epoch() - 1,
            TradeDate::LATEST.days_since_epoch() + 1,
            i32::MIN,
            i32::MAX,
        ];
        for days in beyond {
            assert_eq!(TradeDate::from_days_since_epoch(days), None, "{days}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "2024-4-1",
            "2024-02-30",
            "24-04-01",
            "2024/04/01",
            "",
            "20241301",
            "2024-04-01 ",
        ] {
            assert!(TradeDate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn epoch_days_round_trip() {
        let date = TradeDate::parse("2026-02-28").unwrap();
        assert_eq!(
            TradeDate::from_days_since_epoch(date.days_since_epoch()),
            Some(date)
        );
    }
}
