//! A request whose messages are text already, which is what the encoders read: one code for every kind of words.

use crate::chat::{ChatRequest, Message};
use crate::wire_format::Wire;
use crate::words::Words;
use std::sync::Arc;

/// Text as it goes over the wire.
#[derive(Debug, Clone)]
pub(super) enum Text {}

impl Words for Text {
    type Prompt = String;
    type Payload = String;

    fn prompt_text(prompt: &String) -> String {
        prompt.clone()
    }

    fn payload_text(payload: &String) -> String {
        payload.clone()
    }

    fn payload_json(payload: &String) -> String {
        payload.clone()
    }
}

/// A request as the encoders read it.
pub(super) type TextRequest = ChatRequest<Text>;

/// A message as the encoders read it. What a tool answered is JSON on a wire that takes JSON, else text.
pub(super) type TextMessage = Message<Text>;

/// `request` with the texts that `wire` takes.
pub(super) fn rendered<W: Words>(request: &ChatRequest<W>, wire: Wire) -> TextRequest {
    let payload = match wire {
        Wire::ChatCompletions | Wire::Responses | Wire::Messages => W::payload_text,
        Wire::GenerateContent => W::payload_json,
    };
    let message = |message: &Message<W>| match message {
        Message::System(prompt) => Message::System(W::prompt_text(prompt)),
        Message::User(prompt) => Message::User(W::prompt_text(prompt)),
        Message::Assistant(turn) => Message::Assistant(Arc::clone(turn)),
        Message::Tool { call_id, content } => Message::Tool {
            call_id: call_id.clone(),
            content: payload(content),
        },
    };
    ChatRequest {
        model: request.model.clone(),
        messages: request.messages.iter().map(message).collect(),
        tools: Arc::clone(&request.tools),
        tool_choice: request.tool_choice,
        reply_format: request.reply_format.clone(),
        thinking: request.thinking,
        sampling: request.sampling,
        cache_key: request.cache_key.clone(),
    }
}
