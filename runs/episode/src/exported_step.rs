//! One step of an episode as rows: of the step, of the requests that it asked, of its orders.

use ktd_bundle::event::{Mark, OrderRecord, Phase, ReadEvent, StepOutcome};
use ktd_study::RowCells;
use serde_json::{Value, json};

/// The columns of a step.
pub(crate) const STEP_COLUMNS: [(&str, RowCells); 22] = [
    ("step", RowCells::Whole),
    ("day", RowCells::Text),
    ("as_of", RowCells::Text),
    ("outcome", RowCells::Text),
    ("is_repaired", RowCells::Flag),
    ("orders", RowCells::Whole),
    ("requests", RowCells::Whole),
    ("tool_calls", RowCells::Whole),
    ("tool_calls_refused", RowCells::Whole),
    ("model_faults", RowCells::Whole),
    ("infrastructure_faults", RowCells::Whole),
    ("input_tokens", RowCells::Whole),
    ("output_tokens", RowCells::Whole),
    ("overall_reason", RowCells::Text),
    ("nav_return", RowCells::Number),
    ("nav_fen", RowCells::Whole),
    ("cash_fen", RowCells::Whole),
    ("fees_fen", RowCells::Whole),
    ("traded_value_fen", RowCells::Whole),
    ("positions", RowCells::Whole),
    ("filled", RowCells::Whole),
    ("rejected", RowCells::Whole),
];

/// The columns of a request that was answered.
pub(crate) const CALL_COLUMNS: [(&str, RowCells); 16] = [
    ("step", RowCells::Whole),
    ("ordinal", RowCells::Whole),
    ("phase", RowCells::Text),
    ("tools", RowCells::Text),
    ("refused", RowCells::Text),
    ("force_declared", RowCells::Text),
    ("force_sent", RowCells::Text),
    ("normalised", RowCells::Text),
    ("served_model", RowCells::Text),
    ("uncached_input", RowCells::Whole),
    ("cache_read", RowCells::Whole),
    ("visible_output", RowCells::Whole),
    ("reasoning_output", RowCells::Whole),
    ("usage", RowCells::Text),
    ("request", RowCells::Text),
    ("reply", RowCells::Text),
];

/// The columns of an order: as the model wrote it, and what it was told of it.
pub(crate) const ORDER_COLUMNS: [(&str, RowCells); 17] = [
    ("step", RowCells::Whole),
    ("day", RowCells::Text),
    ("order", RowCells::Whole),
    ("stock_id", RowCells::Text),
    ("side", RowCells::Text),
    ("target_weight", RowCells::Number),
    ("shares", RowCells::Whole),
    ("confidence", RowCells::Number),
    ("reason", RowCells::Text),
    ("result", RowCells::Text),
    ("code", RowCells::Text),
    ("price", RowCells::Number),
    ("value", RowCells::Number),
    ("requested_shares", RowCells::Number),
    ("filled_shares", RowCells::Number),
    ("fee", RowCells::Number),
    ("fill", RowCells::Text),
];

/// What the events of a step say.
#[derive(Debug, Default)]
pub(crate) struct StepRows {
    step: usize,
    day: Value,
    as_of: Value,
    outcome: Option<StepOutcome>,
    is_repaired: bool,
    overall_reason: Option<String>,
    orders: Vec<OrderRecord>,
    fills: Value,
    mark: Option<Mark>,
    calls: Vec<CallRow>,
    tool_calls: usize,
    tool_calls_refused: usize,
    model_faults: usize,
    infrastructure_faults: usize,
    input_tokens: u64,
    output_tokens: u64,
}

/// A request with the calls of tools in its answer.
#[derive(Debug)]
struct CallRow {
    ordinal: u32,
    phase: Phase,
    tools: Vec<String>,
    refused: Vec<String>,
    /// The cells that follow.
    rest: Vec<Value>,
}

impl StepRows {
    /// Adds an event; whether the step is over.
    pub(crate) fn add(&mut self, event: ReadEvent) -> bool {
        match event {
            ReadEvent::StepBegin { step, day, as_of } => {
                *self = Self {
                    step,
                    day,
                    as_of,
                    ..Self::default()
                };
            }
            ReadEvent::Turn { .. } => self.add_turn(event),
            ReadEvent::InfrastructureFault { .. } => self.infrastructure_faults += 1,
            ReadEvent::ToolCall { refused, .. } => {
                self.tool_calls += 1;
                self.tool_calls_refused += usize::from(refused.is_some());
                if let Some(call) = self.calls.last_mut() {
                    call.refused.extend(refused);
                }
            }
            ReadEvent::ModelFault { .. } => self.model_faults += 1,
            ReadEvent::Decision {
                outcome,
                orders,
                overall_reason,
                is_repaired,
                ..
            } => {
                self.outcome = Some(outcome);
                self.orders = orders;
                self.overall_reason = overall_reason;
                self.is_repaired = is_repaired;
            }
            ReadEvent::Fills { fills, .. } => self.fills = fills,
            ReadEvent::StepEnd { mark, .. } => {
                self.mark = mark;
                return true;
            }
            ReadEvent::EpisodeBegin { .. } | ReadEvent::EpisodeEnd { .. } => {}
        }
        false
    }

    fn add_turn(&mut self, event: ReadEvent) {
        let ReadEvent::Turn {
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
            return;
        };
        self.input_tokens = self.input_tokens.saturating_add(usage.input());
        self.output_tokens = self.output_tokens.saturating_add(usage.output());
        self.calls.push(CallRow {
            ordinal,
            phase,
            tools: tool_calls,
            refused: Vec::new(),
            rest: vec![
                json!(force_declared),
                json!(force_sent),
                listed(&normalised),
                json!(served_model),
                whole(usage.uncached_input),
                whole(usage.cache_read),
                whole(usage.visible_output),
                whole(usage.reasoning_output),
                json!(usage.source),
                json!(request),
                json!(reply),
            ],
        });
    }

    pub(crate) fn step_row(&self) -> Vec<Value> {
        let mark = self.mark.as_ref();
        let fen = |of: fn(&Mark) -> i64| json!(mark.map(of));
        let count = |of: fn(&Mark) -> usize| mark.map_or(Value::Null, |mark| whole(of(mark)));
        vec![
            whole(self.step),
            self.day.clone(),
            self.as_of.clone(),
            json!(self.outcome),
            json!(self.is_repaired),
            whole(self.orders.len()),
            whole(self.calls.len()),
            whole(self.tool_calls),
            whole(self.tool_calls_refused),
            whole(self.model_faults),
            whole(self.infrastructure_faults),
            whole(self.input_tokens),
            whole(self.output_tokens),
            json!(self.overall_reason),
            number(self.fills.get("nav_return")),
            fen(|mark| mark.nav_fen),
            fen(|mark| mark.cash_fen),
            fen(|mark| mark.fees_fen),
            fen(|mark| mark.traded_value_fen),
            count(|mark| mark.positions),
            count(|mark| mark.filled),
            count(|mark| mark.rejected),
        ]
    }

    pub(crate) fn call_rows(&self) -> impl Iterator<Item = Vec<Value>> {
        self.calls.iter().map(|call| {
            let mut row = vec![
                whole(self.step),
                whole(call.ordinal),
                json!(call.phase),
                listed(&call.tools),
                listed(&call.refused),
            ];
            row.extend(call.rest.iter().cloned());
            row
        })
    }

    pub(crate) fn order_rows(&self) -> impl Iterator<Item = Vec<Value>> {
        let told = FillsTable::of(&self.fills);
        self.orders.iter().enumerate().map(move |(place, order)| {
            let fill = told.of_order(place, self.orders.len());
            let text = |name: &str| fill.as_ref().and_then(|fill| fill.get(name)).cloned();
            let figure = |name: &str| number(fill.as_ref().and_then(|fill| fill.get(name)));
            vec![
                whole(self.step),
                self.day.clone(),
                whole(place + 1),
                json!(order.stock_id),
                json!(order.side),
                json!(
                    order
                        .target_weight_millionths
                        .map(|weight| f64::from(weight) / 1e6)
                ),
                json!(order.shares),
                json!(order.confidence),
                json!(order.reason),
                text("result").unwrap_or_default(),
                text("code").unwrap_or_default(),
                figure("price"),
                figure("value"),
                figure("requested_shares"),
                figure("filled_shares"),
                figure("fee"),
                fill.as_ref()
                    .map_or(Value::Null, |fill| json!(json!(fill).to_string())),
            ]
        })
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
    fn of_order(&self, place: usize, orders: usize) -> Option<serde_json::Map<String, Value>> {
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
