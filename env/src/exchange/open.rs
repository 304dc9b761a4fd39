//! The open: accepted sells in submitted order, then accepted buys.

use super::account::Account;
use super::fees::fee;
use super::grid::largest_affordable;
use super::order::Side;
use super::report::{Execution, RejectCode};
use super::rules::Rules;
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
}

/// Executes one accepted order against the account.
pub(super) fn execute(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    order: &Accepted,
) -> Result<Execution, AmountTooLarge> {
    let held = account.shares(order.name);
    if order.side == Side::Sell && held.0 <= 0 {
        return Ok(Execution::Rejected(RejectCode::NotHeld));
    }
    let Some(open) = day.tradable_open(order.name) else {
        return Ok(Execution::Rejected(RejectCode::Suspended));
    };
    if order.requested.0 == 0 && !order.sells_all {
        return Ok(Execution::Rejected(RejectCode::Lot));
    }
    let blocked = day
        .limits(rules, order.name)
        .is_some_and(|limits| limits.state(open).blocks(order.side));
    match order.side {
        Side::Buy if blocked => Ok(Execution::Rejected(RejectCode::LimitUp)),
        Side::Sell if blocked => Ok(Execution::Rejected(RejectCode::LimitDown)),
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
) -> Result<Execution, AmountTooLarge> {
    let held = account.shares(order.name);
    let quantity = if order.sells_all {
        held
    } else {
        order.requested.min(held)
    };
    let trade = day.charged(order.name, Side::Sell, quantity, open)?;
    let (value, fee) = (trade.value, fee(rules, &trade)?);
    let cash = account.cash.plus(value)?.minus(fee)?;
    if cash < Fen::ZERO {
        return Ok(Execution::Rejected(RejectCode::Cash));
    }
    account.cash = cash;
    let cost = account
        .holding(order.name)
        .map_or(Fen::ZERO, |holding| holding.cost);
    let left = held.minus(quantity)?;
    let cost_left = divide_half_up(i128::from(cost.0) * i128::from(left.0), i128::from(held.0))?;
    account.set(order.name, left, Fen(cost_left));
    Ok(Execution::Filled {
        quantity,
        price: open,
        value,
        fee,
        clipped: quantity < order.requested,
    })
}

fn buy(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    order: &Accepted,
    open: Price,
) -> Result<Execution, AmountTooLarge> {
    let paid = |shares: Shares| {
        let trade = day.charged(order.name, Side::Buy, shares, open)?;
        let fee = fee(rules, &trade)?;
        Ok((trade.value, fee, trade.value.plus(fee)?))
    };
    // What no account counts, none can afford.
    let affordable = |shares: i64| paid(Shares(shares)).is_ok_and(|(.., whole)| whole <= account.cash);
    let quantity = Shares(largest_affordable(
        day.board(order.name),
        order.requested.0,
        affordable,
    ));
    if quantity.0 == 0 {
        return Ok(Execution::Rejected(RejectCode::Cash));
    }
    let (value, fee, whole) = paid(quantity)?;
    let before = account
        .holding(order.name)
        .map_or((Shares::ZERO, Fen::ZERO), |held| (held.shares, held.cost));
    account.cash = account.cash.minus(whole)?;
    account.set(order.name, before.0.plus(quantity)?, before.1.plus(whole)?);
    Ok(Execution::Filled {
        quantity,
        price: open,
        value,
        fee,
        clipped: quantity < order.requested,
    })
}
