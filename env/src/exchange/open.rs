//! The open: accepted sells in submitted order, then accepted buys.

use super::account::Account;
use super::fees::fee;
use super::grid::{cut_quantity, largest_affordable};
use super::limit_open::LimitOpen;
use super::order::Side;
use super::report::{CorporateEvent, EventKind, Execution, RejectCode};
use super::rules::{AuctionCash, Rules};
use super::trading_day::TradingDay;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Price, Shares, divide_half_up};

/// An accepted order on its way to the open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted {
    pub(super) name: NameId,
    pub(super) side: Side,
    pub(super) requested: Shares,
    pub(super) sells_all: bool,
    pub(super) limit_open: Option<LimitOpen>,
}

impl Accepted {
    fn filled(&self, quantity: Shares, price: Price, (value, fee): (Fen, Fen)) -> Execution {
        Execution::Filled {
            quantity,
            price,
            value,
            fee,
            clipped: quantity < self.requested,
        }
    }
}

/// The open of one day for one account.
pub(super) struct Open<'o> {
    pub(super) rules: &'o Rules,
    pub(super) day: &'o TradingDay<'o>,
    account: &'o mut Account,
    /// Cash that no buy of this open has frozen yet; `None` where buys freeze nothing.
    unfrozen: Option<Fen>,
    is_taxed: bool,
    /// Taxes that sells paid.
    taxes: Vec<CorporateEvent>,
}

impl<'o> Open<'o> {
    pub(super) fn new(rules: &'o Rules, day: &'o TradingDay<'o>, account: &'o mut Account) -> Self {
        let unfrozen = match rules.auction_cash {
            AuctionCash::Before => Some(account.cash),
            AuctionCash::Shared => None,
        };
        Self {
            rules,
            day,
            account,
            unfrozen,
            is_taxed: day.taxes_dividends(rules),
            taxes: Vec::new(),
        }
    }

    /// The taxes that sells paid, in their order.
    pub(super) fn finish(self) -> Vec<CorporateEvent> {
        self.taxes
    }

    /// Shares held of a name.
    pub(super) fn held(&self, name: NameId) -> Shares {
        self.account.shares(name)
    }

    /// Executes one accepted order against the account.
    pub(super) fn execute(&mut self, order: &Accepted) -> Result<Execution, AmountTooLarge> {
        if order.side == Side::Sell && self.held(order.name).0 <= 0 {
            return Ok(Execution::Rejected(RejectCode::NotHeld));
        }
        let Some(open) = self.day.tradable_open(order.name) else {
            return Ok(Execution::Rejected(RejectCode::Suspended));
        };
        if order.requested.0 == 0 && !order.sells_all {
            return Ok(Execution::Rejected(RejectCode::Lot));
        }
        let blocked = order
            .limit_open
            .is_some_and(|met| !met.fills(self.rules.limit_open));
        let wanted = self.within_volume(order);
        match order.side {
            Side::Sell if blocked => Ok(Execution::Rejected(RejectCode::LimitDown)),
            Side::Sell if wanted.0 == 0 => Ok(Execution::Rejected(RejectCode::Volume)),
            Side::Sell => self.sell(order, open, wanted),
            Side::Buy => {
                // Cash is frozen before anyone knows the open, for a bid that the limit will hold back too.
                let quantity = self.affordable(order, open, wanted)?;
                if blocked {
                    return Ok(Execution::Rejected(RejectCode::LimitUp));
                }
                if wanted.0 == 0 {
                    return Ok(Execution::Rejected(RejectCode::Volume));
                }
                self.buy(order, open, quantity)
            }
        }
    }

    /// The count that an order asks for, cut down to the grid within the largest share of the day's volume.
    fn within_volume(&self, order: &Accepted) -> Shares {
        let held = self.held(order.name);
        let wanted = match order.side {
            Side::Sell if order.sells_all => held,
            Side::Sell => order.requested.min(held),
            Side::Buy => order.requested,
        };
        let most = self
            .rules
            .max_volume_share
            .map(|share| share.of(self.day.volume(order.name)));
        match most.filter(|most| *most < wanted) {
            Some(most) => {
                let board = self.day.board(order.name);
                Shares(cut_quantity(board, order.side, most.0, held.0))
            }
            None => wanted,
        }
    }

    fn sell(&mut self, order: &Accepted, open: Price, quantity: Shares) -> Result<Execution, AmountTooLarge> {
        let (day, account) = (self.day, &mut *self.account);
        let held = account.shares(order.name);
        let trade = day.charged(order.name, Side::Sell, quantity, open)?;
        let (value, fee) = (trade.value, fee(self.rules, &trade)?);
        let sale = account.sale(order.name, quantity, day.date())?;
        let cash = account.cash.plus(value)?.minus(fee)?.minus(sale.tax)?;
        if cash < Fen::ZERO {
            return Ok(Execution::Rejected(RejectCode::Cash));
        }
        account.cash = cash;
        let cost = account
            .holding(order.name)
            .map_or(Fen::ZERO, |holding| holding.cost);
        let left = held.minus(quantity)?;
        self.taxes
            .extend(tax_event(day, order.name, (held, left), open, sale.tax));
        account.settle(order.name, sale);
        let cost_left = divide_half_up(i128::from(cost.0) * i128::from(left.0), i128::from(held.0))?;
        account.set(order.name, left, Fen(cost_left));
        Ok(order.filled(quantity, open, (value, fee)))
    }

    /// The largest count on the grid, not above what is wanted, that cash covers, fee included; it is frozen where buys freeze.
    fn affordable(
        &mut self,
        order: &Accepted,
        open: Price,
        wanted: Shares,
    ) -> Result<Shares, AmountTooLarge> {
        let board = self.day.board(order.name);
        // What no account counts, none can afford.
        let covers = |cash: Fen, price: Price, shares: i64| {
            self.paid(order, price, Shares(shares))
                .is_ok_and(|(.., whole)| whole <= cash)
        };
        let cash = self.account.cash;
        let Some(unfrozen) = self.unfrozen else {
            let most = largest_affordable(board, wanted.0, |shares| covers(cash, open, shares));
            return Ok(Shares(most));
        };
        let highest = self.day.highest_bid(self.rules, order.name);
        let bid = highest.map_or(open, |highest| highest.max(open));
        // A sale may cost more than it brings, so that less than what was unfrozen is left.
        let unfrozen = unfrozen.min(cash);
        let most = largest_affordable(board, wanted.0, |shares| covers(unfrozen, bid, shares));
        let frozen = if most == 0 {
            Fen::ZERO
        } else {
            self.paid(order, bid, Shares(most))?.2
        };
        self.unfrozen = Some(unfrozen.minus(frozen)?);
        Ok(Shares(most))
    }

    /// Value, fee and both of a purchase.
    fn paid(
        &self,
        order: &Accepted,
        price: Price,
        shares: Shares,
    ) -> Result<(Fen, Fen, Fen), AmountTooLarge> {
        let trade = self.day.charged(order.name, Side::Buy, shares, price)?;
        let fee = fee(self.rules, &trade)?;
        Ok((trade.value, fee, trade.value.plus(fee)?))
    }

    fn buy(&mut self, order: &Accepted, open: Price, quantity: Shares) -> Result<Execution, AmountTooLarge> {
        if quantity.0 == 0 {
            return Ok(Execution::Rejected(RejectCode::Cash));
        }
        let (value, fee, whole) = self.paid(order, open, quantity)?;
        let before = self
            .account
            .holding(order.name)
            .map_or((Shares::ZERO, Fen::ZERO), |held| (held.shares, held.cost));
        self.account.cash = self.account.cash.minus(whole)?;
        self.account
            .set(order.name, before.0.plus(quantity)?, before.1.plus(whole)?);
        if self.is_taxed {
            self.account.add_lot(order.name, quantity, self.day.date());
        }
        Ok(order.filled(quantity, open, (value, fee)))
    }
}

/// The event of a tax; none where nothing is due.
fn tax_event(
    day: &TradingDay<'_>,
    name: NameId,
    (shares_before, shares_after): (Shares, Shares),
    price: Price,
    tax: Fen,
) -> Option<CorporateEvent> {
    let factor = day.bar(name).filter(|_| 0 < tax.0)?.factor;
    Some(CorporateEvent {
        name,
        kind: EventKind::DividendTax,
        shares_before,
        shares_after,
        factor_before: factor,
        factor_after: factor,
        price,
        cash: Fen(-tax.0),
    })
}
