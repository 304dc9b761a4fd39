//! An event stream put together to the response it stands for: its last event carries the whole.

use crate::wire::events::Event;
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::RawObject;

/// The reply whose pieces `events` are.
///
/// # Errors
/// [`ReplyFault`] for an error among the events, and [`FaultKind::StreamTruncated`] when none of them ends the
/// response.
pub(in crate::wire) fn assemble(status: u16, events: &[Event]) -> Result<RawObject, ReplyFault> {
    for event in events {
        let Some(data) = RawObject::read(&event.data) else {
            continue;
        };
        let kind = data.text("type").unwrap_or_else(|| event.name.clone());
        if kind == "error" {
            return Err(error_event(status, &data));
        }
        if let Some(fault) = ReplyFault::of_inner_error(status, &data) {
            return Err(fault);
        }
        if let "response.completed" | "response.incomplete" | "response.failed" = kind.as_str()
            && let Some(response) = data.object("response")
        {
            return match ReplyFault::of_inner_error(status, &response) {
                Some(fault) => Err(fault),
                None => Ok(response),
            };
        }
    }
    let what = "the stream ended before the response did";
    Err(ReplyFault::new(FaultKind::StreamTruncated, status, what))
}

/// An `error` event holds its code and message itself, or in an object of that name.
fn error_event(status: u16, data: &RawObject) -> ReplyFault {
    let mut holder = RawObject::default();
    holder.set("error", crate::wire::raw_object::to_raw(data));
    ReplyFault::of_inner_error(status, data)
        .or_else(|| ReplyFault::of_inner_error(status, &holder))
        .unwrap_or_else(|| ReplyFault::new(FaultKind::ServerError, status, ""))
}
