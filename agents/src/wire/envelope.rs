//! Opening a reply: limits before parsing, statuses, JSON or an event stream.

use crate::wire::events::{Event, read_events};
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::RawObject;
use ktd_masking::JsonExtent;

/// Largest reply that is read, in bytes: far above any output budget.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Deepest nesting of a reply that is read, in levels.
pub const REPLY_DEPTH_MAX: usize = 64;

/// Most values in a reply that is read.
pub const REPLY_ITEMS_MAX: usize = 500_000;

/// A reply whose status is a success and whose body can be read.
pub(super) struct Opened {
    pub(super) status: u16,
    pub(super) content: Content,
    /// A name for the reply's bytes, from which ids are minted.
    pub(super) digest: u64,
}

pub(super) enum Content {
    Json(RawObject),
    Stream(Vec<Event>),
}

/// Opens a reply.
///
/// # Errors
/// [`ReplyFault`] for a status that is no success, a body beyond the limits, and one that is neither JSON nor events.
pub(super) fn open(status: u16, body: &[u8]) -> Result<Opened, ReplyFault> {
    if REPLY_BYTES_MAX < body.len() {
        return Err(ReplyFault::new(FaultKind::BodyTooLarge, status, ""));
    }
    if !(200..=299).contains(&status) {
        return Err(ReplyFault::of_status(status, body));
    }
    let text = std::str::from_utf8(body)
        .map_err(|_| ReplyFault::new(FaultKind::NotJson, status, "the body is not UTF-8"))?
        .trim_start_matches('\u{feff}');
    let digest = digest(body);
    if let Some(events) = read_events(text) {
        if events.iter().any(|event| is_beyond(event.data.as_bytes())) {
            return Err(ReplyFault::new(FaultKind::BodyTooDeep, status, ""));
        }
        return Ok(Opened {
            status,
            content: Content::Stream(events),
            digest,
        });
    }
    if is_beyond(body) {
        return Err(ReplyFault::new(FaultKind::BodyTooDeep, status, ""));
    }
    let envelope = read_json(status, text)?;
    if let Some(fault) = ReplyFault::of_inner_error(status, &envelope) {
        return Err(fault);
    }
    Ok(Opened {
        status,
        content: Content::Json(envelope),
        digest,
    })
}

fn read_json(status: u16, text: &str) -> Result<RawObject, ReplyFault> {
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

fn is_beyond(json: &[u8]) -> bool {
    let extent = JsonExtent::of(json);
    REPLY_DEPTH_MAX < extent.depth || REPLY_ITEMS_MAX < extent.items
}

/// FNV-1a: a name for the reply's bytes, not a protection against anyone.
fn digest(body: &[u8]) -> u64 {
    body.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
