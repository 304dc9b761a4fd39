//! From Chat Completions bytes to a model's turn.

use crate::chat::{CallId, ModelTurn, Normalised, StopReason, ToolCall, Usage};
use crate::wire::fault::{FaultKind, ReplyFault};
use crate::wire::raw_object::{RawObject, read_text};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeSet;

/// Largest reply that is read, in bytes: far above any output budget.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Deepest nesting of a reply that is read, in levels.
pub const REPLY_DEPTH_MAX: usize = 64;

/// Reads a reply.
///
/// Compatible servers bend the format: unknown finish reasons, null content or usage, missing objects and ids,
/// arguments as JSON. What can be read without guessing is read and listed in [`ModelTurn::normalised`]. Whether
/// the model called a tool is decided by the calls, never by the finish reason.
///
/// # Errors
/// [`ReplyFault`] when the reply holds no turn of the model. A model's own mistakes are never a fault: bad
/// arguments and unknown tools are part of the turn.
pub fn decode(status: u16, body: &[u8]) -> Result<ModelTurn, ReplyFault> {
    if REPLY_BYTES_MAX < body.len() {
        return Err(ReplyFault::new(FaultKind::BodyTooLarge, status, ""));
    }
    if !(200..=299).contains(&status) {
        return Err(ReplyFault::of_status(status, body));
    }
    if REPLY_DEPTH_MAX < depth(body) {
        return Err(ReplyFault::new(FaultKind::BodyTooDeep, status, ""));
    }
    let envelope = read_envelope(status, body)?;
    if let Some(fault) = ReplyFault::of_inner_error(status, &envelope) {
        return Err(fault);
    }
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
    let turn = read_turn(&envelope, &choice, message, &calls, digest(body));
    if is_zero_output(&turn) {
        return Err(ReplyFault::zero_output(status, turn));
    }
    Ok(turn)
}

fn read_envelope(status: u16, body: &[u8]) -> Result<RawObject, ReplyFault> {
    let text = std::str::from_utf8(body)
        .map_err(|_| ReplyFault::new(FaultKind::NotJson, status, "the body is not UTF-8"))?
        .trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| {
        let is_object = text.trim_start().starts_with('{');
        let kind = if is_object && error.is_eof() {
            FaultKind::BodyTruncated
        } else {
            FaultKind::NotJson
        };
        ReplyFault::new(kind, status, &error.to_string())
    })
}

fn read_turn(
    envelope: &RawObject,
    choice: &RawObject,
    mut message: RawObject,
    calls: &[Box<RawValue>],
    digest: u64,
) -> ModelTurn {
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &mut normalised);
    let tool_calls = read_calls(&mut message, calls, digest, &mut normalised);
    if message.get("role").is_none() {
        put(&mut message, "role", &"assistant");
    }
    let refused = message.text("refusal").is_some_and(|text| !text.is_empty());
    ModelTurn {
        text: read_content(&message),
        reasoning: message
            .text("reasoning_content")
            .or_else(|| message.text("reasoning")),
        tool_calls,
        stop: read_stop(choice, refused),
        usage,
        normalised: normalised.into_iter().collect(),
        raw: raw(&message),
    }
}

/// The calls, with ids made unique. Where an id had to be minted, `message` gets it too, so that it can go back.
fn read_calls(
    message: &mut RawObject,
    raw_calls: &[Box<RawValue>],
    digest: u64,
    normalised: &mut BTreeSet<Normalised>,
) -> Vec<ToolCall> {
    let mut seen = BTreeSet::new();
    let mut calls = Vec::with_capacity(raw_calls.len());
    let mut echoes = Vec::with_capacity(raw_calls.len());
    let mut is_patched = false;
    for (position, raw_call) in raw_calls.iter().enumerate() {
        let mut echo = RawObject::read(raw_call.get()).unwrap_or_default();
        let function = echo.object("function").unwrap_or_default();
        let given = echo.text("id").filter(|id| !id.trim().is_empty());
        let id = match given {
            Some(id) if seen.insert(id.clone()) => id,
            duplicate => {
                is_patched = true;
                normalised.insert(duplicate.map_or(Normalised::IdMinted, |_| Normalised::IdReminted));
                let id = mint(&mut seen, digest, position);
                put(&mut echo, "id", &id);
                id
            }
        };
        calls.push(ToolCall {
            id: CallId(id),
            name: function.text("name").unwrap_or_default(),
            arguments: read_arguments(&function, normalised),
        });
        echoes.push(echo);
    }
    if is_patched {
        put(message, "tool_calls", &echoes);
    }
    calls
}

/// An id from the reply's content, so that reading the same reply again gives the same id.
fn mint(seen: &mut BTreeSet<String>, digest: u64, position: usize) -> String {
    let mut salt = position;
    loop {
        let id = format!("call_{digest:016x}_{salt}");
        if seen.insert(id.clone()) {
            return id;
        }
        salt += 1;
    }
}

fn read_arguments(function: &RawObject, normalised: &mut BTreeSet<Normalised>) -> String {
    let Some(json) = function.get("arguments") else {
        normalised.insert(Normalised::ArgumentsEmpty);
        return "{}".to_owned();
    };
    let Some(text) = read_text(json) else {
        normalised.insert(Normalised::ArgumentsNotText);
        return json.to_owned();
    };
    if text.trim().is_empty() {
        normalised.insert(Normalised::ArgumentsEmpty);
        return "{}".to_owned();
    }
    text
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
    match choice.text("finish_reason").as_deref() {
        Some("stop") => StopReason::Stop,
        Some("tool_calls" | "function_call") => StopReason::ToolCalls,
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::ContentFilter,
        Some("refusal") => StopReason::Refusal,
        Some(_) | None => StopReason::Other,
    }
}

fn read_usage(envelope: &RawObject, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usage").unwrap_or_default();
    let prompt_details = usage.object("prompt_tokens_details").unwrap_or_default();
    let completion_details = usage.object("completion_tokens_details").unwrap_or_default();
    let counts = Usage {
        prompt_tokens: usage.count("prompt_tokens"),
        completion_tokens: usage.count("completion_tokens"),
        cached_tokens: prompt_details
            .count("cached_tokens")
            .or_else(|| usage.count("prompt_cache_hit_tokens"))
            .or_else(|| usage.count("cached_tokens")),
        reasoning_tokens: completion_details.count("reasoning_tokens"),
    };
    if counts.prompt_tokens.is_none() || counts.completion_tokens.is_none() {
        normalised.insert(Normalised::UsageUnknown);
    }
    counts
}

/// Nothing said, nothing thought, nothing generated: the provider's hiccup rather than the model's silence.
fn is_zero_output(turn: &ModelTurn) -> bool {
    let has_generated = turn.usage.completion_tokens.is_some_and(|tokens| 0 < tokens);
    let has_thought = turn.reasoning.as_deref().is_some_and(|text| !text.is_empty());
    let was_cut = matches!(
        turn.stop,
        StopReason::Length | StopReason::ContentFilter | StopReason::Refusal
    );
    turn.is_blank() && !has_generated && !has_thought && !was_cut
}

fn put<T: Serialize>(object: &mut RawObject, key: &str, value: &T) {
    object.set(key, raw(value));
}

fn raw<T: Serialize>(value: &T) -> Box<RawValue> {
    // Texts and members that were JSON before cannot fail to serialise.
    to_raw_value(value).unwrap_or_default()
}

/// The deepest nesting of brackets outside texts.
fn depth(body: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0_usize);
    let (mut in_text, mut escaped) = (false, false);
    for byte in body {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => {
                level += 1;
                deepest = deepest.max(level);
            }
            (false, b'}' | b']') => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// FNV-1a: a name for the reply's bytes, not a protection against anyone.
fn digest(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
