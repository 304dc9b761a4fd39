//! The bars of one stock, as a factor function gets them.

use crate::error::FactorCodeError;
use chrono::{Datelike, NaiveDate};
use std::fmt;

/// A day of a panel. Panels are synthetic or have dates of their own, so a day tells nothing of a real stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PanelDay(NaiveDate);

impl PanelDay {
    /// The day of a calendar date; `None` where there is none.
    #[must_use]
    pub fn of(year: i32, month: u32, day: u32) -> Option<Self> {
        NaiveDate::from_ymd_opt(year, month, day).map(Self)
    }

    /// Reads `2015-01-05`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(Self)
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days_since_epoch(self) -> i32 {
        self.0.to_epoch_days()
    }

    /// The day that lies `days` later; `None` beyond the calendar.
    #[must_use]
    pub fn later(self, days: i32) -> Option<Self> {
        NaiveDate::from_epoch_days(self.days_since_epoch().checked_add(days)?).map(Self)
    }

    /// Days since Monday.
    #[must_use]
    pub fn weekday(self) -> u32 {
        self.0.weekday().num_days_from_monday()
    }

    /// A number that all days of an ISO week share, one higher each week.
    #[must_use]
    pub const fn week(self) -> i32 {
        // 1970-01-01 was a Thursday
        (self.0.to_epoch_days() + 3).div_euclid(7)
    }

    /// A number that all days of a month share, one higher each month.
    #[must_use]
    pub fn month(self) -> i32 {
        self.0.year() * 12 + i32::try_from(self.0.month0()).unwrap_or(0)
    }

    /// The first weekday from a day on, and those after it.
    pub fn weekdays_from(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |day| day.later(1)).filter(|day| day.weekday() < 5)
    }
}

impl fmt::Display for PanelDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.format("%Y-%m-%d").fmt(formatter)
    }
}

/// One bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorBar {
    /// The first price.
    pub open: f64,
    /// The highest price.
    pub high: f64,
    /// The lowest price.
    pub low: f64,
    /// The last price.
    pub close: f64,
    /// Shares traded.
    pub volume: f64,
}

/// Daily bars of one stock, days ascending and unique, all numbers finite.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorBars {
    days: Vec<PanelDay>,
    open: Vec<f64>,
    high: Vec<f64>,
    low: Vec<f64>,
    close: Vec<f64>,
    volume: Vec<f64>,
}

/// The columns of the frame that a factor function gets, in order.
pub const BAR_COLUMNS: [&str; 5] = ["day_open", "day_high", "day_low", "day_close", "day_volume"];

impl FactorBars {
    /// Bars with their days.
    ///
    /// # Errors
    /// [`FactorCodeError::Bars`] where days do not ascend or a number is not finite.
    pub fn new(bars: impl IntoIterator<Item = (PanelDay, FactorBar)>) -> Result<Self, FactorCodeError> {
        let mut all = Self {
            days: Vec::new(),
            open: Vec::new(),
            high: Vec::new(),
            low: Vec::new(),
            close: Vec::new(),
            volume: Vec::new(),
        };
        for (row, (day, bar)) in bars.into_iter().enumerate() {
            if all.days.last().is_some_and(|last| day <= *last) {
                return Err(FactorCodeError::Bars {
                    row,
                    problem: "its day does not follow the day before",
                });
            }
            let FactorBar {
                open,
                high,
                low,
                close,
                volume,
            } = bar;
            if ![open, high, low, close, volume].into_iter().all(f64::is_finite) {
                return Err(FactorCodeError::Bars {
                    row,
                    problem: "it has a number that is not finite",
                });
            }
            all.days.push(day);
            all.open.push(open);
            all.high.push(high);
            all.low.push(low);
            all.close.push(close);
            all.volume.push(volume);
        }
        Ok(all)
    }

    /// How many rows there are.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.days.len()
    }

    /// The days.
    #[must_use]
    pub fn days(&self) -> &[PanelDay] {
        &self.days
    }

    /// The first prices.
    #[must_use]
    pub fn open(&self) -> &[f64] {
        &self.open
    }

    /// The highest prices.
    #[must_use]
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// The lowest prices.
    #[must_use]
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// The last prices.
    #[must_use]
    pub fn close(&self) -> &[f64] {
        &self.close
    }

    /// Shares traded.
    #[must_use]
    pub fn volume(&self) -> &[f64] {
        &self.volume
    }

    /// The columns in the order of [`BAR_COLUMNS`].
    #[must_use]
    pub fn columns(&self) -> [&[f64]; 5] {
        [&self.open, &self.high, &self.low, &self.close, &self.volume]
    }

    /// The bars with their days, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = (PanelDay, FactorBar)> {
        let prices = self.open.iter().zip(&self.high).zip(&self.low).zip(&self.close);
        let cells = self.days.iter().zip(prices.zip(&self.volume));
        cells.map(|(day, ((((open, high), low), close), volume))| {
            let bar = FactorBar {
                open: *open,
                high: *high,
                low: *low,
                close: *close,
                volume: *volume,
            };
            (*day, bar)
        })
    }

    /// The first rows alone, as a series of their own.
    #[must_use]
    pub fn prefix(&self, rows: usize) -> Self {
        let cut = |cells: &[f64]| cells.iter().take(rows).copied().collect();
        Self {
            days: self.days.iter().take(rows).copied().collect(),
            open: cut(&self.open),
            high: cut(&self.high),
            low: cut(&self.low),
            close: cut(&self.close),
            volume: cut(&self.volume),
        }
    }

    /// The same prices on other days.
    ///
    /// # Errors
    /// [`FactorCodeError::Bars`] where there are fewer days than rows, or days do not ascend.
    pub fn on_days(&self, days: impl IntoIterator<Item = PanelDay>) -> Result<Self, FactorCodeError> {
        let moved = Self::new(days.into_iter().zip(self.iter().map(|(_, bar)| bar)))?;
        if moved.rows() < self.rows() {
            return Err(FactorCodeError::Bars {
                row: moved.rows(),
                problem: "there is no day for it",
            });
        }
        Ok(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday() {
        let monday = PanelDay::parse("2015-01-05").unwrap();
        assert_eq!(monday.weekday(), 0);
        assert_eq!(monday.later(6).unwrap().week(), monday.week());
        assert_eq!(monday.later(-1).unwrap().week(), monday.week() - 1);
        assert_eq!(monday.to_string(), "2015-01-05");
        assert_eq!(PanelDay::parse("2015-02-01").unwrap().month(), monday.month() + 1);
    }

    #[test]
    fn days_that_do_not_ascend_and_infinite_numbers_are_refused() {
        let day = PanelDay::parse("2015-01-05").unwrap();
        let bar = FactorBar {
            open: 1.0,
            high: 1.0,
            low: 1.0,
            close: 1.0,
            volume: 0.0,
        };
        assert!(FactorBars::new([(day, bar), (day, bar)]).is_err());
        let endless = FactorBar {
            close: f64::INFINITY,
            ..bar
        };
        assert!(FactorBars::new([(day, endless)]).is_err());
    }
}
