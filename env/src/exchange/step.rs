//! One trading day: decision checks, corporate actions, the open, the close.

use super::account::Account;
use super::corporate::{Base, apply_actions, apply_delistings};
use super::decision::{Decision, decide};
use super::open::{Accepted, Open};
use super::order::{Order, Side};
use super::report::{EventKind, Execution, Fill, NavIdentity, Position, StepReport};
use super::rules::{ExDayOrders, Rules};
use super::trading_day::TradingDay;
use crate::market::NameId;
use crate::money::{AmountTooLarge, Fen, Shares};

/// Runs one trading day. Pure: bad orders are rejections in the report.
///
/// # Errors
/// [`AmountTooLarge`] when the day leaves an account that cannot be counted: a panel of impossible prices, or wealth beyond
/// all shares that are listed.
///
/// # Panics
/// When an invariant of the ledger is broken (cash below 0, or a change of NAV that its parts do not explain to the
/// fen): that is a defect of this program, and a wrong number must not go on.
pub fn step(
    rules: &Rules,
    mut account: Account,
    orders: &[Order],
    day: &TradingDay<'_>,
) -> Result<(Account, StepReport), AmountTooLarge> {
    let nav_before = account.nav;
    let decisions = decide(rules, &account, orders, &day.as_of());
    let mut events = Vec::new();
    let is_taxed = day.taxes_dividends(rules);
    if is_taxed {
        account.add_dividends(day)?;
    } else {
        account.lots.clear();
    }
    let (bases, corporate_rounding) = apply_actions(&mut account, day, &mut events)?;
    let mut open = Open::new(rules, day, &mut account);
    let fills = fill_batch(&mut open, orders, &decisions)?;
    events.extend(open.finish());
    let mut positions = Vec::with_capacity(account.holdings.len());
    for held in &account.holdings {
        positions.extend(mark(day, held.name, held.shares)?);
    }
    let price_pnl = price_pnl(&bases, &fills, &positions)?;
    let held_before = account.holdings.len();
    let delisting_loss = apply_delistings(rules, &mut account, day, &mut events)?;
    if account.holdings.len() < held_before {
        positions.retain(|position| account.shares(position.name).0 > 0);
    }
    let holdings_value = Fen::total(positions.iter().map(|position| position.value))?;
    account.nav = account.cash.plus(holdings_value)?;
    let fees = Fen::total(fills.iter().map(fee_of))?;
    let taxes = events.iter().filter(|event| event.kind == EventKind::DividendTax);
    let identity = NavIdentity {
        price_pnl,
        corporate_rounding,
        fees,
        delisting_loss,
        dividend_tax: Fen::ZERO.minus(Fen::total(taxes.map(|event| event.cash))?)?,
    };
    assert!(account.cash >= Fen::ZERO, "Invariant: cash never falls below 0");
    assert_eq!(
        account.nav.minus(nav_before)?,
        identity.total()?,
        "Invariant: the change of NAV equals price P&L + corporate rounding - fees - delisting loss - dividend tax"
    );
    let report = StepReport {
        fills,
        events,
        positions,
        cash: account.cash,
        holdings_value,
        nav: account.nav,
        identity,
    };
    Ok((account, report))
}

/// Sells in submitted order, then buys in submitted order; results in submitted order.
fn fill_batch(
    open: &mut Open<'_>,
    orders: &[Order],
    decisions: &[Decision],
) -> Result<Vec<Fill>, AmountTooLarge> {
    let (rules, day) = (open.rules, open.day);
    let mut fills: Vec<Fill> = Vec::with_capacity(orders.len());
    for side in [Side::Sell, Side::Buy] {
        for (position, (order, decision)) in orders.iter().zip(decisions).enumerate() {
            if order.side != side {
                continue;
            }
            let (requested, execution, limit_open) = match *decision {
                Decision::Rejected { code, requested } => (requested, Execution::Rejected(code), None),
                Decision::Accepted {
                    name,
                    requested,
                    sells_all,
                } => {
                    let asked = match rules.ex_day_orders {
                        ExDayOrders::Scaled => day.carried(name, side, requested, open.held(name)),
                        ExDayOrders::AsDecided => requested,
                    };
                    let accepted = Accepted {
                        name,
                        side,
                        requested: asked,
                        sells_all,
                        limit_open: day.limit_open(rules, name, side),
                    };
                    let execution = open.execute(&accepted)?;
                    (asked, execution, accepted.limit_open)
                }
            };
            fills.push(Fill {
                position,
                name: order.name,
                side,
                requested,
                execution,
                limit_open,
            });
        }
    }
    fills.sort_by_key(|fill| fill.position);
    Ok(fills)
}

fn fee_of(fill: &Fill) -> Fen {
    match fill.execution {
        Execution::Filled { fee, .. } => fee,
        Execution::Rejected(_) => Fen::ZERO,
    }
}

fn mark(day: &TradingDay<'_>, name: NameId, shares: Shares) -> Result<Option<Position>, AmountTooLarge> {
    let Some((close, stale_days)) = day.last_close(name) else {
        return Ok(None);
    };
    Ok(Some(Position {
        name,
        shares,
        mark: close,
        value: close.times(shares)?,
        stale_days,
    }))
}

/// Price moves, name by name: what was held from its base to its mark, what was sold from its base to the fill,
/// what was bought from the fill to its mark.
fn price_pnl(bases: &[Base], fills: &[Fill], marked: &[Position]) -> Result<Fen, AmountTooLarge> {
    let mut gained = Fen::total(marked.iter().map(|position| position.value))?;
    for fill in fills {
        gained = match fill.execution {
            Execution::Filled { value, .. } if fill.side == Side::Sell => gained.plus(value)?,
            Execution::Filled { value, .. } => gained.minus(value)?,
            Execution::Rejected(_) => gained,
        };
    }
    for base in bases {
        gained = gained.minus(base.price.times(base.shares)?)?;
    }
    Ok(gained)
}
