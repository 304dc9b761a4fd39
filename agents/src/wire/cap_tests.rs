//! A reply with more calls than a reply may hold, on every wire.

use super::*;
use crate::CALLS_PER_REPLY_MAX;
use crate::chat::{Message, ReplyFormat, Sampling, Thinking, ToolChoice};
use ktd_masking::{Payload, Prompt};
use serde_json::{Value, json};
use std::sync::Arc;

const CALLS: usize = 10_000;

/// A reply with so many calls; each is preceded by reasoning where the wire has items for it.
fn reply(wire: Wire, calls: usize) -> Value {
    let ids = (0..calls).map(|place| format!("c{place}"));
    match wire {
        Wire::ChatCompletions => {
            let calls: Vec<Value> = ids
                .map(|id| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}))
                .collect();
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": calls}}]})
        }
        Wire::Responses => {
            let items: Vec<Value> = ids
                .flat_map(|id| {
                    [
                        json!({"type": "reasoning", "id": format!("r{id}"), "summary": []}),
                        json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"}),
                    ]
                })
                .collect();
            json!({"status": "completed", "output": items})
        }
        Wire::Messages => {
            let blocks: Vec<Value> = ids
                .map(|id| json!({"type": "tool_use", "id": id, "name": "look", "input": {}}))
                .collect();
            json!({"type": "message", "stop_reason": "tool_use", "content": blocks})
        }
        Wire::GenerateContent => {
            let parts: Vec<Value> = ids
                .map(|id| json!({"functionCall": {"id": id, "name": "look", "args": {}}}))
                .collect();
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": parts}}]})
        }
    }
}

/// The next request after `turn`, with every call of it answered.
fn next_request(turn: ModelTurn) -> ChatRequest {
    let answers = turn.tool_calls().iter().map(|call| Message::Tool {
        call_id: call.id.clone(),
        content: Payload::label("seen"),
    });
    let answers: Vec<Message> = answers.collect();
    let opening = Message::User(Prompt::new().text("Look."));
    ChatRequest {
        model: "m".to_owned(),
        messages: [opening, Message::Assistant(Arc::new(turn))]
            .into_iter()
            .chain(answers)
            .collect(),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        reply_format: ReplyFormat::Free,
        thinking: Thinking::VendorDefault,
        sampling: Sampling::default(),
        cache_key: None,
    }
}

#[test]
fn calls_beyond_the_cap_are_counted_and_their_echo_is_left_out() {
    for wire in Wire::ALL {
        let read = |calls| {
            let body = reply(wire, calls).to_string();
            wire.decode(200, body.as_bytes(), &Dialect::plain()).unwrap()
        };
        let whole = read(CALLS_PER_REPLY_MAX);
        assert_eq!(whole.calls_dropped(), 0);
        let turn = read(CALLS);
        assert_eq!(turn.tool_calls().len(), CALLS_PER_REPLY_MAX, "{}", wire.label());
        assert_eq!(turn.calls_dropped(), CALLS - CALLS_PER_REPLY_MAX);
        // What goes back is that of a reply that ended with the last call that was read: each echoed call is answered.
        assert_eq!(turn.raw().get(), whole.raw().get(), "{}", wire.label());
        let echo = |turn| {
            let request = wire.encode(&next_request(turn), &Dialect::plain());
            String::from_utf8(request.body().to_vec()).unwrap()
        };
        assert_eq!(echo(turn), echo(whole));
    }
}
