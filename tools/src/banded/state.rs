//! The state that a step opens with, and the account, as the book has them.

use super::RosterContext;
use crate::feedback_texts;
use crate::parsed_action::ParsedOrder;
use crate::state::count_of;
use ktd_env::exchange::{RejectCode, TargetWeight};
use ktd_env::factors::Factor;
use ktd_masking::{Count, Mode, Payload, Rank, RuleFigures, ShownStock};
use std::collections::BTreeSet;

/// The one line of JSON a user message ends with, in the keys of every other mask.
pub(crate) fn state(context: &RosterContext<'_>, mode: Mode) -> Payload {
    let mut entries = Vec::new();
    if mode == Mode::MemoryOnly {
        let ids = context.roster.stocks().iter().map(ShownStock::payload);
        entries.push(("universe", Payload::list(ids)));
    }
    entries.extend([
        ("day", context.mask.step_day(context.step)),
        ("as_of", context.as_of_day.clone()),
        ("step", Count::of(context.step).into()),
        ("account", account(context)),
    ]);
    if mode == Mode::FixedCandidate {
        entries.push(("candidates", candidates(context)));
    }
    entries.push(("limits", limits(context)));
    entries.push(("last_step", last_step(context)));
    Payload::map(entries)
}

/// What was ordered and is not ordered away.
pub(crate) fn account(context: &RosterContext<'_>) -> Payload {
    let rows = context
        .book
        .positions()
        .map(|position| vec![position.stock.payload(), Payload::echoed_weight(position.target)]);
    Payload::map([
        ("cash_weight", weight(context.book.cash_millionths())),
        ("holdings", Payload::table(&["stock_id", "weight"], rows)),
    ])
}

/// A weight in millionths, which is made of ordered weights alone.
pub(super) fn weight(millionths: u32) -> Payload {
    TargetWeight::from_millionths(millionths).map_or_else(Payload::null, Payload::echoed_weight)
}

/// The stocks with the highest bands of each factor, ties in the order of ids, and those of the book.
fn candidates(context: &RosterContext<'_>) -> Payload {
    let count = usize::try_from(context.limits.fixed_candidates_per_factor).unwrap_or(usize::MAX);
    let mut shown: BTreeSet<&str> = context
        .book
        .positions()
        .map(|position| position.stock.id())
        .collect();
    let mut top_of: Vec<(Factor, BTreeSet<&str>)> = Vec::new();
    for factor in Factor::ALL {
        let mut stocks: Vec<&ShownStock> = context.roster.stocks().iter().collect();
        // The sort is stable, so equal bands keep the order of the ids.
        stocks.sort_by(|left, right| {
            let band = |stock| context.roster.band(stock, factor).value();
            band(right).total_cmp(&band(left))
        });
        let top: BTreeSet<&str> = stocks.into_iter().take(count).map(ShownStock::id).collect();
        shown.extend(&top);
        top_of.push((factor, top));
    }
    let mut columns = vec!["stock_id", "top_of"];
    columns.extend(Factor::ALL.map(crate::masked_factor_view::band_name));
    columns.push("flags");
    let rows = shown.into_iter().filter_map(|id| context.find(id)).map(|stock| {
        let tops = top_of.iter().filter(|(_, top)| top.contains(stock.id()));
        let mut row = vec![
            stock.payload(),
            Payload::list(tops.map(|(factor, _)| Payload::label(factor.name()))),
        ];
        row.extend(Factor::ALL.map(|factor| context.roster.band(stock, factor).into()));
        row.push(flags(context, stock));
        row
    });
    Payload::sparse_table(&columns, rows)
}

/// Whether a stock is in the book.
pub(super) fn flags(context: &RosterContext<'_>, stock: &ShownStock) -> Payload {
    let held = context.book.find(stock.id()).map(|_| Payload::label("held"));
    Payload::list(held)
}

fn limits(context: &RosterContext<'_>) -> Payload {
    let figures = RuleFigures::of(context.rules);
    let most = usize::try_from(context.rules.max_positions).unwrap_or(usize::MAX);
    let left = most.saturating_sub(context.book.positions().len());
    Payload::sparse_map([
        ("max_single_weight", figures.max_single_weight()),
        ("max_positions", figures.max_positions()),
        ("positions_left", Count::of(left).into()),
        ("target_weight_step", context.mask.weight_step()),
    ])
}

/// What the step before submitted, and which orders entered the book; `null` at the first step.
pub(crate) fn last_step(context: &RosterContext<'_>) -> Payload {
    let Some(kind) = context.last_step else {
        return Payload::null();
    };
    let columns = ["stock_id", "side", "target_weight", "result", "code"];
    let rows = context.book.last().iter().map(|answer| {
        vec![
            answer
                .stock
                .as_ref()
                .map_or_else(Payload::null, ShownStock::payload),
            Payload::label(answer.order.side.label()),
            Payload::echoed_weight(answer.order.target),
            result(answer.decision),
            code(answer.decision),
        ]
    });
    let reasons = context
        .book
        .last()
        .iter()
        .filter_map(|answer| answer.decision.err());
    Payload::sparse_map([
        ("outcome", Payload::label(kind.label())),
        ("orders", Payload::sparse_table(&columns, rows)),
        ("reasons", feedback_texts::explained_in_book(reasons)),
    ])
}

pub(super) fn result(decision: Result<(), RejectCode>) -> Payload {
    Payload::label(if decision.is_ok() { "accepted" } else { "rejected" })
}

pub(super) fn code(decision: Result<(), RejectCode>) -> Payload {
    decision
        .err()
        .map_or_else(Payload::null, |code| Payload::label(code.code()))
}

/// What the book says of a list of orders before it takes them, for a session that lets the model correct it.
pub(crate) fn decisions(
    context: &RosterContext<'_>,
    orders: &[ParsedOrder],
    decisions: &[Result<(), RejectCode>],
) -> Payload {
    let columns = ["order", "stock_id", "side", "requested", "result", "code"];
    let rows = orders
        .iter()
        .zip(decisions)
        .enumerate()
        .map(|(place, (order, decision))| {
            vec![
                Rank::of_position(place).into(),
                context
                    .find(&order.stock_id)
                    .map_or_else(Payload::null, ShownStock::payload),
                Payload::label(order.order.side.label()),
                order.requested(context.mask),
                result(*decision),
                code(*decision),
            ]
        });
    let figures = RuleFigures::of(context.rules);
    let codes = decisions.iter().filter_map(|decision| decision.err());
    Payload::map([
        ("orders", Payload::sparse_table(&columns, rows)),
        ("reasons", feedback_texts::explained_in_book(codes)),
        (
            "limits",
            Payload::map([
                ("max_single_weight", figures.max_single_weight()),
                ("max_positions", figures.max_positions()),
                ("max_orders", count_of(context.limits.max_orders)),
            ]),
        ),
    ])
}
