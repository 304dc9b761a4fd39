//! Tax on cash dividends: by how long the shares were held, taken when they are sold, first in first out
//! (docs/spec/exchange.md#dividend-tax).

use super::account::Account;
use super::lot::{Lot, SCHEDULES, TAX};
use super::trading_day::TradingDay;
use crate::day::TradeDate;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Shares, divide_down};

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
