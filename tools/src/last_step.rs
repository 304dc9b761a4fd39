//! What became of the step before, as a model may see it.

use crate::context::ToolContext;
use crate::feedback_texts;
use ktd_env::exchange::{CorporateEvent, Execution, Fill, StepReport};
use ktd_env::{DaysBack, Fen};
use ktd_masking::{Payload, Rank, Ratio};

/// Why the step before traded or did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastStepKind {
    /// Orders were submitted.
    Orders,
    /// An empty list was submitted: a decision to hold.
    Hold,
    /// No valid submission within the retries, so nothing was traded.
    Fallback,
    /// The model could not be reached, so nothing was traded. Not the model's doing.
    Fault,
}

impl LastStepKind {
    /// The stable text.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Hold => "hold",
            Self::Fallback => "fallback_no_trade",
            Self::Fault => "no_answer_no_trade",
        }
    }
}

/// The step before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastStep {
    /// Its number, 1-based. Its trading day is this step's as-of day.
    pub step: usize,
    /// Why it traded or did not.
    pub kind: LastStepKind,
    /// Net asset value before it.
    pub nav_before: Fen,
    /// What the exchange did.
    pub report: StepReport,
}

/// What became of the step before: each order's result, each code explained once, corporate actions; `null` at the
/// first step.
#[must_use]
pub fn payload(context: &ToolContext<'_>) -> Payload {
    let Some(last) = context.last_step else {
        return Payload::null();
    };
    let nav_return = last.report.nav.to_yuan() / last.nav_before.to_yuan() - 1.0;
    Payload::map([
        ("day", context.mask.step_day(last.step)),
        ("outcome", Payload::label(last.kind.label())),
        ("nav_return", Ratio::fraction(nav_return).into()),
        ("orders", orders(context, &last.report.fills)),
        ("reasons", reasons(&last.report.fills)),
        ("events", events(context, &last.report.events)),
    ])
}

fn orders(context: &ToolContext<'_>, fills: &[Fill]) -> Payload {
    let mut columns = vec!["order", "stock_id", "side", "result", "code", "price", "value"];
    let exact = context.mask.shows_shares();
    if exact {
        columns.extend(["requested_shares", "filled_shares", "fee"]);
    }
    let rows = fills.iter().map(|fill| {
        let mut row = fill_row(context, fill);
        if exact {
            let (filled, fee) = match fill.execution {
                Execution::Filled { quantity, fee, .. } => {
                    (context.mask.shares(quantity), context.mask.money(fee))
                }
                Execution::Rejected(_) => (Payload::null(), Payload::null()),
            };
            row.extend([context.mask.shares(fill.requested), filled, fee]);
        }
        row
    });
    Payload::table(&columns, rows)
}

fn fill_row(context: &ToolContext<'_>, fill: &Fill) -> Vec<Payload> {
    let (result, code, price, value) = match fill.execution {
        Execution::Filled {
            price,
            value,
            clipped,
            ..
        } => {
            let factor = fill
                .name
                .and_then(|name| context.as_of.bar(name, DaysBack(0)))
                .map_or(f64::NAN, |bar| bar.factor_value);
            let shown = fill.name.map_or_else(Payload::null, |name| {
                context.mask.price(context.as_of, name, price.to_yuan() * factor)
            });
            let result = if clipped { "clipped" } else { "filled" };
            (result, Payload::null(), shown, context.mask.money(value))
        }
        Execution::Rejected(code) => (
            "rejected",
            Payload::label(code.code()),
            Payload::null(),
            Payload::null(),
        ),
    };
    vec![
        Rank::of_position(fill.position).into(),
        fill.name
            .map_or_else(Payload::null, |name| context.mask.asset(name)),
        Payload::label(fill.side.label()),
        Payload::label(result),
        code,
        price,
        value,
    ]
}

/// Each code that occurs, explained once.
fn reasons(fills: &[Fill]) -> Payload {
    let codes = fills.iter().filter_map(|fill| match fill.execution {
        Execution::Rejected(code) => Some(code),
        Execution::Filled { .. } => None,
    });
    feedback_texts::explained(codes)
}

fn events(context: &ToolContext<'_>, events: &[CorporateEvent]) -> Payload {
    let mut shown: Vec<&CorporateEvent> = events.iter().collect();
    shown.sort_by_key(|event| context.mask.order(event.name));
    let mut columns = vec!["stock_id", "event", "cash"];
    let exact = context.mask.shows_shares();
    if exact {
        columns.extend(["shares_before", "shares_after"]);
    }
    let rows = shown.into_iter().map(|event| {
        let mut row = vec![
            context.mask.asset(event.name),
            Payload::label(event.kind.label()),
            context.mask.money(event.cash),
        ];
        if exact {
            row.extend([
                context.mask.shares(event.shares_before),
                context.mask.shares(event.shares_after),
            ]);
        }
        row
    });
    Payload::table(&columns, rows)
}
