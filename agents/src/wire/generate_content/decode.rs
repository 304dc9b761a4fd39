//! From `generateContent` bytes to a model's turn.

use crate::chat::{ModelTurn, Normalised, Served, StopReason};
use crate::usage::{Usage, UsageSource};
use crate::wire::calls::{Calls, sendable_object};
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Reads a reply. The turn's raw form is its list of parts, which goes back as it came, signatures included.
///
/// A request that the vendor's filter blocked is a turn that says nothing: the model was not asked.
///
/// # Errors
/// [`ReplyFault`] when there is no candidate in it, and [`FaultKind::LostOpaqueState`] when the vendor misses a
/// signature.
pub(in crate::wire) fn decode(
    envelope: &RawObject,
    status: u16,
    digest: u64,
) -> Result<ModelTurn, ReplyFault> {
    let candidates = envelope.list("candidates").unwrap_or_default();
    let candidate = candidates.first().and_then(|raw| RawObject::read(raw.get()));
    let stop = match &candidate {
        Some(candidate) => read_stop(candidate, status)?,
        None if is_blocked(envelope) => StopReason::ContentFilter,
        None => {
            let what = "no candidate in the reply";
            return Err(ReplyFault::new(FaultKind::EmptyEnvelope, status, what));
        }
    };
    let stop_reason = candidate
        .as_ref()
        .and_then(|candidate| candidate.text("finishReason"));
    let content = candidate.and_then(|candidate| candidate.object("content"));
    let mut parts = content
        .and_then(|content| content.list("parts"))
        .unwrap_or_default();
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &mut normalised);
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut calls = Calls::new(digest, &mut normalised);
    let mut first_dropped = None;
    for (place, part) in parts.iter_mut().enumerate() {
        let members = RawObject::read(part.get()).unwrap_or_default();
        if let Some(call) = members.object("functionCall") {
            if calls.is_full() {
                first_dropped.get_or_insert(place);
            } else {
                read_call(part, members, call, &mut calls);
            }
        } else if let Some(piece) = members.text("text") {
            match members.get("thought") {
                Some("true") => reasoning.push_str(&piece),
                Some(_) | None => text.push_str(&piece),
            }
        }
    }
    let (tool_calls, calls_dropped) = calls.finish();
    parts.truncate(first_dropped.unwrap_or(parts.len()));
    Ok(ModelTurn {
        text: Some(text).filter(|text| !text.is_empty()),
        reasoning: Some(reasoning).filter(|text| !text.is_empty()),
        tool_calls,
        calls_dropped,
        stop,
        usage,
        normalised: normalised.into_iter().collect(),
        served: Served {
            model: envelope.text("modelVersion"),
            fingerprint: None,
            stop_reason,
        },
        raw: to_raw(&parts),
    })
}

/// Adds a call, and changes its echo where the arguments are no object. A minted id is ours alone: a call that came
/// without one goes back without one, and so does its answer.
fn read_call(part: &mut Box<RawValue>, mut members: RawObject, mut call: RawObject, calls: &mut Calls<'_>) {
    let name = call.text("name").unwrap_or_default();
    calls.push_object(call.text("id"), &name, call.get("args"));
    // A call without arguments is this wire's own way to pass none.
    if let Some(object) = call.get("args").and_then(|args| sendable_object(Some(args))) {
        call.set("args", object);
        members.set("functionCall", to_raw(&call));
        *part = to_raw(&members);
    }
}

fn is_blocked(envelope: &RawObject) -> bool {
    envelope
        .object("promptFeedback")
        .is_some_and(|feedback| feedback.get("blockReason").is_some())
}

fn read_stop(candidate: &RawObject, status: u16) -> Result<StopReason, ReplyFault> {
    let reason = candidate.text("finishReason");
    Ok(match reason.as_deref() {
        Some("STOP") => StopReason::Stop,
        Some("MAX_TOKENS") => StopReason::Length,
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE") => {
            StopReason::ContentFilter
        }
        Some(
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "MALFORMED_RESPONSE",
        ) => StopReason::MalformedCall,
        Some("MISSING_THOUGHT_SIGNATURE") => {
            let what = "the vendor misses a thought signature";
            return Err(ReplyFault::new(FaultKind::LostOpaqueState, status, what));
        }
        Some(_) | None => StopReason::Other,
    })
}

/// Reads token counts by the law of this wire: cached tokens are part of the prompt's, thoughts are not part of the
/// candidate's, and the prompts of the vendor's own tools are apart. A count that is absent is none.
fn read_usage(envelope: &RawObject, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usageMetadata").unwrap_or_default();
    let Some(prompt) = usage.count("promptTokenCount") else {
        normalised.insert(Normalised::UsageUnknown);
        return Usage::default();
    };
    let count = |key| usage.count(key).unwrap_or(0);
    let cache_read = count("cachedContentTokenCount").min(prompt);
    Usage {
        uncached_input: prompt - cache_read,
        cache_read,
        tool_prompt: count("toolUsePromptTokenCount"),
        visible_output: count("candidatesTokenCount"),
        reasoning_output: count("thoughtsTokenCount"),
        source: UsageSource::Reported,
        ..Usage::NOTHING
    }
}

#[cfg(test)]
mod tests;
