//! One step of an episode as rows: of the step, of the requests that it asked, of its orders.

use ktd_agents::{ForceLevel, Usage};
use ktd_bundle::event::{Mark, OrderRecord, Phase, ReadEvent};
use ktd_bundle::recorded_step::RecordedStep;
use ktd_study::RowCells::{self, Flag, Number, Text, Whole};
use serde_json::{Map, Value, json};

/// The columns of a table of `T`: the head, what its cells are, and the cell of a row.
pub(crate) type Columns<T, const N: usize> = [(&'static str, RowCells, fn(&T) -> Value); N];

/// The heads of columns, each with what its cells are.
pub(crate) fn heads<T, const N: usize>(columns: &Columns<T, N>) -> [(&'static str, RowCells); N] {
    columns.map(|(head, cells, _)| (head, cells))
}

/// The cells of a row.
pub(crate) fn cells<T, const N: usize>(columns: &Columns<T, N>, row: &T) -> Vec<Value> {
    columns.iter().map(|(.., cell)| cell(row)).collect()
}

/// What the events of a step say, nothing of a private part.
#[derive(Debug, Default)]
pub(crate) struct StepRows {
    record: RecordedStep,
    /// Its answered requests.
    pub(crate) calls: Vec<CallRow>,
}

impl StepRows {
    pub(crate) const COLUMNS: Columns<Self, 22> = [
        ("step", Whole, |of| whole(of.record.step)),
        ("day", Text, |of| of.record.day.clone()),
        ("as_of", Text, |of| of.record.as_of.clone()),
        ("outcome", Text, |of| json!(of.record.outcome)),
        ("is_repaired", Flag, |of| json!(of.record.is_repaired)),
        ("orders", Whole, |of| whole(of.record.orders.len())),
        ("requests", Whole, |of| whole(of.record.turns)),
        ("tool_calls", Whole, |of| whole(of.record.calls.len())),
        ("tool_calls_refused", Whole, |of| whole(of.refused())),
        ("model_faults", Whole, |of| whole(of.record.model_faults.len())),
        ("infrastructure_faults", Whole, |of| {
            whole(of.record.infrastructure_faults.len())
        }),
        ("input_tokens", Whole, |of| whole(of.record.tokens.0)),
        ("output_tokens", Whole, |of| whole(of.record.tokens.1)),
        ("overall_reason", Text, |of| json!(of.record.overall_reason)),
        ("nav_return", Number, |of| {
            number(of.record.fills.get("nav_return"))
        }),
        ("nav_fen", Whole, |of| of.account(|it| it.nav_fen)),
        ("cash_fen", Whole, |of| of.account(|it| it.cash_fen)),
        ("fees_fen", Whole, |of| of.account(|it| it.fees_fen)),
        ("traded_value_fen", Whole, |of| {
            of.account(|it| it.traded_value_fen)
        }),
        ("positions", Whole, |of| of.account(|it| it.positions)),
        ("filled", Whole, |of| of.account(|it| it.filled)),
        ("rejected", Whole, |of| of.account(|it| it.rejected)),
    ];

    /// Adds an event; whether the step is over.
    pub(crate) fn add(&mut self, event: ReadEvent) -> bool {
        if matches!(event, ReadEvent::StepBegin { .. }) {
            self.calls.clear();
        }
        self.calls.extend(CallRow::of(&event));
        if let (ReadEvent::ToolCall { refused, .. }, Some(call)) = (&event, self.calls.last_mut()) {
            call.refused.extend(refused.clone());
        }
        let is_over = matches!(event, ReadEvent::StepEnd { .. });
        self.record.add(event);
        is_over
    }

    fn refused(&self) -> usize {
        let calls = self.record.calls.iter();
        calls.filter(|(_, refused)| refused.is_some()).count()
    }

    fn account<N: TryInto<i64>>(&self, of: fn(&Mark) -> N) -> Value {
        self.record
            .mark
            .as_ref()
            .map_or(Value::Null, |mark| whole(of(mark)))
    }

    /// Its orders, each with what the model was told of it.
    pub(crate) fn orders(&self) -> impl Iterator<Item = OrderRow<'_>> {
        let RecordedStep {
            step,
            day,
            orders,
            fills,
            ..
        } = &self.record;
        let told = FillsTable::of(fills);
        orders.iter().enumerate().map(move |(place, order)| OrderRow {
            step: *step,
            day,
            place,
            order,
            fill: told.of_order(place, orders.len()),
        })
    }
}

/// A request that was answered, with the calls of tools in its answer.
#[derive(Debug)]
pub(crate) struct CallRow {
    step: usize,
    ordinal: u32,
    phase: Phase,
    tools: Vec<String>,
    refused: Vec<String>,
    force_declared: ForceLevel,
    force_sent: Option<ForceLevel>,
    normalised: Vec<String>,
    served_model: Option<String>,
    usage: Usage,
    request: String,
    reply: String,
}

impl CallRow {
    pub(crate) const COLUMNS: Columns<Self, 16> = [
        ("step", Whole, |of| whole(of.step)),
        ("ordinal", Whole, |of| whole(of.ordinal)),
        ("phase", Text, |of| json!(of.phase)),
        ("tools", Text, |of| listed(&of.tools)),
        ("refused", Text, |of| listed(&of.refused)),
        ("force_declared", Text, |of| json!(of.force_declared)),
        ("force_sent", Text, |of| json!(of.force_sent)),
        ("normalised", Text, |of| listed(&of.normalised)),
        ("served_model", Text, |of| json!(of.served_model)),
        ("uncached_input", Whole, |of| whole(of.usage.uncached_input)),
        ("cache_read", Whole, |of| whole(of.usage.cache_read)),
        ("visible_output", Whole, |of| whole(of.usage.visible_output)),
        ("reasoning_output", Whole, |of| whole(of.usage.reasoning_output)),
        ("usage", Text, |of| json!(of.usage.source)),
        ("request", Text, |of| json!(of.request)),
        ("reply", Text, |of| json!(of.reply)),
    ];

    /// The row of a turn; none of another event.
    fn of(event: &ReadEvent) -> Option<Self> {
        let ReadEvent::Turn {
            step,
            ordinal,
            phase,
            request,
            reply,
            tool_calls,
            force_declared,
            force_sent,
            normalised,
            served_model,
            usage,
            ..
        } = event
        else {
            return None;
        };
        Some(Self {
            step: *step,
            ordinal: *ordinal,
            phase: *phase,
            tools: tool_calls.clone(),
            refused: Vec::new(),
            force_declared: *force_declared,
            force_sent: *force_sent,
            normalised: normalised.clone(),
            served_model: served_model.clone(),
            usage: *usage,
            request: request.clone(),
            reply: reply.clone(),
        })
    }
}

/// An order as the model wrote it, and what it was told of it.
pub(crate) struct OrderRow<'s> {
    step: usize,
    day: &'s Value,
    place: usize,
    order: &'s OrderRecord,
    fill: Option<Map<String, Value>>,
}

impl OrderRow<'_> {
    pub(crate) const COLUMNS: Columns<Self, 17> = [
        ("step", Whole, |of| whole(of.step)),
        ("day", Text, |of| of.day.clone()),
        ("order", Whole, |of| whole(of.place + 1)),
        ("stock_id", Text, |of| json!(of.order.stock_id)),
        ("side", Text, |of| json!(of.order.side)),
        ("target_weight", Number, |of| json!(of.target_weight())),
        ("shares", Whole, |of| json!(of.order.shares)),
        ("confidence", Number, |of| json!(of.order.confidence)),
        ("reason", Text, |of| json!(of.order.reason)),
        ("result", Text, |of| {
            of.told("result").cloned().unwrap_or_default()
        }),
        ("code", Text, |of| of.told("code").cloned().unwrap_or_default()),
        ("price", Number, |of| number(of.told("price"))),
        ("value", Number, |of| number(of.told("value"))),
        ("requested_shares", Number, |of| {
            number(of.told("requested_shares"))
        }),
        ("filled_shares", Number, |of| number(of.told("filled_shares"))),
        ("fee", Number, |of| number(of.told("fee"))),
        ("fill", Text, |of| {
            json!(of.fill.as_ref().map(|it| json!(it).to_string()))
        }),
    ];

    fn target_weight(&self) -> Option<f64> {
        let weight = self.order.target_weight_millionths?;
        Some(f64::from(weight) / 1e6)
    }

    fn told(&self, name: &str) -> Option<&Value> {
        self.fill.as_ref()?.get(name)
    }
}

/// A count as a cell; one that 64 bits with a sign cannot hold is missing.
pub(crate) fn whole(count: impl TryInto<i64>) -> Value {
    json!(count.try_into().ok())
}

/// Words as one text; nothing of none.
fn listed(words: &[String]) -> Value {
    match words {
        [] => Value::Null,
        words => json!(words.join(",")),
    }
}

/// A shown value as a number; one that is shown in words is missing.
fn number(shown: Option<&Value>) -> Value {
    shown
        .filter(|shown| shown.is_number())
        .cloned()
        .unwrap_or_default()
}

/// What a model was told of its orders: columns, and a row an order.
struct FillsTable<'f> {
    columns: Vec<&'f str>,
    rows: Vec<&'f Vec<Value>>,
}

impl<'f> FillsTable<'f> {
    fn of(fills: &'f Value) -> Self {
        let part = |name: &str| fills.get("orders")?.get(name)?.as_array();
        let columns = part("columns").into_iter().flatten();
        let rows = part("rows").into_iter().flatten();
        Self {
            columns: columns
                .map(|column| column.as_str().unwrap_or_default())
                .collect(),
            rows: rows.filter_map(Value::as_array).collect(),
        }
    }

    /// The row of the order at this place of so many: by its number where rows have one, else by its place where every order has a
    /// row.
    fn of_order(&self, place: usize, orders: usize) -> Option<Map<String, Value>> {
        let numbers = self.columns.iter().position(|column| *column == "order");
        let row = match numbers {
            Some(column) => self.rows.iter().find(|row| {
                let number = row.get(column).and_then(Value::as_u64);
                number.and_then(|number| usize::try_from(number).ok()) == Some(place + 1)
            })?,
            None if self.rows.len() == orders => self.rows.get(place)?,
            None => return None,
        };
        let cells = self.columns.iter().zip(row.iter());
        let there = cells.filter(|(_, cell)| !cell.is_null());
        Some(
            there
                .map(|(column, cell)| ((*column).to_owned(), cell.clone()))
                .collect(),
        )
    }
}
