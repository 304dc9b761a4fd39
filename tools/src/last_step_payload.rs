//! What became of the step before, as a model may see it.

use crate::context::ToolContext;
use crate::feedback_texts;
use crate::get_market_context::return_1d;
use crate::last_step::LastStep;
use ktd_env::exchange::{CorporateEvent, Execution, Fill};
use ktd_env::{DaysBack, Price};
use ktd_masking::{FactorScale, Payload, Rank};

/// What became of the step before: each order's result, each code explained once, corporate actions; `null` at the
/// first step. Nothing of the market.
#[must_use]
pub(crate) fn payload(context: &ToolContext<'_>) -> Payload {
    whole(context, Payload::null())
}

/// The same with the price index beside the account: what a mode tells that shows the market.
#[must_use]
pub(crate) fn beside_index(context: &ToolContext<'_>) -> Payload {
    whole(context, index_return(context))
}

fn whole(context: &ToolContext<'_>, index_return: Payload) -> Payload {
    let Some(last) = context.last_step else {
        return Payload::null();
    };
    Payload::sparse_map([
        ("day", context.mask.step_day(last.step)),
        ("outcome", Payload::label(last.kind.label())),
        ("nav_return", nav_return(context, last)),
        (PRICE_INDEX_RETURN, index_return),
        ("orders", orders(context, &last.report.fills)),
        ("reasons", reasons(context, &last.report.fills)),
        ("events", events(context, &last.report.events)),
    ])
}

/// The same without amounts: what a step has to know before anything is asked. Its day is the as-of day.
pub(crate) fn in_brief(context: &ToolContext<'_>) -> Payload {
    let Some(last) = context.last_step else {
        return Payload::null();
    };
    let columns = ["stock_id", "side", "result", "code", "price"];
    let rows = last.report.fills.iter().map(|fill| {
        let shown = Shown::of(context, fill);
        vec![shown.stock_id, shown.side, shown.result, shown.code, shown.price]
    });
    Payload::sparse_map([
        ("outcome", Payload::label(last.kind.label())),
        ("nav_return", nav_return(context, last)),
        (PRICE_INDEX_RETURN, index_return(context)),
        ("orders", Payload::sparse_table(&columns, rows)),
        ("reasons", reasons(context, &last.report.fills)),
        ("events", events(context, &last.report.events)),
    ])
}

/// The key of the price index's return on the day of `nav_return`.
const PRICE_INDEX_RETURN: &str = "price_index_return";

/// The return of the price index on the as-of day: `return_1d` of `get_market_context`, to the letter, so that it tells nothing
/// finer; `null` where that tool shows no index.
fn index_return(context: &ToolContext<'_>) -> Payload {
    match context.mask.scale() {
        FactorScale::Values => return_1d(context),
        FactorScale::Percentiles | FactorScale::Bands => Payload::null(),
    }
}

fn nav_return(context: &ToolContext<'_>, last: &LastStep) -> Payload {
    let nav_return = last.report.nav.to_yuan() / last.nav_before.to_yuan() - 1.0;
    context.mask.nav_return(nav_return)
}

fn orders(context: &ToolContext<'_>, fills: &[Fill]) -> Payload {
    let columns = [
        "order",
        "stock_id",
        "side",
        "result",
        "code",
        "price",
        "value",
        "requested_shares",
        "filled_shares",
        "fee",
    ];
    let rows = fills.iter().map(|fill| {
        let shown = Shown::of(context, fill);
        vec![
            Rank::of_position(fill.position).into(),
            shown.stock_id,
            shown.side,
            shown.result,
            shown.code,
            shown.price,
            shown.value,
            context.mask.shares(fill.requested),
            shown.filled_shares,
            shown.fee,
        ]
    });
    Payload::sparse_table(&columns, rows)
}

/// One order's result, cell by cell.
struct Shown {
    stock_id: Payload,
    side: Payload,
    result: Payload,
    code: Payload,
    price: Payload,
    value: Payload,
    filled_shares: Payload,
    fee: Payload,
}

impl Shown {
    fn of(context: &ToolContext<'_>, fill: &Fill) -> Self {
        let rejected = Self {
            stock_id: fill
                .name
                .map_or_else(Payload::null, |name| context.mask.asset(name)),
            side: Payload::label(fill.side.label()),
            result: Payload::label("rejected"),
            code: Payload::null(),
            price: Payload::null(),
            value: Payload::null(),
            filled_shares: Payload::null(),
            fee: Payload::null(),
        };
        match fill.execution {
            Execution::Rejected(code) => Self {
                code: feedback_texts::code(context.mask, code),
                ..rejected
            },
            Execution::Filled {
                price,
                quantity,
                value,
                fee,
                clipped,
                ..
            } => Self {
                result: Payload::label(if clipped { "clipped" } else { "filled" }),
                price: fill_price(context, fill, price),
                value: context.mask.money(value),
                filled_shares: context.mask.shares(quantity),
                // A fee would tell a small order's value to the fen.
                fee: if context.mask.shows_shares() {
                    context.mask.fee(fee)
                } else {
                    Payload::null()
                },
                ..rejected
            },
        }
    }
}

fn fill_price(context: &ToolContext<'_>, fill: &Fill, price: Price) -> Payload {
    let factor = fill
        .name
        .and_then(|name| context.as_of.bar(name, DaysBack(0)))
        .map_or(f64::NAN, |bar| bar.factor_value);
    fill.name.map_or_else(Payload::null, |name| {
        context.mask.price(context.as_of, name, price.to_yuan() * factor)
    })
}

/// Each code that occurs, explained once.
fn reasons(context: &ToolContext<'_>, fills: &[Fill]) -> Payload {
    let codes = fills.iter().filter_map(|fill| match fill.execution {
        Execution::Rejected(code) => Some(code),
        Execution::Filled { .. } => None,
    });
    feedback_texts::explained(context.mask, codes)
}

/// Corporate actions; none where trading is not shown, as their days are on public record.
fn events(context: &ToolContext<'_>, events: &[CorporateEvent]) -> Payload {
    if !context.mask.shows_trading() {
        return Payload::null();
    }
    let mut shown: Vec<&CorporateEvent> = events.iter().collect();
    shown.sort_by_key(|event| context.mask.order(event.name));
    let columns = ["stock_id", "event", "cash", "shares_before", "shares_after"];
    let rows = shown.into_iter().map(|event| {
        vec![
            context.mask.asset(event.name),
            Payload::label(event.kind.label()),
            context.mask.money(event.cash),
            context.mask.shares(event.shares_before),
            context.mask.shares(event.shares_after),
        ]
    });
    Payload::sparse_table(&columns, rows)
}
