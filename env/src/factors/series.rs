//! One name's daily history, and what a single day of it says.

use super::error::FactorError;
use std::ops::Range;

/// One name's daily history, oldest first, one entry per exchange day of the panel.
///
/// Prices are total-return prices of one consistent base. A day without a bar has `f64::NAN` prices; a bar on
/// which nothing traded has a close, which marks the name, but counts in no window. A number that is not
/// finite, or a price that is not positive, is taken as missing.
#[derive(Debug, Clone, Copy)]
pub struct Series<'a> {
    /// Opening prices, adjusted.
    pub open: &'a [f64],
    /// Highest prices, adjusted.
    pub high: &'a [f64],
    /// Lowest prices, adjusted.
    pub low: &'a [f64],
    /// Closing prices, adjusted; the last one is the mark until the next.
    pub close: &'a [f64],
    /// Shares traded, adjusted for splits so that days compare.
    pub volume: &'a [f64],
    /// Amount traded in CNY, never adjusted.
    pub amount: &'a [f64],
    /// Whether the name traded on the day.
    pub traded: &'a [bool],
}

fn at(column: &[f64], day: usize) -> f64 {
    column.get(day).copied().unwrap_or(f64::NAN)
}

/// A price, or NaN where it is none.
fn price(column: &[f64], day: usize) -> f64 {
    let price = at(column, day);
    if price.is_finite() && 0.0 < price {
        price
    } else {
        f64::NAN
    }
}

impl Series<'_> {
    /// Number of exchange days.
    #[must_use]
    pub const fn days(&self) -> usize {
        self.close.len()
    }

    /// Whether all columns are of one length and hold the days asked for.
    pub(super) fn check(&self, days: &Range<usize>) -> Result<(), FactorError> {
        let expected_days = self.days();
        let columns = [
            ("open", self.open.len()),
            ("high", self.high.len()),
            ("low", self.low.len()),
            ("volume", self.volume.len()),
            ("amount", self.amount.len()),
            ("traded", self.traded.len()),
        ];
        for (column, days) in columns {
            if days != expected_days {
                return Err(FactorError::Length {
                    column,
                    days,
                    expected_days,
                });
            }
        }
        if days.end < days.start || expected_days < days.end {
            return Err(FactorError::Days {
                start: days.start,
                end: days.end,
                days: expected_days,
            });
        }
        Ok(())
    }

    pub(super) fn traded(&self, day: usize) -> bool {
        self.traded.get(day).copied().unwrap_or(false)
    }

    /// The close of a bar, traded or not; NaN without a bar.
    pub(super) fn bar_close(&self, day: usize) -> f64 {
        price(self.close, day)
    }

    /// The mark at the close of `day`: the last close up to then; NaN before the first bar.
    pub(super) fn mark(&self, day: usize) -> f64 {
        let days = (0..=day).rev();
        days.map(|day| self.bar_close(day))
            .find(|close| !close.is_nan())
            .unwrap_or(f64::NAN)
    }

    /// Whether the name traded both on `day` and on the exchange day before.
    fn traded_twice(&self, day: usize) -> bool {
        self.traded(day) && day.checked_sub(1).is_some_and(|before| self.traded(before))
    }

    fn close_before(&self, day: usize) -> f64 {
        day.checked_sub(1)
            .map_or(f64::NAN, |before| self.bar_close(before))
    }

    /// Close-to-close return; NaN unless traded on both days.
    pub(super) fn simple_return(&self, day: usize) -> f64 {
        if self.traded_twice(day) {
            self.bar_close(day) / self.close_before(day) - 1.0
        } else {
            f64::NAN
        }
    }

    /// Logarithmic return from yesterday's close to the open; NaN unless traded on both days.
    pub(super) fn overnight(&self, day: usize) -> f64 {
        if self.traded_twice(day) {
            libm::log(price(self.open, day) / self.close_before(day))
        } else {
            f64::NAN
        }
    }

    /// Logarithmic return from the open to the close; NaN unless traded.
    pub(super) fn intraday(&self, day: usize) -> f64 {
        if self.traded(day) {
            libm::log(self.bar_close(day) / price(self.open, day))
        } else {
            f64::NAN
        }
    }

    /// Natural logarithm of the shares traded; NaN where there are none.
    pub(super) fn log_volume(&self, day: usize) -> f64 {
        libm::log(price(self.volume, day))
    }

    /// Amount in CNY of a traded day, which may be zero; NaN otherwise.
    pub(super) fn amount(&self, day: usize) -> f64 {
        let amount = at(self.amount, day);
        if self.traded(day) && 0.0 <= amount && amount.is_finite() {
            amount
        } else {
            f64::NAN
        }
    }

    /// Highest price of a traded day; NaN otherwise.
    pub(super) fn high(&self, day: usize) -> f64 {
        if self.traded(day) {
            price(self.high, day)
        } else {
            f64::NAN
        }
    }

    /// Lowest price of a traded day; NaN otherwise.
    pub(super) fn low(&self, day: usize) -> f64 {
        if self.traded(day) {
            price(self.low, day)
        } else {
            f64::NAN
        }
    }
}
