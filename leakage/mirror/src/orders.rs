//! Batches of orders that meet every rule of the exchange: each known name sold or bought, from a rich and from a poor
//! account.

use crate::report::Answer;
use ktd_env::exchange::{
    Account, Decision, Execution, Fill, Holding, LimitOpenRule, Order, Quantity, Rules, Side, StepReport,
    TargetWeight,
};
use ktd_env::{DayIndex, Fen, Market, NameId, Shares};

/// Shares of each holding.
const HELD: i64 = 1_000;
/// Shares of an order in shares: at least the least purchase of every board.
const TRADED: i64 = 200;
/// Cash of the account that can pay for everything, and of the one that cannot.
const CASH: [Fen; 2] = [Fen(1_000_000_000_000), Fen(5_000_000)];

/// Accounts with a batch for the trading day each.
pub(crate) fn batches(market: &Market, day: DayIndex) -> Vec<(Account, Vec<Order>)> {
    let Some(before) = day.before() else {
        return Vec::new();
    };
    CASH.map(|cash| batch(market, before, cash)).to_vec()
}

fn batch(market: &Market, as_of: DayIndex, cash: Fen) -> (Account, Vec<Order>) {
    let view = market.as_of(as_of);
    let (mut holdings, mut orders) = (Vec::new(), Vec::new());
    let mut nav = cash;
    let weight = |millionths| TargetWeight::from_millionths(millionths).map(Quantity::TargetWeight);
    for (place, name) in view.names().enumerate() {
        let Some((_, bar)) = view.last_bar(name) else {
            continue;
        };
        let held = bar.close.times(Shares(HELD));
        let held = held.and_then(|cost| Ok((cost, nav.plus(cost)?)));
        let held = held.ok().filter(|_| place % 2 == 0);
        let is_held = held.is_some();
        if let Some((cost, nav_with)) = held {
            nav = nav_with;
            holdings.push(Holding {
                name,
                shares: Shares(HELD),
                cost,
            });
        }
        let quantity = match (is_held, place % 6) {
            (true, 0) | (false, 1 | 3) => Some(Quantity::Shares(Shares(TRADED))),
            (true, 2) => Some(Quantity::Shares(Shares(HELD))),
            (true, _) => weight(0),
            (false, _) => weight(500),
        };
        orders.extend(quantity.map(|quantity| Order {
            name: Some(name),
            side: if is_held { Side::Sell } else { Side::Buy },
            quantity,
        }));
    }
    let account = Account {
        cash,
        holdings,
        lots: Vec::new(),
        nav,
    };
    (account, orders)
}

/// Rules without the limits of concentration, which would end most orders before the open, and without what the exchange
/// knows of the rest of the day by a rule of its own: whether a price left the limit that it opened at.
pub(crate) fn wide(rules: &Rules) -> Rules {
    Rules {
        max_single_weight_billionths: 1_000_000_000,
        max_positions: u32::MAX,
        limit_open: LimitOpenRule::Blocked,
        ..rules.clone()
    }
}

/// The outcome of each order, as text.
pub(crate) fn outcomes(market: &Market, report: &StepReport) -> Vec<Answer> {
    report.fills.iter().map(|fill| outcome(market, fill)).collect()
}

fn outcome(market: &Market, fill: &Fill) -> Answer {
    let text = match fill.execution {
        Execution::Filled {
            quantity,
            price,
            value,
            fee,
            clipped,
        } => format!(
            "filled {} at {} fen, value {}, fee {}, clipped {clipped}",
            quantity.0, price.0, value.0, fee.0
        ),
        Execution::Rejected(code) => format!("rejected {}", code.code()),
    };
    Answer {
        door: "exchange step",
        call: call(market, fill.position, fill.side, fill.name),
        text,
    }
}

/// The outcome of the checks at decision, as text.
pub(crate) fn decided(market: &Market, orders: &[Order], decisions: &[Decision]) -> Vec<Answer> {
    let answer = |(place, (order, decision)): (usize, (&Order, &Decision))| {
        let text = match decision {
            Decision::Accepted {
                requested, sells_all, ..
            } => format!("accepted {}, sells all {sells_all}", requested.0),
            Decision::Rejected { code, requested } => format!("rejected {} of {}", code.code(), requested.0),
        };
        Answer {
            door: "exchange decision",
            call: call(market, place, order.side, order.name),
            text,
        }
    };
    orders.iter().zip(decisions).enumerate().map(answer).collect()
}

fn call(market: &Market, place: usize, side: Side, name: Option<NameId>) -> String {
    let code = name
        .and_then(|name| market.name(name))
        .map_or("", |info| info.ticker.reveal())
        .to_owned();
    format!("order {}: {} {code}", place + 1, side.label())
}
