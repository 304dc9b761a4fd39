//! Corporate actions before the open and delistings at the close.

use super::account::{Account, Holding};
use super::limits::reference_price;
use super::report::{CorporateEvent, EventKind};
use super::rules::{Delisting, Rules};
use super::trading_day::TradingDay;
use crate::decimal::Decimal;
use crate::money::{Fen, Price, Shares};

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
) -> (Vec<Base>, Fen) {
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
        let event = action(&holding, previous.close, previous.factor, bar.factor);
        rounding += event.price * event.shares_after + event.cash - previous.close * event.shares_before;
        account.cash += event.cash;
        account.set(holding.name, event.shares_after, holding.cost - event.cash);
        bases.push(Base {
            price: event.price,
            shares: event.shares_after,
        });
        events.push(event);
    }
    (bases, rounding)
}

fn action(holding: &Holding, previous_close: Price, before: Decimal, after: Decimal) -> CorporateEvent {
    let reference = reference_price(previous_close, before, after);
    let (whole, cash) = after.scale_count(holding.shares.0, before).map_or(
        (holding.shares.0, Fen::ZERO),
        |(whole, rest, denominator)| {
            let doubled = rest * 2 * reference.0 + &denominator;
            let cash = doubled / (denominator * 2);
            (whole, Fen(i64::try_from(cash).unwrap_or(0)))
        },
    );
    CorporateEvent {
        name: holding.name,
        kind: EventKind::CorporateAction,
        shares_before: holding.shares,
        shares_after: Shares(whole),
        factor_before: before,
        factor_after: after,
        price: reference,
        cash,
    }
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
) -> Fen {
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
        let value = bar.close * holding.shares;
        let (kind, cash) = match rules.delisting {
            Delisting::LastClose => (EventKind::DelistingLastClose, value),
            Delisting::Zero => (EventKind::DelistingZero, Fen::ZERO),
        };
        lost += value - cash;
        account.cash += cash;
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
    lost
}
