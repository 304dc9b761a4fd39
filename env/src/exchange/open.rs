//! The open: accepted sells in submitted order, then accepted buys.

use super::account::Account;
use super::fees::fee;
use super::grid::largest_affordable;
use super::order::Side;
use super::report::{Execution, RejectCode};
use super::rules::Rules;
use super::trading_day::TradingDay;
use crate::market::NameId;
use crate::money::{Fen, Price, Shares, divide_half_up};

/// An accepted order on its way to the open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accepted {
    pub(super) name: NameId,
    pub(super) side: Side,
    pub(super) requested: Shares,
    pub(super) sells_all: bool,
}

/// Executes one accepted order against the account.
pub(super) fn execute(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    order: &Accepted,
) -> Execution {
    let held = account.shares(order.name);
    if order.side == Side::Sell && held.0 <= 0 {
        return Execution::Rejected(RejectCode::NotHeld);
    }
    let Some(open) = day.tradable_open(order.name) else {
        return Execution::Rejected(RejectCode::Suspended);
    };
    if order.requested.0 == 0 && !order.sells_all {
        return Execution::Rejected(RejectCode::Lot);
    }
    let blocked = day
        .limits(rules, order.name)
        .is_some_and(|limits| limits.state(open).blocks(order.side));
    match order.side {
        Side::Buy if blocked => Execution::Rejected(RejectCode::LimitUp),
        Side::Sell if blocked => Execution::Rejected(RejectCode::LimitDown),
        Side::Buy => buy(rules, account, day, order, open),
        Side::Sell => sell(rules, account, day, order, open),
    }
}

fn sell(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    order: &Accepted,
    open: Price,
) -> Execution {
    let held = account.shares(order.name);
    let quantity = if order.sells_all {
        held
    } else {
        order.requested.min(held)
    };
    let value = open * quantity;
    let fee = fee(rules, &day.charged(order.name, Side::Sell, quantity, open));
    if account.cash + value < fee {
        return Execution::Rejected(RejectCode::Cash);
    }
    account.cash += value - fee;
    let cost = account
        .holding(order.name)
        .map_or(Fen::ZERO, |holding| holding.cost);
    let left = held - quantity;
    let cost_left = divide_half_up(i128::from(cost.0) * i128::from(left.0), i128::from(held.0));
    account.set(order.name, left, Fen(cost_left));
    Execution::Filled {
        quantity,
        price: open,
        value,
        fee,
        clipped: quantity < order.requested,
    }
}

fn buy(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    order: &Accepted,
    open: Price,
) -> Execution {
    let affordable = |shares: i64| {
        let trade = day.charged(order.name, Side::Buy, Shares(shares), open);
        trade.value + fee(rules, &trade) <= account.cash
    };
    let quantity = Shares(largest_affordable(
        day.board(order.name),
        order.requested.0,
        affordable,
    ));
    if quantity.0 == 0 {
        return Execution::Rejected(RejectCode::Cash);
    }
    let value = open * quantity;
    let fee = fee(rules, &day.charged(order.name, Side::Buy, quantity, open));
    let before = account
        .holding(order.name)
        .map_or((Shares::ZERO, Fen::ZERO), |held| (held.shares, held.cost));
    account.cash -= value + fee;
    account.set(order.name, before.0 + quantity, before.1 + value + fee);
    Execution::Filled {
        quantity,
        price: open,
        value,
        fee,
        clipped: quantity < order.requested,
    }
}
