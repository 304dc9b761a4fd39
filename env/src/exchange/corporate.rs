//! Corporate actions before the open and delistings at the close.

use super::account::{Account, Holding};
use super::limits::reference_price;
use super::report::{CorporateEvent, EventKind};
use super::rules::{Delisting, Rules};
use super::trading_day::TradingDay;
use crate::decimal::Decimal;
use crate::money::{AmountTooLarge, Fen, Price, Shares};

/// The price a held name starts the day from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    /// Previous close, or the reference price on an ex-day.
    pub(super) price: Price,
    pub(super) shares: Shares,
}

/// Applies factor moves to what is held: whole shares stay, the fraction is paid at the reference price
/// (docs/spec/exchange.md, rule 8).
pub(super) fn apply_actions(
    account: &mut Account,
    day: &TradingDay<'_>,
    events: &mut Vec<CorporateEvent>,
) -> Result<(Vec<Base>, Fen), AmountTooLarge> {
    let mut rounding = Fen::ZERO;
    let mut bases = Vec::with_capacity(account.holdings.len());
    for holding in account.holdings.clone() {
        let Some(previous) = day.previous_bar(holding.name) else {
            continue;
        };
        let moved = day.bar(holding.name).filter(|bar| bar.factor != previous.factor);
        let Some(bar) = moved else {
            bases.push(Base {
                price: previous.close,
                shares: holding.shares,
            });
            continue;
        };
        let event = action(&holding, previous.close, previous.factor, bar.factor)?;
        let after = event.price.times(event.shares_after)?.plus(event.cash)?;
        let before = previous.close.times(event.shares_before)?;
        rounding = rounding.plus(after.minus(before)?)?;
        account.cash = account.cash.plus(event.cash)?;
        account.carry_lots(holding.name, event.shares_before, event.shares_after)?;
        account.set(holding.name, event.shares_after, holding.cost.minus(event.cash)?);
        bases.push(Base {
            price: event.price,
            shares: event.shares_after,
        });
        events.push(event);
    }
    Ok((bases, rounding))
}

fn action(
    holding: &Holding,
    previous_close: Price,
    before: Decimal,
    after: Decimal,
) -> Result<CorporateEvent, AmountTooLarge> {
    let reference = reference_price(previous_close, before, after);
    let (whole, rest, denominator) = after
        .scale_count(holding.shares.0, before)
        .ok_or(AmountTooLarge)?;
    let cash = (rest * 2 * reference.0 + &denominator) / (denominator * 2);
    let cash = Fen(i64::try_from(cash).map_err(|_| AmountTooLarge)?);
    Ok(CorporateEvent {
        name: holding.name,
        kind: EventKind::CorporateAction,
        shares_before: holding.shares,
        shares_after: Shares(whole),
        factor_before: before,
        factor_after: after,
        price: reference,
        cash,
    })
}

/// Turns names whose rows have ended into cash or nothing on the trading day the rules name (docs/spec/exchange.md,
/// rule 21).
///
/// Returns the value lost.
pub(super) fn apply_delistings(
    rules: &Rules,
    account: &mut Account,
    day: &TradingDay<'_>,
    events: &mut Vec<CorporateEvent>,
) -> Result<Fen, AmountTooLarge> {
    let mut lost = Fen::ZERO;
    let ended: Vec<Holding> = account
        .holdings
        .iter()
        .copied()
        .filter(|holding| day.is_delisted(holding.name, rules.delist_after_days))
        .collect();
    for holding in ended {
        let Some(bar) = day.last_bar(holding.name) else {
            continue;
        };
        let value = bar.close.times(holding.shares)?;
        let (kind, cash) = match rules.delisting {
            Delisting::LastClose => (EventKind::DelistingLastClose, value),
            Delisting::Zero => (EventKind::DelistingZero, Fen::ZERO),
        };
        lost = lost.plus(value.minus(cash)?)?;
        account.cash = account.cash.plus(cash)?;
        account.set(holding.name, Shares::ZERO, Fen::ZERO);
        events.push(CorporateEvent {
            name: holding.name,
            kind,
            shares_before: holding.shares,
            shares_after: Shares::ZERO,
            factor_before: bar.factor,
            factor_after: bar.factor,
            price: bar.close,
            cash,
        });
    }
    Ok(lost)
}
