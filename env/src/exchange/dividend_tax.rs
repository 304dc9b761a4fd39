//! Tax on cash dividends: by how long the shares were held, taken when they are sold, first in first out
//! (docs/spec/exchange.md#dividend-tax).

use super::account::Account;
use super::trading_day::TradingDay;
use crate::day::TradeDate;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Shares, divide_down, divide_half_up};

/// How many schedules of the tax there were.
const SCHEDULES: usize = 3;

/// Rates on dividends with a record day from `from` on, percent.
struct TaxSchedule {
    from: TradeDate,
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
const TAX: [TaxSchedule; SCHEDULES] = [
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
    fn sell(&mut self, shares: i64, sold: TradeDate) -> Result<Fen, AmountTooLarge> {
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

/// What a sale leaves of the lots of a name, and the tax that it owes.
pub(super) struct LotSale {
    left: Vec<Lot>,
    pub(super) tax: Fen,
}

impl Account {
    /// Adds the dividends of the day's ex-days to the lots that are held.
    pub(super) fn add_dividends(&mut self, day: &TradingDay<'_>) -> Result<(), AmountTooLarge> {
        for lot in &mut self.lots {
            for (recorded, paid) in day.dividends(lot.name) {
                let schedule = TAX.iter().rposition(|schedule| schedule.from <= recorded);
                let Some(dividend) = schedule.and_then(|place| lot.dividends.get_mut(place)) else {
                    continue;
                };
                *dividend = dividend.plus(paid.of_shares(lot.shares)?)?;
            }
        }
        Ok(())
    }

    /// Carries the lots of a name through a corporate action, so that together they stay what is held.
    pub(super) fn carry_lots(
        &mut self,
        name: NameId,
        before: Shares,
        after: Shares,
    ) -> Result<(), AmountTooLarge> {
        let carried =
            |count: Shares| divide_down(i128::from(count.0) * i128::from(after.0), before.0.max(1).into());
        let mut count = self.unlotted(name, before)?;
        let mut counted = carried(count)?;
        for lot in self.lots.iter_mut().filter(|lot| lot.name == name) {
            count = count.plus(lot.shares)?;
            let upto = carried(count)?;
            lot.shares = Shares(upto - counted);
            counted = upto;
        }
        self.lots.retain(|lot| 0 < lot.shares.0);
        Ok(())
    }

    /// Shares of a name that no lot holds: those that an account without lots had. They count as the oldest.
    fn unlotted(&self, name: NameId, held: Shares) -> Result<Shares, AmountTooLarge> {
        let lots = self.lots.iter().filter(|lot| lot.name == name);
        let lotted = lots.map(|lot| lot.shares).try_fold(Shares::ZERO, Shares::plus)?;
        Ok(held.minus(lotted)?.max(Shares::ZERO))
    }

    /// A sale of some shares of a name that is held.
    pub(super) fn sale(
        &self,
        name: NameId,
        shares: Shares,
        sold: TradeDate,
    ) -> Result<LotSale, AmountTooLarge> {
        let mut rest = shares.minus(self.unlotted(name, self.shares(name))?)?.0.max(0);
        let mut sale = LotSale {
            left: Vec::new(),
            tax: Fen::ZERO,
        };
        for mut lot in self.lots.iter().copied().filter(|lot| lot.name == name) {
            let taken = rest.min(lot.shares.0);
            rest -= taken;
            if 0 < taken {
                sale.tax = sale.tax.plus(lot.sell(taken, sold)?)?;
            }
            if 0 < lot.shares.0 {
                sale.left.push(lot);
            }
        }
        Ok(sale)
    }

    /// Leaves of the lots of a name what a sale leaves.
    pub(super) fn settle(&mut self, name: NameId, sale: LotSale) {
        self.lots.retain(|lot| lot.name != name);
        let place = self.lots.partition_point(|lot| lot.name < name);
        self.lots.splice(place..place, sale.left);
    }

    /// Adds a lot behind the others of its name.
    pub(super) fn add_lot(&mut self, name: NameId, shares: Shares, acquired: TradeDate) {
        let place = self.lots.partition_point(|lot| lot.name <= name);
        let lot = Lot {
            name,
            acquired,
            shares,
            dividends: [Fen::ZERO; SCHEDULES],
        };
        self.lots.insert(place, lot);
    }
}
