//! An event stream put together to the reply it stands for: the parts of all its chunks, one after the other.

use crate::wire::events::Event;
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};

/// Members of a chunk of which the last one counts: token counts are those of the whole so far.
const LAST_COUNTS: [&str; 3] = ["modelVersion", "promptFeedback", "usageMetadata"];

/// The reply whose pieces `events` are. Parts are never joined, so that every signature stays where it came.
///
/// # Errors
/// [`ReplyFault`] for an error among the events, and [`FaultKind::StreamTruncated`] when no chunk says that the model
/// has finished or that the request was blocked.
pub(in crate::wire) fn assemble(status: u16, events: &[Event]) -> Result<RawObject, ReplyFault> {
    let (mut reply, mut candidate, mut parts) = (RawObject::default(), RawObject::default(), Vec::new());
    for event in events {
        let Some(chunk) = RawObject::read(&event.data) else {
            continue;
        };
        if let Some(fault) = ReplyFault::of_inner_error(status, &chunk) {
            return Err(fault);
        }
        for key in LAST_COUNTS {
            copy(&chunk, &mut reply, key);
        }
        let candidates = chunk.list("candidates").unwrap_or_default();
        let mut candidates = candidates.iter().filter_map(|raw| RawObject::read(raw.get()));
        let Some(piece) = candidates.find(|candidate| candidate.count("index").unwrap_or(0) == 0) else {
            continue;
        };
        copy(&piece, &mut candidate, "finishReason");
        let content = piece.object("content").unwrap_or_default();
        parts.extend(content.list("parts").unwrap_or_default());
    }
    let is_blocked = reply
        .object("promptFeedback")
        .is_some_and(|feedback| feedback.get("blockReason").is_some());
    let is_whole = candidate.get("finishReason").is_some();
    if !is_whole && !is_blocked {
        let what = "the stream ended without a finish reason";
        return Err(ReplyFault::new(FaultKind::StreamTruncated, status, what));
    }
    if is_whole {
        let mut content = RawObject::default();
        content.set("parts", to_raw(&parts));
        candidate.set("content", to_raw(&content));
        reply.set("candidates", to_raw(&[candidate]));
    }
    Ok(reply)
}

fn copy(from: &RawObject, into: &mut RawObject, key: &str) {
    if let Some(value) = from.member(key) {
        into.set(key, value.to_owned());
    }
}
