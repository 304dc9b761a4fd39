//! Shares bought on one day, and the tax on the dividends that they brought (docs/spec/exchange.md#dividend-tax).

use crate::day::TradeDate;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Shares, divide_half_up};

/// How many schedules of the tax there were.
pub(super) const SCHEDULES: usize = 3;

/// Rates on dividends with a record day from `from` on, percent.
pub(super) struct TaxSchedule {
    pub(super) from: TradeDate,
    within_a_month: i64,
    within_a_year: i64,
    beyond: i64,
}

const fn schedule(from: TradeDate, within_a_month: i64, within_a_year: i64, beyond: i64) -> TaxSchedule {
    TaxSchedule {
        from,
        within_a_month,
        within_a_year,
        beyond,
    }
}

/// Oldest first; the first one stands for all days before the second.
pub(super) const TAX: [TaxSchedule; SCHEDULES] = [
    schedule(TradeDate::earliest(), 10, 10, 10),
    schedule(TradeDate::of(2013, 1, 1), 20, 10, 5),
    schedule(TradeDate::of(2015, 9, 8), 20, 10, 0),
];

impl TaxSchedule {
    fn percent(&self, acquired: TradeDate, sold: TradeDate) -> i64 {
        // Held from the day of the purchase to the day before the sale.
        if sold <= acquired.plus_months(1) {
            self.within_a_month
        } else if sold <= acquired.plus_months(12) {
            self.within_a_year
        } else {
            self.beyond
        }
    }
}

/// Shares of one name that were bought on one day, and dividends that they brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot {
    /// The name.
    pub name: NameId,
    /// The day on which they were bought.
    pub acquired: TradeDate,
    /// Shares, above 0; corporate actions carry them as holdings.
    pub shares: Shares,
    /// Dividends that were not taxed yet, before tax, by schedule of the tax from the oldest on.
    pub dividends: [Fen; SCHEDULES],
}

impl Lot {
    /// Takes shares away with their part of the dividends, and says what tax is due on them.
    pub(super) fn sell(&mut self, shares: i64, sold: TradeDate) -> Result<Fen, AmountTooLarge> {
        let mut tax = Fen::ZERO;
        for (dividend, schedule) in self.dividends.iter_mut().zip(&TAX) {
            let part = divide_half_up(
                i128::from(dividend.0) * i128::from(shares),
                self.shares.0.max(1).into(),
            )?;
            let percent = schedule.percent(self.acquired, sold);
            tax = tax.plus(Fen(divide_half_up(i128::from(part) * i128::from(percent), 100)?))?;
            *dividend = dividend.minus(Fen(part))?;
        }
        self.shares = self.shares.minus(Shares(shares))?;
        Ok(tax)
    }
}
