//! An event stream put together to the message it stands for.

use crate::arguments::is_object;
use crate::wire::events::Event;
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::{RawObject, to_raw};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A content block in the making. Members keep the vendor's own text; pieces are joined as texts until the block is
/// whole.
struct Block {
    index: u64,
    members: RawObject,
    texts: BTreeMap<String, String>,
    citations: Vec<Box<RawValue>>,
    input: String,
}

/// The reply whose pieces `events` are.
///
/// # Errors
/// [`ReplyFault`] for an error among the events, and [`FaultKind::StreamTruncated`] when the stream ends before the
/// message does.
pub(in crate::wire) fn assemble(status: u16, events: &[Event]) -> Result<RawObject, ReplyFault> {
    let (mut message, mut blocks) = (RawObject::default(), Vec::<Block>::new());
    for event in events {
        let Some(data) = RawObject::read(&event.data) else {
            continue;
        };
        if let Some(fault) = ReplyFault::of_inner_error(status, &data) {
            return Err(fault);
        }
        let index = data.count("index").unwrap_or(0);
        match data.text("type").as_deref() {
            Some("message_start") => message = data.object("message").unwrap_or_default(),
            Some("content_block_start") => {
                let members = data.object("content_block").unwrap_or_default();
                blocks.push(Block::new(index, members));
            }
            Some("content_block_delta") => {
                let block = blocks.iter_mut().rev().find(|block| block.index == index);
                if let (Some(block), Some(delta)) = (block, data.object("delta")) {
                    block.add(&delta);
                }
            }
            Some("message_delta") => end(&mut message, &data),
            Some(_) | None => {}
        }
    }
    // The stop reason comes when all blocks are whole; what follows it says nothing more.
    if message.get("stop_reason").is_none() {
        let what = "the stream ended before the message did";
        return Err(ReplyFault::new(FaultKind::StreamTruncated, status, what));
    }
    let content: Vec<RawObject> = blocks.into_iter().map(Block::finish).collect();
    message.set("content", to_raw(&content));
    Ok(message)
}

/// Merges the end of a message: its stop reason and the counts, which are those of the whole so far.
fn end(message: &mut RawObject, data: &RawObject) {
    if let Some(delta) = data.object("delta") {
        message.merge(&delta);
    }
    if let Some(counts) = data.object("usage") {
        let mut usage = message.object("usage").unwrap_or_default();
        usage.merge(&counts);
        message.set("usage", to_raw(&usage));
    }
}

impl Block {
    const fn new(index: u64, members: RawObject) -> Self {
        Self {
            index,
            members,
            texts: BTreeMap::new(),
            citations: Vec::new(),
            input: String::new(),
        }
    }

    fn add(&mut self, delta: &RawObject) {
        let key = match delta.text("type").as_deref() {
            Some("text_delta") => "text",
            Some("thinking_delta") => "thinking",
            Some("signature_delta") => "signature",
            Some("input_json_delta") => {
                self.input
                    .push_str(&delta.text("partial_json").unwrap_or_default());
                return;
            }
            Some("citations_delta") => {
                self.citations
                    .extend(delta.member("citation").map(ToOwned::to_owned));
                return;
            }
            Some(_) | None => return,
        };
        let members = &self.members;
        let text = self
            .texts
            .entry(key.to_owned())
            .or_insert_with(|| members.text(key).unwrap_or_default());
        text.push_str(&delta.text(key).unwrap_or_default());
    }

    /// The block; input that is no JSON object stays the text that it is.
    fn finish(mut self) -> RawObject {
        for (key, text) in &self.texts {
            self.members.set(key, to_raw(text));
        }
        if !self.citations.is_empty() {
            self.members.set("citations", to_raw(&self.citations));
        }
        if !self.input.is_empty() {
            let whole = Some(self.input.clone()).filter(|input| is_object(input));
            let whole = whole.and_then(|input| RawValue::from_string(input).ok());
            self.members
                .set("input", whole.unwrap_or_else(|| to_raw(&self.input)));
        }
        self.members
    }
}
