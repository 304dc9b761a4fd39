//! From Messages bytes to a model's turn.

use crate::chat::{ModelTurn, Normalised, Served, StopReason};
use crate::dialect::{Dialect, UsageLaws};
use crate::usage::{Usage, UsageSource};
use crate::wire::calls::{Calls, sendable_object};
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Reads a reply. The turn's raw form is its list of content blocks, which goes back as it came.
///
/// # Errors
/// [`ReplyFault`] when there is no content in it.
pub(in crate::wire) fn decode(
    envelope: &RawObject,
    status: u16,
    digest: u64,
    dialect: &Dialect,
) -> Result<ModelTurn, ReplyFault> {
    let empty = || ReplyFault::new(FaultKind::EmptyEnvelope, status, "no content in the reply");
    let mut blocks = envelope.list("content").ok_or_else(empty)?;
    let mut normalised = BTreeSet::new();
    let usage = read_usage(envelope, &dialect.usage, &mut normalised);
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut calls = Calls::new(digest, &mut normalised);
    let mut first_dropped = None;
    for (place, block) in blocks.iter_mut().enumerate() {
        let members = RawObject::read(block.get()).unwrap_or_default();
        match members.text("type").as_deref() {
            Some("text") => text.push_str(&members.text("text").unwrap_or_default()),
            Some("thinking") => reasoning.push_str(&members.text("thinking").unwrap_or_default()),
            Some("tool_use") if calls.is_full() => {
                first_dropped.get_or_insert(place);
            }
            Some("tool_use") => read_call(block, members, &mut calls),
            Some(_) | None => {}
        }
    }
    let (tool_calls, calls_dropped) = calls.finish();
    blocks.truncate(first_dropped.unwrap_or(blocks.len()));
    Ok(ModelTurn {
        text: Some(text).filter(|text| !text.is_empty()),
        reasoning: Some(reasoning).filter(|text| !text.is_empty()),
        tool_calls,
        calls_dropped,
        stop: read_stop(envelope),
        usage,
        normalised: normalised.into_iter().collect(),
        served: Served {
            model: envelope.text("model"),
            fingerprint: None,
            stop_reason: envelope.text("stop_reason"),
        },
        raw: to_raw(&blocks),
    })
}

/// Adds a call, and changes its echo where an id was minted or the input is no object.
fn read_call(block: &mut Box<RawValue>, mut members: RawObject, calls: &mut Calls<'_>) {
    let name = members.text("name").unwrap_or_default();
    let minted = calls.push_object(members.text("id"), &name, members.get("input"));
    let object = sendable_object(members.get("input"));
    if minted.is_none() && object.is_none() {
        return;
    }
    if let Some(id) = minted {
        members.set("id", to_raw(&id));
    }
    if let Some(object) = object {
        members.set("input", object);
    }
    *block = to_raw(&members);
}

fn read_stop(envelope: &RawObject) -> StopReason {
    match envelope.text("stop_reason").as_deref() {
        Some("end_turn" | "stop_sequence") => StopReason::Stop,
        Some("tool_use") => StopReason::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refusal,
        Some(_) | None => StopReason::Other,
    }
}

/// Reads token counts by the law of this wire: the request's tokens come without those read from and written to the
/// cache; thinking is part of the output.
fn read_usage(envelope: &RawObject, laws: &UsageLaws, normalised: &mut BTreeSet<Normalised>) -> Usage {
    let usage = envelope.object("usage").unwrap_or_default();
    let (Some(input), Some(output)) = (usage.count("input_tokens"), usage.count("output_tokens")) else {
        normalised.insert(Normalised::UsageUnknown);
        return Usage::default();
    };
    let creation = usage.object("cache_creation").unwrap_or_default();
    let hour = creation.count("ephemeral_1h_input_tokens").unwrap_or(0);
    let five_minutes = creation.count("ephemeral_5m_input_tokens").unwrap_or(0);
    let written = usage
        .count("cache_creation_input_tokens")
        .unwrap_or_else(|| hour.saturating_add(five_minutes));
    let hour = hour.min(written);
    let details = usage.object("output_tokens_details").unwrap_or_default();
    let reasoning = details.count("thinking_tokens").unwrap_or(0).min(output);
    Usage {
        uncached_input: input,
        cache_read: usage.count("cache_read_input_tokens").unwrap_or(0),
        cache_write_5m: written - hour,
        cache_write_1h: hour,
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
