//! One name's daily history, and what a single day of it says.

use super::error::FactorError;
use super::logarithm::take_logarithms;
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
fn price(price: f64) -> f64 {
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

    /// The close of a bar, traded or not; NaN without a bar.
    pub(super) fn bar_close(&self, day: usize) -> f64 {
        price(at(self.close, day))
    }

    /// The mark at the close of `day`: the last close up to then; NaN before the first bar.
    pub(super) fn mark(&self, day: usize) -> f64 {
        let days = (0..=day).rev();
        days.map(|day| self.bar_close(day))
            .find(|close| !close.is_nan())
            .unwrap_or(f64::NAN)
    }

    /// Whether the name traded, on each of `days`.
    pub(super) fn traded_on(&self, days: &Range<usize>) -> &[bool] {
        self.traded.get(days.clone()).unwrap_or_default()
    }

    /// `value(own, closed, traded_twice)` on each of `days`: what a column says of the day, the close of the day before
    /// (NaN where it is none), and whether the name traded on both.
    fn since_close(
        &self,
        column: &[f64],
        days: &Range<usize>,
        value: impl Fn(f64, f64, bool) -> f64,
    ) -> Vec<f64> {
        let mut values = Vec::with_capacity(days.len());
        let mut own = days.clone();
        // The first day of a panel has none before it.
        if own.start == 0 && !own.is_empty() {
            values.push(f64::NAN);
            own.start = 1;
        }
        let before = own.start.saturating_sub(1)..own.end.saturating_sub(1);
        let cells = column.get(own.clone()).unwrap_or_default();
        let closes = self.close.get(before.clone()).unwrap_or_default();
        let traded = self.traded_on(&before).iter().zip(self.traded_on(&own));
        let rows = cells.iter().zip(closes).zip(traded);
        values.extend(rows.map(|((own, close), (before, on))| value(*own, price(*close), *before && *on)));
        values
    }

    /// Close-to-close returns; NaN unless traded on both days.
    pub(super) fn simple_returns(&self, days: &Range<usize>) -> Vec<f64> {
        self.since_close(self.close, days, |close, before, traded| {
            let change = price(close) / before - 1.0;
            if traded { change } else { f64::NAN }
        })
    }

    /// Logarithmic returns from yesterday's close to the open; NaN unless traded on both days.
    pub(super) fn overnights(&self, days: &Range<usize>) -> Vec<f64> {
        self.since_close(self.open, days, |open, before, traded| {
            if traded {
                libm::log(price(open) / before)
            } else {
                f64::NAN
            }
        })
    }

    /// What a column says of each of `days`, as `value` takes it; NaN unless traded.
    fn when_traded(&self, column: &[f64], days: &Range<usize>, value: impl Fn(f64) -> f64) -> Vec<f64> {
        let cells = column.get(days.clone()).unwrap_or_default();
        let rows = cells.iter().zip(self.traded_on(days));
        let values = rows.map(|(cell, traded)| if *traded { value(*cell) } else { f64::NAN });
        values.collect()
    }

    /// Logarithmic returns from the open to the close; NaN unless traded.
    pub(super) fn intradays(&self, days: &Range<usize>) -> Vec<f64> {
        let mut ratios = self.when_traded(self.close, days, price);
        let opens = self.open.get(days.clone()).unwrap_or_default();
        for (ratio, open) in ratios.iter_mut().zip(opens) {
            *ratio /= price(*open);
        }
        take_logarithms(&mut ratios);
        ratios
    }

    /// Natural logarithms of the shares traded; NaN where there are none.
    pub(super) fn log_volumes(&self, days: &Range<usize>) -> Vec<f64> {
        let volumes = self.volume.get(days.clone()).unwrap_or_default();
        let mut logarithms: Vec<f64> = volumes.iter().map(|volume| price(*volume)).collect();
        take_logarithms(&mut logarithms);
        logarithms
    }

    /// Amounts in CNY of traded days, which may be zero; NaN otherwise.
    pub(super) fn amounts(&self, days: &Range<usize>) -> Vec<f64> {
        self.when_traded(self.amount, days, |amount| {
            let sound = 0.0 <= amount && amount.is_finite();
            if sound { amount } else { f64::NAN }
        })
    }

    /// Highest prices of traded days; NaN otherwise.
    pub(super) fn highs(&self, days: &Range<usize>) -> Vec<f64> {
        self.when_traded(self.high, days, price)
    }

    /// Lowest prices of traded days; NaN otherwise.
    pub(super) fn lows(&self, days: &Range<usize>) -> Vec<f64> {
        self.when_traded(self.low, days, price)
    }
}
