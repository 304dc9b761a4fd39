//! From a neutral request to Messages bytes.

use crate::chat::{CallId, Message, ReplyFormat, ToolChoice};
use crate::dialect::{Dialect, JsonFormat};
use crate::wire::WireRequest;
use crate::wire::body::{Body, Sorted, merge_thinking};
use crate::wire::raw_object::{RawObject, to_raw};
use crate::wire::schema::closed;
use crate::wire::text::{TextMessage, TextRequest};
use ktd_masking::ToolSpec;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The path below the base URL.
const PATH: &str = "/v1/messages";

/// Sent as `max_tokens`, which this wire cannot do without, when the experiment names no bound.
pub(in crate::wire) const MAX_TOKENS_DEFAULT: u32 = 16_384;

/// The bytes of `request`. Neighbours of one role are merged, because the wire wants roles to alternate.
pub(in crate::wire) fn encode(request: &TextRequest, dialect: &Dialect) -> WireRequest {
    let mut body = Body::default();
    let marks = dialect.cache.breakpoints;
    let max_tokens = request.sampling.max_output_tokens.unwrap_or(MAX_TOKENS_DEFAULT);
    body.put("max_tokens", &max_tokens);
    body.put("messages", &messages(request, marks));
    body.put("model", &request.model);
    let mut system: Vec<Value> = request
        .messages
        .iter()
        .filter_map(system_text)
        .map(text_block)
        .collect();
    if !system.is_empty() {
        mark_last(&mut system, marks);
        body.put("system", &sorted(&system));
    }
    body.put_some("temperature", dialect.temperature_for(request));
    let shown = shown_tools(request);
    if !shown.is_empty() {
        let mut tools: Vec<Value> = shown.iter().map(|tool| tool_of(tool, dialect)).collect();
        mark_last(&mut tools, marks);
        body.put("tools", &sorted(&tools));
        body.put("tool_choice", &Sorted(&choice(request.tool_choice, dialect)));
    }
    if let (ReplyFormat::Arguments(tool), JsonFormat::Schema | JsonFormat::StrictSchema) =
        (&request.reply_format, dialect.json)
    {
        let schema = closed(tool.parameters.as_value());
        let format = json!({ "format": { "type": "json_schema", "schema": schema } });
        body.put("output_config", &Sorted(&format));
    }
    body.merge(&dialect.body);
    merge_thinking(&mut body, request.thinking, dialect);
    WireRequest::new(PATH.to_owned(), body.bytes(), Some(max_tokens))
}

/// The tools that are shown. A conversation with calls in it must define them, or it is refused or answered with
/// nothing (litellm#4689, vercel/ai#12378): withdrawn tools then stay listed, and are forbidden.
fn shown_tools(request: &TextRequest) -> &[ToolSpec] {
    let has_calls = request.messages.iter().any(|message| match message {
        Message::Assistant(turn) => !turn.tool_calls().is_empty(),
        Message::System(_) | Message::User(_) | Message::Tool { .. } => false,
    });
    if has_calls {
        &request.tools
    } else {
        request.shown_tools()
    }
}

fn system_text(message: &TextMessage) -> Option<&str> {
    match message {
        Message::System(prompt) => Some(prompt),
        Message::User(_) | Message::Assistant(_) | Message::Tool { .. } => None,
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn sorted(values: &[Value]) -> Vec<Sorted<'_>> {
    values.iter().map(Sorted).collect()
}

/// Puts a cache breakpoint on the last block: what stands before it is the same in the next request.
fn mark_last(blocks: &mut [Value], marks: bool) {
    if let Some(Value::Object(last)) = blocks.last_mut().filter(|_| marks) {
        last.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

fn tool_of(tool: &ToolSpec, dialect: &Dialect) -> Value {
    let schema = tool.parameters.as_value();
    let mut value = json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": if dialect.strict_tools == Some(true) { closed(schema) } else { schema.clone() },
    });
    if let (Some(object), Some(strict)) = (value.as_object_mut(), dialect.strict_tools) {
        object.insert("strict".to_owned(), Value::Bool(strict));
    }
    value
}

/// A free choice is left open; where a call is forced, parallel ones are switched off.
fn choice(choice: ToolChoice, dialect: &Dialect) -> Value {
    let mut value = match choice {
        ToolChoice::Auto => return json!({ "type": "auto" }),
        ToolChoice::None | ToolChoice::Withdrawn => return json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Named(name) => json!({ "type": "tool", "name": name }),
    };
    if let Some(object) = value.as_object_mut().filter(|_| dialect.parallel_flag) {
        object.insert("disable_parallel_tool_use".to_owned(), Value::Bool(true));
    }
    value
}

/// A message of one role and its blocks.
#[derive(Serialize)]
struct Turn {
    content: Vec<Box<RawValue>>,
    role: &'static str,
}

fn messages(request: &TextRequest, marks: bool) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, message) in request.messages.iter().enumerate() {
        let (role, content) = match message {
            Message::System(_) => continue,
            Message::Assistant(turn) => ("assistant", own_blocks(turn.raw())),
            Message::User(_) | Message::Tool { .. } => {
                let before = request.messages.get(..place).unwrap_or_default();
                let block = harness_block(message, before);
                ("user", block.iter().filter_map(raw).collect())
            }
        };
        if content.is_empty() {
            continue;
        }
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.content.extend(content),
            None => turns.push(Turn { content, role }),
        }
    }
    let last = turns.last_mut().filter(|turn| marks && turn.role == "user");
    if let Some(block) = last.and_then(|turn| turn.content.last_mut()) {
        let mut blocks = [serde_json::from_str(block.get()).unwrap_or_default()];
        mark_last(&mut blocks, marks);
        *block = to_raw(&sorted(&blocks).first());
    }
    turns
}

/// What the harness says, in a block; the vendor refuses empty texts.
fn harness_block(message: &TextMessage, before: &[TextMessage]) -> Option<Value> {
    let texts = |text: &str| (!text.is_empty()).then(|| text_block(text));
    match message {
        Message::System(_) | Message::Assistant(_) => None,
        Message::User(prompt) => texts(prompt),
        Message::Tool { call_id, content } => {
            let content: Vec<Value> = texts(content).into_iter().collect();
            let mut block =
                json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": content });
            if let Some(members) = block.as_object_mut().filter(|_| is_unreadable(before, call_id)) {
                members.insert("is_error".to_owned(), Value::Bool(true));
            }
            Some(block)
        }
    }
}

/// Whether the arguments of the call of that id were no object, so that it went back wrapped.
fn is_unreadable(before: &[TextMessage], call_id: &CallId) -> bool {
    before.iter().rev().any(|message| {
        let Message::Assistant(turn) = message else {
            return false;
        };
        let mut calls = turn.tool_calls().iter();
        calls.any(|call| call.id == *call_id && !call.arguments.is_object())
    })
}

/// The blocks of the model's own turn as they came. The vendor refuses blank texts and a turn that ends in thinking,
/// as one that the budget cut may: those are left out.
fn own_blocks(raw: &RawValue) -> Vec<Box<RawValue>> {
    let mut blocks: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).unwrap_or_default();
    blocks.retain(|block| {
        let block = RawObject::read(block.get()).unwrap_or_default();
        block.text("type").as_deref() != Some("text")
            || block.text("text").is_some_and(|text| !text.trim().is_empty())
    });
    while blocks.last().is_some_and(|block| is_thinking(block)) {
        blocks.pop();
    }
    blocks
}

fn is_thinking(block: &RawValue) -> bool {
    let kind = RawObject::read(block.get()).and_then(|block| block.text("type"));
    matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
}

fn raw(value: &Value) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(&Sorted(value)).ok()
}

#[cfg(test)]
mod tests;
