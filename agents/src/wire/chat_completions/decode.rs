//! From Chat Completions bytes to a model's turn.

use crate::chat::{ModelTurn, Normalised, Served, StopReason, ToolCall};
use crate::dialect::{Dialect, UsageLaws};
use crate::usage::{Usage, UsageSource};
use crate::wire::calls::{CALLS_PER_REPLY_MAX, Calls, sendable};
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Reads a reply.
///
/// Compatible servers bend the format: unknown finish reasons, null content or usage, missing objects and ids,
/// arguments as JSON. What can be read without guessing is read.
///
/// # Errors
/// [`ReplyFault`] when there is no message in it.
pub(in crate::wire) fn decode(
    envelope: &RawObject,
    status: u16,
    digest: u64,
    dialect: &Dialect,
) -> Result<ModelTurn, ReplyFault> {
    let empty = || ReplyFault::new(FaultKind::EmptyEnvelope, status, "no message in the reply");
    let choices = envelope.list("choices").ok_or_else(empty)?;
    let choice = choices
        .first()
        .and_then(|raw| RawObject::read(raw.get()))
        .ok_or_else(empty)?;
    if let Some(fault) = ReplyFault::of_inner_error(status, &choice) {
        return Err(fault);
    }
    let message = choice.object("message").ok_or_else(empty)?;
    let calls = match message.get("tool_calls") {
        Some(_) => message.list("tool_calls").ok_or_else(empty)?,
        None => Vec::new(),
    };
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &dialect.usage, &mut normalised);
    let reasoning = read_reasoning(&message, &dialect.reasoning.fields);
    let turn = read_turn(&choice, message, &calls, digest, normalised);
    Ok(ModelTurn {
        reasoning,
        usage,
        served: Served {
            model: envelope.text("model"),
            fingerprint: envelope.text("system_fingerprint"),
            stop_reason: choice.text("finish_reason"),
        },
        ..turn
    })
}

fn read_turn(
    choice: &RawObject,
    mut message: RawObject,
    calls: &[Box<RawValue>],
    digest: u64,
    mut normalised: BTreeSet<Normalised>,
) -> ModelTurn {
    let (tool_calls, calls_dropped) = read_calls(&mut message, calls, digest, &mut normalised);
    if message.get("role").is_none() {
        put(&mut message, "role", &"assistant");
    }
    let refusal = message.text("refusal").filter(|text| !text.is_empty());
    ModelTurn {
        stop: read_stop(choice, refusal.is_some()),
        text: read_content(&message).or(refusal),
        reasoning: None,
        tool_calls,
        calls_dropped,
        usage: Usage::default(),
        normalised: normalised.into_iter().collect(),
        served: Served::default(),
        raw: to_raw(&message),
    }
}

/// The calls. Where an id had to be minted, arguments cannot go back or there are too many calls, the echo in `message`
/// is changed accordingly.
fn read_calls(
    message: &mut RawObject,
    raw_calls: &[Box<RawValue>],
    digest: u64,
    normalised: &mut BTreeSet<Normalised>,
) -> (Vec<ToolCall>, usize) {
    let mut calls = Calls::new(digest, normalised);
    let mut echoes = Vec::with_capacity(raw_calls.len().min(CALLS_PER_REPLY_MAX));
    let mut is_patched = false;
    for raw_call in raw_calls {
        if calls.is_full() {
            is_patched = true;
            continue;
        }
        let mut echo = RawObject::read(raw_call.get()).unwrap_or_default();
        let mut function = echo.object("function").unwrap_or_default();
        let name = function.text("name").unwrap_or_default();
        if let Some(minted) = calls.push(echo.text("id"), &name, function.get("arguments")) {
            is_patched = true;
            put(&mut echo, "id", &minted);
        }
        if let Some(object) = sendable(function.get("arguments")) {
            is_patched = true;
            put(&mut function, "arguments", &object.get());
            put(&mut echo, "function", &function);
        }
        echoes.push(echo);
    }
    if echoes.is_empty() {
        // Some servers say that there is no call by null or an empty list, which others take back from nobody.
        message.remove("tool_calls");
    } else if is_patched {
        put(message, "tool_calls", &echoes);
    }
    calls.finish()
}

/// Where reasoning comes when the dialect does not say.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The reasoning in the first of `fields` that holds any.
fn read_reasoning(message: &RawObject, fields: &[String]) -> Option<String> {
    let read = |field: &str| message.text(field).filter(|text| !text.is_empty());
    if fields.is_empty() {
        return REASONING_FIELDS.into_iter().find_map(read);
    }
    fields.iter().find_map(|field| read(field))
}

/// Content is text, null, or (on some servers) a list of parts of which the texts count.
fn read_content(message: &RawObject) -> Option<String> {
    let text = message.text("content").or_else(|| {
        let parts = message.list("content")?;
        let texts = parts
            .iter()
            .filter_map(|part| RawObject::read(part.get())?.text("text"));
        Some(texts.collect())
    });
    text.filter(|text| !text.is_empty())
}

fn read_stop(choice: &RawObject, refused: bool) -> StopReason {
    if refused {
        return StopReason::Refusal;
    }
    // A gateway may say `tool_calls` of a call that the budget cut; its upstream's own word tells.
    if matches!(
        choice.text("native_finish_reason").as_deref(),
        Some("length" | "max_tokens" | "max_output_tokens" | "MAX_TOKENS")
    ) {
        return StopReason::Length;
    }
    match choice.text("finish_reason").as_deref() {
        Some("stop") => StopReason::Stop,
        Some("tool_calls" | "function_call") => StopReason::ToolCalls,
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::ContentFilter,
        Some("refusal") => StopReason::Refusal,
        Some(_) | None => StopReason::Other,
    }
}

/// Reads token counts by the law of this wire: cached tokens are part of the prompt's, reasoning of the completion's.
fn read_usage(envelope: &RawObject, laws: &UsageLaws, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usage").unwrap_or_default();
    let (Some(prompt), Some(completion)) = (usage.count("prompt_tokens"), usage.count("completion_tokens"))
    else {
        normalised.insert(Normalised::UsageUnknown);
        return Usage::default();
    };
    let prompt_details = usage.object("prompt_tokens_details").unwrap_or_default();
    let completion_details = usage.object("completion_tokens_details").unwrap_or_default();
    let of_vendor = || laws.cached.iter().find_map(|pointer| usage.count_at(pointer));
    let cache_read = prompt_details
        .count("cached_tokens")
        .or_else(of_vendor)
        .unwrap_or(0)
        .min(prompt);
    let cache_write = prompt_details
        .count("cache_write_tokens")
        .unwrap_or(0)
        .min(prompt - cache_read);
    let reasoning = completion_details
        .count("reasoning_tokens")
        .unwrap_or(0)
        .min(completion);
    Usage {
        uncached_input: prompt - cache_read - cache_write,
        cache_read,
        cache_write_5m: cache_write,
        visible_output: completion - reasoning,
        reasoning_output: reasoning,
        source: UsageSource::Reported,
        vendor_cost_picodollars: laws
            .cost
            .as_ref()
            .and_then(|pointer| usage.picodollars_at(pointer)),
        ..Usage::NOTHING
    }
}

fn put<T: Serialize>(object: &mut RawObject, key: &str, value: &T) {
    object.set(key, to_raw(value));
}

#[cfg(test)]
mod tests;
