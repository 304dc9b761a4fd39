//! Steps of a recorded episode for people: prompts and replies, orders, what became of them, the account.

use crate::output::visible_lines;
use ktd_bundle::event::{Mark, OrderRecord, StepOutcome};
use ktd_bundle::recorded_step::RecordedStep;
use ktd_bundle::transcript::{CommonOpening, Transcript};
use ktd_view::draw::visible;
use ktd_view::table::{Align, Column, Layout, Table, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

/// Steps from one to another, both shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StepRange {
    /// 1-based first step.
    pub first: usize,
    /// 1-based last step.
    pub last: usize,
}

impl FromStr for StepRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once("..").or_else(|| text.split_once('-'));
        let (first, last) = parts.unwrap_or((text, text));
        let step = |text: &str| text.trim().parse::<usize>().ok().filter(|step| 0 < *step);
        match (step(first), step(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Self { first, last }),
            _ => Err("write a step as 3, or steps as 3..7 or 3-7; steps count from 1".to_owned()),
        }
    }
}

/// What is shown of a step.
#[derive(Clone)]
pub(super) struct ShownStep {
    /// Orders, fills and the account.
    pub record: RecordedStep,
    /// The conversation; absent where no reply was recorded.
    pub transcript: Option<Transcript>,
    /// Real names and dates of what is masked; empty unless asked for.
    pub real: BTreeMap<String, String>,
}

/// How steps are shown.
pub(super) struct StepView<'a> {
    /// Steps of the window.
    pub steps: usize,
    /// What is folded; nothing where everything is to be shown.
    pub common: &'a CommonOpening,
    /// How tables are laid out.
    pub layout: Layout<'a>,
}

impl StepView<'_> {
    /// A step as text.
    pub(super) fn text(&self, shown: &ShownStep) -> String {
        let record = &shown.record;
        let mut text = format!(
            "step {} of {}: trades at the open of {}, decided after the close of {}",
            record.step,
            self.steps,
            plain(&record.day),
            plain(&record.as_of)
        );
        match &shown.transcript {
            Some(transcript) => {
                // Writing to a string cannot fail.
                write!(text, "; {} requests", transcript.requests).ok();
                if 0 < transcript.unknown {
                    write!(text, ", {} more with unknown outcome", transcript.unknown).ok();
                }
                text.push('\n');
                text.push_str(&self.messages(transcript));
            }
            None => text.push_str("; no reply is recorded\n"),
        }
        text.push_str(&self.decision(shown));
        text.push_str(&self.account(shown));
        if !shown.real.is_empty() {
            text.push_str("\n--- real ---\n");
            let mut table = Table::new(&[("shown", Align::Left), ("real", Align::Left)]);
            for (shown, name) in &shown.real {
                table.row([shown.clone(), name.clone()]);
            }
            text.push_str(&table.render_in(self.layout));
        }
        text
    }

    fn messages(&self, transcript: &Transcript) -> String {
        let mut text = String::new();
        for message in self.common.fold(&transcript.messages) {
            // Writing to a string cannot fail.
            writeln!(text, "\n--- {} ---", visible(&message.role)).ok();
            if 0 < message.folded_characters {
                let what = if message.rest.is_empty() { "prompt" } else { "text" };
                writeln!(
                    text,
                    "[{} {what}, {} characters, the same in every step; --full shows it]",
                    visible(&message.role),
                    grouped(message.folded_characters)
                )
                .ok();
            }
            if !message.rest.is_empty() || message.folded_characters == 0 {
                writeln!(text, "{}", visible_lines(&message.rest)).ok();
            }
        }
        text
    }

    fn decision(&self, shown: &ShownStep) -> String {
        let record = &shown.record;
        let outcome = match record.outcome {
            Some(StepOutcome::Submitted) => "submitted",
            Some(StepOutcome::Hold) => "holds: the model submitted no order",
            Some(StepOutcome::Fallback) => "no trade: no valid submission within the retries",
            Some(StepOutcome::Uncovered) => "no trade: the model could not be reached",
            None => "not decided yet",
        };
        let mut text = format!("\n--- orders: {outcome} ---\n");
        if let Some(reason) = &record.overall_reason {
            // Writing to a string cannot fail.
            writeln!(text, "{}", visible_lines(reason)).ok();
        }
        if !record.orders.is_empty() {
            text.push_str(&orders(shown).render_in(self.layout));
        }
        if let Some(fills) = record
            .fills
            .get("orders")
            .and_then(|fills| table_of(fills, &shown.real))
        {
            text.push_str("\n--- fills ---\n");
            text.push_str(&fills.render_in(self.layout));
        }
        let reasons = record.fills.get("reasons").and_then(Value::as_object);
        for (code, meaning) in reasons.into_iter().flatten() {
            // Writing to a string cannot fail.
            writeln!(text, "{}: {}", visible(code), visible(&plain(meaning))).ok();
        }
        if let Some(events) = record
            .fills
            .get("events")
            .and_then(|events| table_of(events, &shown.real))
        {
            text.push_str("\n--- corporate actions ---\n");
            text.push_str(&events.render_in(self.layout));
        }
        text
    }

    fn account(&self, shown: &ShownStep) -> String {
        let record = &shown.record;
        let holdings = record.holdings.get("holdings");
        let holdings = holdings.and_then(|holdings| table_of(holdings, &shown.real));
        let Some(mark) = &record.mark else {
            return holdings.map_or_else(String::new, |table| {
                format!(
                    "\n--- account at the close, as shown; exact totals are in private/, which is missing ---\n{}",
                    table.render_in(self.layout)
                )
            });
        };
        let mut text = format!(
            "\n--- account at the close ---\nNAV {} CNY ({}), cash {}, {} names held; traded {}, fees {}\n",
            yuan(mark.nav_fen),
            change(record.nav_before_fen.unwrap_or_default(), mark.nav_fen),
            yuan(mark.cash_fen),
            mark.positions,
            yuan(mark.traded_value_fen),
            yuan(mark.fees_fen)
        );
        if let Some(table) = holdings {
            text.push_str(&table.render_in(self.layout));
        }
        text
    }
}

/// A step for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct StepDocument {
    /// From 1.
    step: usize,
    /// The trading day on whose open orders execute, as shown.
    day: Value,
    /// The as-of day, as shown.
    as_of: Value,
    requests: usize,
    messages: Vec<MessageDocument>,
    /// How it ended; absent where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<StepOutcome>,
    orders: Vec<OrderRecord>,
    /// The model's reason for the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    overall_reason: Option<String>,
    /// What became of the orders, as the model is told.
    fills: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    nav_before_fen: Option<i64>,
    /// The account at the close, where the bundle tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<Mark>,
    /// Holdings at the close, as shown.
    holdings: Value,
    /// Real names and dates of what is masked; empty without `--real`.
    real: BTreeMap<String, String>,
}

/// A message of the conversation.
#[derive(Debug, JsonSchema, Serialize)]
struct MessageDocument {
    role: String,
    content: String,
}

impl From<ShownStep> for StepDocument {
    fn from(shown: ShownStep) -> Self {
        let (record, transcript) = (shown.record, shown.transcript.unwrap_or_default());
        let messages = transcript.messages.into_iter();
        Self {
            step: record.step,
            day: record.day,
            as_of: record.as_of,
            requests: transcript.requests,
            messages: messages
                .map(|(role, content)| MessageDocument { role, content })
                .collect(),
            outcome: record.outcome,
            orders: record.orders,
            overall_reason: record.overall_reason,
            fills: record.fills,
            nav_before_fen: record.nav_before_fen,
            mark: record.mark,
            holdings: record.holdings,
            real: shown.real,
        }
    }
}

fn orders(shown: &ShownStep) -> Table {
    let real = |id: &str| shown.real.get(id).cloned().unwrap_or_default();
    let columns = [
        Column::new("#", Align::Right).with_priority(0),
        Column::new("stock", Align::Left).with_priority(0),
        Column::new("real", Align::Left).with_priority(0),
        Column::new("side", Align::Left).with_priority(0),
        Column::new("target", Align::Right).with_priority(0),
        Column::new("confidence", Align::Right).with_priority(0),
        Column::new("reason", Align::Left).with_priority(0),
    ];
    let is_real = !shown.real.is_empty();
    let keep = move |place: &usize| is_real || *place != 2;
    let columns = columns.into_iter().enumerate().filter(|(place, _)| keep(place));
    let mut table = Table::with_columns(columns.map(|(_, column)| column));
    for (place, order) in shown.record.orders.iter().enumerate() {
        let weight = order
            .target_weight_millionths
            .map(|weight| format!("{:.4}", f64::from(weight) / 1e6));
        let shares = order.shares.map(|shares| format!("{shares} shares"));
        let cells = [
            (place + 1).to_string(),
            order.stock_id.clone(),
            real(&order.stock_id),
            order.side.clone(),
            weight.or(shares).unwrap_or_default(),
            format!("{:.2}", order.confidence),
            order.reason.clone(),
        ];
        let cells = cells.into_iter().enumerate().filter(|(place, _)| keep(place));
        table.row(cells.map(|(_, cell)| cell));
    }
    table
}

/// A table as the model reads it, `{"columns": [...], "rows": [[...]]}`, with the real name of each first alias.
fn table_of(value: &Value, real: &BTreeMap<String, String>) -> Option<Table> {
    let columns = value.get("columns")?.as_array()?;
    let rows: Vec<&Vec<Value>> = value
        .get("rows")?
        .as_array()?
        .iter()
        .filter_map(Value::as_array)
        .collect();
    let is_number = |place: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(place));
        cells.all(|cell| cell.is_number() || cell.is_null())
    };
    let heads = columns.iter().enumerate().map(|(place, head)| {
        let align = if is_number(place) {
            Align::Right
        } else {
            Align::Left
        };
        Column::new(plain(head), align)
    });
    let is_real = !real.is_empty();
    let last = is_real.then(|| Column::new("real", Align::Left).with_priority(0));
    let mut table = Table::with_columns(heads.chain(last));
    for row in rows {
        let name = row
            .iter()
            .filter_map(Value::as_str)
            .find_map(|cell| real.get(cell));
        let name = is_real.then(|| name.cloned().unwrap_or_default());
        table.row(row.iter().map(plain).chain(name));
    }
    Some(table)
}

/// A value without quotation marks.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => visible(text).into_owned(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Fen as CNY with commas.
fn yuan(fen: i64) -> String {
    let sign = if fen < 0 { "-" } else { "" };
    let fen = fen.unsigned_abs();
    format!(
        "{sign}{}.{:02}",
        grouped(usize::try_from(fen / 100).unwrap_or(usize::MAX)),
        fen % 100
    )
}

/// The change of an amount in percent.
#[expect(
    clippy::cast_precision_loss,
    reason = "a net asset value stays far below 2^53 fen"
)]
fn change(before: i64, now: i64) -> String {
    if before == 0 {
        return "n/a".to_owned();
    }
    format!("{:+.2} %", (now as f64 / before as f64 - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_are_written_in_three_ways() {
        let range = |first, last| Ok(StepRange { first, last });
        assert_eq!("3".parse(), range(3, 3));
        assert_eq!("3..7".parse(), range(3, 7));
        assert_eq!("3-7".parse(), range(3, 7));
        for wrong in ["0", "7..3", "x", "3..", "-3", "3..x", ""] {
            assert!(wrong.parse::<StepRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn amounts_are_in_yuan() {
        assert_eq!(yuan(102_327_910), "1,023,279.10");
        assert_eq!(yuan(-5), "-0.05");
        assert_eq!(change(100, 101), "+1.00 %");
    }

    #[test]
    fn a_table_for_the_model_is_one_for_people() {
        let value =
            json!({ "columns": ["stock_id", "price"], "rows": [["asset_1", 2.5], ["x\u{1b}", null]] });
        let none = BTreeMap::new();
        let table = table_of(&value, &none).unwrap();
        assert_eq!(table.render(), "stock_id  price\nasset_1     2.5\nx\\u{1b}\n");
        let real = BTreeMap::from([("asset_1".to_owned(), "SH600000".to_owned())]);
        let table = table_of(&value, &real).unwrap();
        assert!(
            table.render().contains("asset_1     2.5  SH600000"),
            "{}",
            table.render()
        );
        assert!(table_of(&json!({ "columns": 3 }), &none).is_none());
    }
}
