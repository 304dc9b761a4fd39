//! `submit_action`: the schema shown to a model, and the reading of what it sends.

use crate::context::ToolLimits;
use crate::fault::{self, Fault};
use crate::order::{OrderProblem, OrderSchemaError, parse_order};
use crate::parsed_action::{ParsedAction, ParsedOrder};
use crate::state::count_of;
use crate::step_view::StepView;
use crate::text_limits;
use ktd_env::exchange::{Order, Quantity};
use ktd_masking::{Count, Mask, Payload, PointerPart, Schema, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The name a model calls it by.
pub const SUBMIT_ACTION: &str = "submit_action";

const DESCRIPTION: &str = "Submits all orders of this step; an empty list is a decision to hold. Example: {\"orders\": \
    [{\"stock_id\": \"<id>\", \"side\": \"BUY\", \"target_weight\": 0.05, \"confidence\": 0.6, \"reason\": \"strong and \
    steady\"}], \"overall_reason\": \"more momentum\"}";

// The one action schema, whatever a mask shows: where share counts are hidden, the step's message says so and
// `parse_action` refuses `shares`. A doc comment here would be told to models.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "read by the schema generator alone; orders are read by their text"
)]
struct ActionSchema {
    /// Empty to hold everything as it is.
    orders: Vec<OrderSchema>,
    /// Why, for the list as a whole.
    overall_reason: String,
}

#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "read by the schema generator alone; orders are read by their text"
)]
struct OrderSchema {
    /// As shown.
    stock_id: String,
    side: SideName,
    /// Share of NAV after the trade, at most 6 decimal places; 0 sells everything.
    #[schemars(with = "f64", range(min = 0, max = 1))]
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    target_weight: Option<f64>,
    /// In place of `target_weight`, only where share counts are shown: a whole number of shares to trade.
    #[schemars(with = "u64", range(min = 1))]
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    shares: Option<u64>,
    /// Probability that the price moves your way.
    #[schemars(range(min = 0, max = 1))]
    confidence: f64,
    /// Why, in a sentence.
    reason: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
#[expect(
    dead_code,
    reason = "read by the schema generator alone; orders are read by their text"
)]
enum SideName {
    Buy,
    Sell,
}

/// Description of the tool for a model, the same at every mask.
#[must_use]
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: SUBMIT_ACTION,
        description: DESCRIPTION,
        parameters: Schema::of::<ActionSchema>(),
    }
}

/// What is wrong with a submission; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmissionError {
    faults: Vec<Fault>,
}

impl SubmissionError {
    pub(crate) const fn of(faults: Vec<Fault>) -> Self {
        Self { faults }
    }

    /// The first fault's stable code, for counters.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.faults.first().map_or("invalid_arguments", Fault::code)
    }

    /// All faults, in the order of the text.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The line and the column, 1-based, at which the text stops being JSON; `None` when it is JSON.
    #[must_use]
    pub fn stops_at(&self) -> Option<(Payload, Payload)> {
        self.faults.first()?.stops_at()
    }

    /// Structured feedback for the model.
    #[must_use]
    pub fn payload(&self) -> Payload {
        fault::faults(&self.faults)
    }
}

impl From<Fault> for SubmissionError {
    fn from(fault: Fault) -> Self {
        Self { faults: vec![fault] }
    }
}

/// Reads the arguments of `submit_action` exactly as the model wrote them (docs/spec/exchange.md#order).
///
/// A `stock_id` that is no stock of this episode is not an error here: the exchange rejects that order alone.
///
/// # Errors
/// [`SubmissionError`] with one fault for each order that breaks the schema.
pub fn parse_action<'a>(
    view: impl Into<StepView<'a>>,
    arguments: &str,
) -> Result<ParsedAction, SubmissionError> {
    let view = view.into();
    text_limits::check(arguments, view.limits())?;
    let (orders, overall_reason) = envelope(arguments, view.limits())?;
    let (mut parsed, mut faults) = (Vec::with_capacity(orders.len()), Vec::new());
    for (place, raw) in orders.iter().enumerate() {
        match read_order(view, raw) {
            Ok(order) => parsed.push(order),
            Err(error) => faults.push(order_fault(error, place, view.mask())),
        }
    }
    if faults.is_empty() {
        Ok(ParsedAction {
            orders: parsed,
            overall_reason,
        })
    } else {
        Err(SubmissionError { faults })
    }
}

#[derive(Deserialize)]
struct Envelope<'t> {
    #[serde(borrow, default)]
    orders: Option<&'t RawValue>,
    #[serde(borrow, default)]
    overall_reason: Option<&'t RawValue>,
}

fn envelope<'t>(text: &'t str, limits: &ToolLimits) -> Result<(Vec<&'t RawValue>, String), Fault> {
    const KEYS: &str = "a JSON object with the keys orders and overall_reason, each once";
    // A list would pass for an object: serde reads structs from sequences too.
    if !text.trim_start().starts_with('{') {
        return Err(Fault::new(
            "wrong_type",
            KEYS,
            "wrap the list as {\"orders\": [...]}",
        ));
    }
    let envelope: Envelope<'t> =
        serde_json::from_str(text).map_err(|_| Fault::new("repeated", KEYS, "give each key once"))?;
    let missing = |field| {
        Fault::new("missing", "a value: the key is required", "add the key").at([PointerPart::Field(field)])
    };
    let orders = envelope.orders.ok_or_else(|| missing("orders"))?;
    let orders: Vec<&RawValue> = serde_json::from_str(orders.get()).map_err(|_| {
        Fault::new("wrong_type", "a list of orders", "send [] to hold").at([PointerPart::Field("orders")])
    })?;
    if usize::try_from(limits.max_orders).unwrap_or(usize::MAX) < orders.len() {
        return Err(Fault::new("too_many", "a shorter list", "send fewer orders")
            .with("most", count_of(limits.max_orders))
            .at([PointerPart::Field("orders")]));
    }
    let reason = envelope.overall_reason.ok_or_else(|| missing("overall_reason"))?;
    let reason: String = serde_json::from_str(reason.get()).map_err(|_| {
        Fault::new("wrong_type", "a text", "say in a sentence why").at([PointerPart::Field("overall_reason")])
    })?;
    Ok((orders, reason))
}

fn read_order(view: StepView<'_>, raw: &RawValue) -> Result<ParsedOrder, OrderSchemaError> {
    let text = parse_order(raw, "stock_id", view.rules().min_reason_chars)?;
    if !view.mask().shows_shares() && matches!(text.quantity, Quantity::Shares(_)) {
        return Err(OrderSchemaError {
            field: "shares",
            problem: OrderProblem::SharesHidden,
        });
    }
    if matches!(text.quantity, Quantity::TargetWeight(weight) if !view.mask().takes(weight)) {
        return Err(OrderSchemaError {
            field: "target_weight",
            problem: OrderProblem::OffStep,
        });
    }
    Ok(ParsedOrder {
        order: Order {
            name: view.resolve(&text.symbol),
            side: text.side,
            quantity: text.quantity,
        },
        stock_id: text.symbol,
        confidence: text.confidence,
        reason: text.reason,
    })
}

fn order_fault(error: OrderSchemaError, place: usize, mask: &Mask) -> Fault {
    const ONE_QUANTITY: &str = "exactly one of target_weight and shares";
    const WEIGHT_ALONE: &str = "target_weight alone: a number from 0 to 1";
    let shows_shares = mask.shows_shares();
    let quantity = if shows_shares { ONE_QUANTITY } else { WEIGHT_ALONE };
    let code = error.problem.code();
    let hint = match error.problem {
        OrderProblem::NoQuantity | OrderProblem::BothQuantities if !shows_shares => {
            "give target_weight alone; 0 sells everything"
        }
        OrderProblem::TooLong { .. }
        | OrderProblem::TooDeep { .. }
        | OrderProblem::NotAnObject
        | OrderProblem::Missing { .. }
        | OrderProblem::Repeated
        | OrderProblem::Expected { .. }
        | OrderProblem::TooPrecise
        | OrderProblem::OffStep
        | OrderProblem::TooShort { .. }
        | OrderProblem::BothQuantities
        | OrderProblem::NoQuantity
        | OrderProblem::SharesHidden => error.problem.hint(),
    };
    let fault = match error.problem {
        OrderProblem::TooLong { max_bytes } => {
            Fault::new(code, "a shorter order", hint).with("max_bytes", Count::of(max_bytes))
        }
        OrderProblem::TooDeep { max_depth } => {
            Fault::new(code, "a flat order", hint).with("max_depth", Count::of(max_depth))
        }
        OrderProblem::NotAnObject => Fault::new(code, "a JSON object", hint),
        OrderProblem::Missing { expected } | OrderProblem::Expected { expected } => {
            Fault::new(code, expected, hint)
        }
        OrderProblem::Repeated => Fault::new(code, "each key once", hint),
        OrderProblem::TooPrecise => Fault::new(code, "at most 6 decimal places", hint),
        OrderProblem::OffStep => {
            Fault::new(code, "a multiple of `step`", hint).with("step", mask.weight_step())
        }
        OrderProblem::TooShort { found, least } => Fault::new(code, "a longer reason", hint)
            .with("characters", Count::of(found))
            .with("least", count_of(least)),
        OrderProblem::BothQuantities | OrderProblem::NoQuantity | OrderProblem::SharesHidden => {
            Fault::new(code, quantity, hint)
        }
    };
    let order = [PointerPart::Field("orders"), PointerPart::Index(place)];
    let whole = matches!(error.field, "order")
        || matches!(
            error.problem,
            OrderProblem::NoQuantity | OrderProblem::BothQuantities
        );
    let field = (!whole).then_some(PointerPart::Field(error.field));
    fault.at(order.into_iter().chain(field))
}
