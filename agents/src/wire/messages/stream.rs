//! An event stream put together to the message it stands for.

use crate::wire::events::Event;
use crate::wire::fault::{FaultKind, ReplyFault};
use crate::wire::raw_object::RawObject;
use serde_json::{Map, Value};

/// A content block in the making; the pieces of a call's input are text until the block is whole.
struct Block {
    index: u64,
    members: Map<String, Value>,
    input: String,
}

/// The reply whose pieces `events` are.
///
/// # Errors
/// [`ReplyFault`] for an error among the events, and [`FaultKind::StreamTruncated`] when the stream ends before the
/// message does.
pub(in crate::wire) fn assemble(status: u16, events: &[Event]) -> Result<RawObject, ReplyFault> {
    let (mut message, mut blocks, mut is_whole) = (Map::new(), Vec::<Block>::new(), false);
    for event in events {
        if let Some(fault) =
            RawObject::read(&event.data).and_then(|data| ReplyFault::of_inner_error(status, &data))
        {
            return Err(fault);
        }
        let Ok(Value::Object(mut data)) = serde_json::from_str(&event.data) else {
            continue;
        };
        let index = data.get("index").and_then(Value::as_u64).unwrap_or(0);
        match data.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(Value::Object(start)) = data.remove("message") {
                    message = start;
                }
            }
            Some("content_block_start") => {
                if let Some(Value::Object(members)) = data.remove("content_block") {
                    let input = String::new();
                    blocks.push(Block {
                        index,
                        members,
                        input,
                    });
                }
            }
            Some("content_block_delta") => {
                let block = blocks.iter_mut().rev().find(|block| block.index == index);
                if let (Some(block), Some(delta)) = (block, data.get("delta")) {
                    block.add(delta);
                }
            }
            Some("message_delta") => end(&mut message, &data),
            Some("message_stop") => is_whole = true,
            _ => {}
        }
    }
    let has_stopped = message.get("stop_reason").is_some_and(|reason| !reason.is_null());
    if !is_whole && !has_stopped {
        let what = "the stream ended before the message did";
        return Err(ReplyFault::new(FaultKind::StreamTruncated, status, what));
    }
    let content = blocks.into_iter().map(Block::finish).collect();
    message.insert("content".to_owned(), Value::Array(content));
    RawObject::read(&Value::Object(message).to_string())
        .ok_or_else(|| ReplyFault::new(FaultKind::NotJson, status, "the stream's pieces make no message"))
}

/// Merges the end of a message: its stop reason and the counts, which are those of the whole so far.
fn end(message: &mut Map<String, Value>, data: &Map<String, Value>) {
    if let Some(Value::Object(delta)) = data.get("delta") {
        message.extend(delta.clone());
    }
    let Some(Value::Object(counts)) = data.get("usage") else {
        return;
    };
    let usage = message
        .entry("usage")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(usage) = usage {
        let known = counts.iter().filter(|(_, count)| !count.is_null());
        usage.extend(known.map(|(key, count)| (key.clone(), count.clone())));
    }
}

impl Block {
    fn add(&mut self, delta: &Value) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "input_json_delta" => self.input.push_str(text("partial_json")),
            "text_delta" => self.join("text", text("text")),
            "thinking_delta" => self.join("thinking", text("thinking")),
            "signature_delta" => self.join("signature", text("signature")),
            _ => {}
        }
    }

    fn join(&mut self, key: &str, piece: &str) {
        match self.members.get_mut(key) {
            Some(Value::String(text)) => text.push_str(piece),
            _ => {
                self.members
                    .insert(key.to_owned(), Value::String(piece.to_owned()));
            }
        }
    }

    /// The block; input that is no JSON stays the text that it is.
    fn finish(mut self) -> Value {
        if !self.input.is_empty() {
            let input =
                serde_json::from_str(&self.input).unwrap_or_else(|_| Value::String(self.input.clone()));
            self.members.insert("input".to_owned(), input);
        }
        Value::Object(self.members)
    }
}
