//! Bad calls and rejected orders as payloads: a stable code, where, what was expected, how to mend it.

use crate::context::ToolContext;
use crate::feedback_texts;
use crate::submit_action::ParsedOrder;
use ktd_env::exchange::{Decision, RejectCode};
use ktd_masking::{Count, Payload, PointerPart, Rank, RuleFigures};

/// The code of a text that is no JSON.
pub(crate) const NOT_JSON: &str = "not_json";

/// One thing that is wrong with what a model sent. It holds nothing of the model's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    code: &'static str,
    pointer: Vec<PointerPart>,
    expected: &'static str,
    hint: &'static str,
    figures: Vec<(&'static str, Payload)>,
}

impl Fault {
    pub(crate) const fn new(code: &'static str, expected: &'static str, hint: &'static str) -> Self {
        Self {
            code,
            pointer: Vec::new(),
            expected,
            hint,
            figures: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, pointer: impl IntoIterator<Item = PointerPart>) -> Self {
        self.pointer = pointer.into_iter().collect();
        self
    }

    pub(crate) fn with(mut self, name: &'static str, figure: impl Into<Payload>) -> Self {
        self.figures.push((name, figure.into()));
        self
    }

    /// The stable code, for counters.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The line and the column at which a text stops being JSON; `None` for every other fault.
    pub(crate) fn stops_at(&self) -> Option<(Payload, Payload)> {
        let figure = |name| self.figures.iter().find(|(of, _)| *of == name);
        (self.code == NOT_JSON)
            .then(|| Some((figure("line")?.1.clone(), figure("column")?.1.clone())))
            .flatten()
    }

    fn payload(&self) -> Payload {
        let mut entries = vec![
            ("error", Payload::label(self.code)),
            ("pointer", Payload::pointer(&self.pointer)),
            ("expected", Payload::label(self.expected)),
        ];
        entries.extend(self.figures.iter().cloned());
        entries.push(("hint", Payload::label(self.hint)));
        Payload::map(entries)
    }
}

/// Most faults told at once: enough to mend a call in one go, few enough to read.
const MAX_FAULTS: usize = 8;

/// The answer to a call that could not be answered.
pub(crate) fn faults(faults: &[Fault]) -> Payload {
    let shown = faults.iter().take(MAX_FAULTS).map(Fault::payload);
    let mut entries = vec![("errors", Payload::list(shown))];
    let more = faults.len().saturating_sub(MAX_FAULTS);
    if 0 < more {
        entries.push(("more_errors", Count::of(more).into()));
    }
    Payload::map(entries)
}

/// What the checks at decision say of a batch, before anything trades: for a session that lets the model mend it.
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

/// The fault of a text that names no stock of this episode.
pub(crate) fn unknown_stock(pointer: impl IntoIterator<Item = PointerPart>) -> Fault {
    Fault::new(
        "unknown_stock_id",
        feedback_texts::STOCK_ID,
        feedback_texts::STOCK_ID_HINT,
    )
    .at(pointer)
}
