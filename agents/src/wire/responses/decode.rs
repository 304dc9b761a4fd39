//! From Responses bytes to a model's turn.

use crate::chat::{ModelTurn, Normalised, Served, StopReason};
use crate::dialect::{Dialect, UsageLaws};
use crate::usage::{Usage, UsageSource};
use crate::wire::calls::{Calls, sendable};
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Reads a reply. The turn's raw form is its list of output items, which goes back item by item as it came.
///
/// # Errors
/// [`ReplyFault`] when it has not come to an end, and when there is no output in it.
pub(in crate::wire) fn decode(
    envelope: &RawObject,
    status: u16,
    digest: u64,
    dialect: &Dialect,
) -> Result<ModelTurn, ReplyFault> {
    let state = envelope.text("status");
    if let Some("failed" | "cancelled" | "queued" | "in_progress") = state.as_deref() {
        let what = format!("the response is {}", state.as_deref().unwrap_or_default());
        return Err(ReplyFault::new(FaultKind::ServerError, status, &what));
    }
    let empty = || ReplyFault::new(FaultKind::EmptyEnvelope, status, "no output in the reply");
    let mut items = envelope.list("output").ok_or_else(empty)?;
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &dialect.usage, &mut normalised);
    let mut said = Said::default();
    let mut calls = Calls::new(digest, &mut normalised);
    let mut first_dropped = None;
    for (place, item) in items.iter_mut().enumerate() {
        let members = RawObject::read(item.get()).unwrap_or_default();
        match members.text("type").as_deref() {
            Some("message") => said.hear(&members),
            Some("reasoning") => said.think(&members),
            Some("function_call") if calls.is_full() => {
                first_dropped.get_or_insert(place);
            }
            Some("function_call") => read_call(item, members, &mut calls),
            Some(_) | None => {}
        }
    }
    let (tool_calls, calls_dropped) = calls.finish();
    cut_echo(&mut items, first_dropped);
    let stop = read_stop(envelope, said.has_refused, !tool_calls.is_empty());
    Ok(ModelTurn {
        text: Some(said.text).filter(|text| !text.is_empty()),
        reasoning: Some(said.reasoning).filter(|text| !text.is_empty()),
        tool_calls,
        calls_dropped,
        stop,
        usage,
        normalised: normalised.into_iter().collect(),
        served: Served {
            model: envelope.text("model"),
            fingerprint: envelope.text("system_fingerprint"),
            stop_reason: envelope
                .object("incomplete_details")
                .and_then(|details| details.text("reason"))
                .or(state),
        },
        raw: to_raw(&items),
    })
}

/// Leaves out what follows the last call that was read; the vendor refuses reasoning without the item that it led to.
fn cut_echo(items: &mut Vec<Box<RawValue>>, first_dropped: Option<usize>) {
    let Some(first_dropped) = first_dropped else {
        return;
    };
    items.truncate(first_dropped);
    let is_reasoning = |item: &RawValue| {
        let kind = RawObject::read(item.get()).and_then(|item| item.text("type"));
        kind.as_deref() == Some("reasoning")
    };
    while items.last().is_some_and(|item| is_reasoning(item)) {
        items.pop();
    }
}

/// What the items say besides calls.
#[derive(Default)]
struct Said {
    text: String,
    reasoning: String,
    has_refused: bool,
}

impl Said {
    fn hear(&mut self, message: &RawObject) {
        for part in message.list("content").unwrap_or_default() {
            let part = RawObject::read(part.get()).unwrap_or_default();
            match part.text("type").as_deref() {
                Some("output_text") => self.text.push_str(&part.text("text").unwrap_or_default()),
                Some("refusal") => {
                    self.has_refused = true;
                    self.text.push_str(&part.text("refusal").unwrap_or_default());
                }
                Some(_) | None => {}
            }
        }
    }

    /// The reasoning's text where the vendor shows it, else its summary.
    fn think(&mut self, item: &RawObject) {
        for key in ["content", "summary"] {
            let parts = item.list(key).unwrap_or_default();
            let texts: String = parts
                .iter()
                .filter_map(|part| RawObject::read(part.get())?.text("text"))
                .collect();
            if !texts.is_empty() {
                self.reasoning.push_str(&texts);
                return;
            }
        }
    }
}

/// Adds a call, and changes its echo where an id was minted or the arguments cannot go back.
fn read_call(item: &mut Box<RawValue>, mut members: RawObject, calls: &mut Calls<'_>) {
    let name = members.text("name").unwrap_or_default();
    let minted = calls.push(members.text("call_id"), &name, members.get("arguments"));
    let object = sendable(members.get("arguments"));
    if minted.is_none() && object.is_none() {
        return;
    }
    if let Some(id) = minted {
        members.set("call_id", to_raw(&id));
    }
    if let Some(object) = object {
        members.set("arguments", to_raw(&object.get()));
    }
    *item = to_raw(&members);
}

fn read_stop(envelope: &RawObject, has_refused: bool, has_calls: bool) -> StopReason {
    let reason = envelope
        .object("incomplete_details")
        .and_then(|details| details.text("reason"));
    match (envelope.text("status").as_deref(), reason.as_deref()) {
        _ if has_refused => StopReason::Refusal,
        (_, Some("max_output_tokens")) => StopReason::Length,
        (_, Some("content_filter")) => StopReason::ContentFilter,
        (Some("completed"), _) if has_calls => StopReason::ToolCalls,
        (Some("completed"), _) => StopReason::Stop,
        _ => StopReason::Other,
    }
}

/// Reads token counts by the law of this wire: cached tokens are part of the input, reasoning of the output.
fn read_usage(envelope: &RawObject, laws: &UsageLaws, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usage").unwrap_or_default();
    let (Some(input), Some(output)) = (usage.count("input_tokens"), usage.count("output_tokens")) else {
        normalised.insert(Normalised::UsageUnknown);
        return Usage::default();
    };
    let part = |details: &str, key: &str| {
        usage
            .object(details)
            .and_then(|details| details.count(key))
            .unwrap_or(0)
    };
    let cache_read = part("input_tokens_details", "cached_tokens").min(input);
    let cache_write = part("input_tokens_details", "cache_write_tokens").min(input - cache_read);
    let reasoning = part("output_tokens_details", "reasoning_tokens").min(output);
    Usage {
        uncached_input: input - cache_read - cache_write,
        cache_read,
        cache_write_5m: cache_write,
        visible_output: output - reasoning,
        reasoning_output: reasoning,
        source: UsageSource::Reported,
        vendor_cost_picodollars: laws
            .cost
            .as_ref()
            .and_then(|pointer| usage.picodollars_at(pointer)),
        ..Usage::NOTHING
    }
}

#[cfg(test)]
mod tests;
