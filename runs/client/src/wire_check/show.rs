//! A reading for people and for programs.

use super::exchange::Reading;
use ktd_agents::{ModelTurn, ReplyFault, Usage};
use serde_json::{Value, json};

/// A line of the file, read or not.
#[derive(Debug)]
pub struct Checked {
    /// 1-based line of the file.
    pub number: usize,
    /// Its reading, or why it is no exchange.
    pub reading: Result<Reading, String>,
}

/// Longest excerpt of a text in a line, in characters.
const EXCERPT_CHARS_MAX: usize = 60;

/// The line for people.
#[must_use]
pub fn line_of(checked: &Checked) -> String {
    let reading = match &checked.reading {
        Ok(reading) => reading,
        Err(why) => return format!("{:>5}  unreadable: {why}", checked.number),
    };
    let exchange = &reading.exchange;
    let (Some(wire), Some(verdict)) = (reading.wire, &reading.verdict) else {
        return format!(
            "{:>5}  {}: the path {} is of no known wire",
            checked.number,
            excerpt(&exchange.vendor),
            excerpt(&exchange.path)
        );
    };
    let kinds = verdict.kinds().join(", ");
    let outcome = if kinds.is_empty() {
        verdict.label().to_owned()
    } else {
        format!("{} ({kinds})", verdict.label())
    };
    let said = match &reading.reply {
        Some(Ok(turn)) => turn_line(turn),
        Some(Err(fault)) => excerpt(&fault.to_string()),
        None => String::new(),
    };
    format!(
        "{:>5}  {:<10} {:<16} {} {outcome:<28} {said}",
        checked.number,
        excerpt(&exchange.vendor),
        wire.label(),
        exchange.status
    )
}

fn turn_line(turn: &ModelTurn) -> String {
    let mut parts = vec![format!("stop={}", turn.stop().code())];
    for call in turn.tool_calls() {
        parts.push(format!("{}({})", excerpt(&call.name), excerpt(&call.arguments)));
    }
    if let Some(text) = turn.text() {
        parts.push(format!("{:?}", excerpt(text)));
    }
    let usage = turn.usage();
    parts.push(if usage.is_known() {
        format!(
            "in={} cached={} out={} reasoning={}",
            usage.input(),
            usage.cache_read,
            usage.output(),
            usage.reasoning_output
        )
    } else {
        "usage=unknown".to_owned()
    });
    parts.join("  ")
}

/// The beginning of a text, fit for a terminal: it may come from anyone.
fn excerpt(text: &str) -> String {
    let mut cut: String = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(EXCERPT_CHARS_MAX)
        .collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        cut.push('\u{2026}');
    }
    cut
}

/// The whole for programs.
#[must_use]
pub fn to_json(checked: &Checked) -> Value {
    let reading = match &checked.reading {
        Ok(reading) => reading,
        Err(why) => return json!({ "line": checked.number, "error": why }),
    };
    let exchange = &reading.exchange;
    let mut value = json!({
        "line": checked.number,
        "vendor": exchange.vendor,
        "scenario": exchange.scenario,
        "path": exchange.path,
        "status": exchange.status,
        "wire": reading.wire.map(ktd_agents::Wire::label),
        "outcome": reading.verdict.as_ref().map(ktd_agents::Verdict::label),
        "kinds": reading.verdict.as_ref().map(ktd_agents::Verdict::kinds).unwrap_or_default(),
    });
    let more = match &reading.reply {
        Some(Ok(turn)) => turn_json(turn),
        Some(Err(fault)) => fault_json(fault),
        None => json!({ "error": "the path is of no known wire" }),
    };
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

fn turn_json(turn: &ModelTurn) -> Value {
    let calls = turn.tool_calls().iter().map(
        |call| json!({ "id": call.id.as_str(), "name": call.name, "arguments": call.arguments.as_str() }),
    );
    json!({
        "stop_reason": turn.stop().code(),
        "vendor_stop_reason": turn.served().stop_reason,
        "text": turn.text(),
        "reasoning": turn.reasoning(),
        "tool_calls": calls.collect::<Vec<_>>(),
        "usage": usage_json(&turn.usage()),
        "served_model": turn.served().model,
        "normalised": turn.normalised().iter().map(|one| one.code()).collect::<Vec<_>>(),
    })
}

fn usage_json(usage: &Usage) -> Value {
    json!({
        "source": usage.source.code(),
        "input": usage.input(),
        "uncached_input": usage.uncached_input,
        "cache_read": usage.cache_read,
        "cache_write_5m": usage.cache_write_5m,
        "cache_write_1h": usage.cache_write_1h,
        "tool_prompt": usage.tool_prompt,
        "output": usage.output(),
        "visible_output": usage.visible_output,
        "reasoning_output": usage.reasoning_output,
        "vendor_cost_picodollars": usage.vendor_cost_picodollars,
    })
}

fn fault_json(fault: &ReplyFault) -> Value {
    json!({
        "detail": fault.to_string(),
        "hint": fault.hint(),
        "is_retryable": fault.is_retryable(),
        "wait_seconds": fault.retry_after_seconds(),
        "tool_calls": [],
        "stop_reason": null,
        "text": null,
        "usage": null,
    })
}
