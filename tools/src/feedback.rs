//! Decisions on a batch of orders as a payload: which are rejected, by which rule, under which limits.

use crate::context::ToolContext;
use crate::feedback_texts;
use crate::parsed_action::ParsedOrder;
use ktd_env::exchange::{Decision, RejectCode};
use ktd_masking::{Payload, Rank, RuleFigures};

/// What the checks at decision say of a batch, before anything trades: for a session that lets the model correct it.
///
/// One row an order with `result` `accepted` or `rejected`; each code that occurs is explained once, with the limits
/// it may have met.
#[must_use]
pub fn decisions(context: &ToolContext<'_>, orders: &[ParsedOrder], decisions: &[Decision]) -> Payload {
    let results = orders.iter().zip(decisions).map(|(order, decision)| Outcome {
        order,
        rejection: match decision {
            Decision::Accepted { .. } => None,
            Decision::Rejected { code, .. } => Some(*code),
        },
        accepted: "accepted",
    });
    outcomes(context, &results.collect::<Vec<_>>())
}

struct Outcome<'a> {
    order: &'a ParsedOrder,
    rejection: Option<RejectCode>,
    accepted: &'static str,
}

fn outcomes(context: &ToolContext<'_>, outcomes: &[Outcome<'_>]) -> Payload {
    let columns = ["order", "stock_id", "side", "requested", "result", "code"];
    let rows = outcomes.iter().enumerate().map(|(position, outcome)| {
        let order = &outcome.order.order;
        vec![
            Rank::of_position(position).into(),
            order
                .name
                .map_or_else(Payload::null, |name| context.mask.asset(name)),
            Payload::label(order.side.label()),
            outcome.order.requested(context.mask),
            Payload::label(outcome.rejection.map_or(outcome.accepted, |_| "rejected")),
            outcome
                .rejection
                .map_or_else(Payload::null, |code| feedback_texts::code(context.mask, code)),
        ]
    });
    let codes = outcomes.iter().filter_map(|outcome| outcome.rejection);
    let figures = RuleFigures::of(context.rules);
    Payload::map([
        ("orders", Payload::sparse_table(&columns, rows)),
        ("reasons", feedback_texts::explained(context.mask, codes)),
        (
            "limits",
            Payload::map([
                ("max_single_weight", figures.max_single_weight()),
                ("max_positions", figures.max_positions()),
            ]),
        ),
    ])
}
