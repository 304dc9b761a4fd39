//! From a neutral request to Messages bytes.

use crate::chat::{ChatRequest, Message, ReplyFormat, ToolChoice};
use crate::dialect::{Dialect, JsonFormat};
use crate::wire::WireRequest;
use crate::wire::body::{Body, Sorted, merge_thinking};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The path below the base URL.
const PATH: &str = "/v1/messages";

/// Sent as `max_tokens`, which this wire cannot do without, when the experiment names no bound.
const MAX_TOKENS_DEFAULT: u32 = 16_384;

/// The bytes of `request`. Neighbours of one role are merged, because the wire wants roles to alternate.
pub(in crate::wire) fn encode(request: &ChatRequest, dialect: &Dialect) -> WireRequest {
    let mut body = Body::default();
    let marks = dialect.cache.breakpoints;
    body.put(
        "max_tokens",
        &request.sampling.max_output_tokens.unwrap_or(MAX_TOKENS_DEFAULT),
    );
    body.put("messages", &messages(request, marks));
    body.put("model", &request.model);
    let mut system: Vec<Value> = request
        .messages
        .iter()
        .filter_map(system_text)
        .map(|text| text_block(&text))
        .collect();
    if !system.is_empty() {
        mark_last(&mut system, marks);
        body.put("system", &sorted(&system));
    }
    body.put_some("temperature", dialect.temperature_for(request));
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(|tool| tool_of(tool, dialect)).collect();
        mark_last(&mut tools, marks);
        body.put("tools", &sorted(&tools));
        body.put("tool_choice", &Sorted(&choice(request.tool_choice, dialect)));
    }
    if let (ReplyFormat::Arguments(tool), JsonFormat::Schema) = (&request.reply_format, dialect.json) {
        let format = json!({ "format": { "type": "json_schema", "schema": tool.parameters.as_value() } });
        body.put("output_config", &Sorted(&format));
    }
    body.merge(&dialect.body);
    merge_thinking(&mut body, request.thinking, dialect);
    WireRequest::new(PATH.to_owned(), body.bytes())
}

fn system_text(message: &Message) -> Option<String> {
    match message {
        Message::System(prompt) => Some(prompt.render()),
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

fn tool_of(tool: &ktd_masking::ToolSpec, dialect: &Dialect) -> Value {
    let mut value = json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters.as_value(),
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
        ToolChoice::None => return json!({ "type": "none" }),
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

fn messages(request: &ChatRequest, marks: bool) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let last = request.messages.len().saturating_sub(1);
    for (place, message) in request.messages.iter().enumerate() {
        let (role, content) = match message {
            Message::System(_) => continue,
            Message::Assistant(turn) => ("assistant", own_blocks(turn.raw())),
            Message::User(prompt) => ("user", raw(&text_block(&prompt.render())).into_iter().collect()),
            Message::Tool { call_id, content } => {
                let text = text_block(&content.to_inline());
                let mut block = vec![
                    json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": [text] }),
                ];
                mark_last(&mut block, marks && place == last);
                ("user", block.iter().filter_map(raw).collect())
            }
        };
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.content.extend(content),
            None => turns.push(Turn { content, role }),
        }
    }
    if marks && let Some(Message::User(prompt)) = request.messages.last() {
        let mut block = vec![text_block(&prompt.render())];
        mark_last(&mut block, true);
        if let (Some(turn), Some(marked)) = (turns.last_mut(), block.first().and_then(raw)) {
            turn.content.pop();
            turn.content.push(marked);
        }
    }
    turns
}

/// The blocks of the model's own turn as they came; empty texts, which the vendor refuses, are left out.
fn own_blocks(raw: &RawValue) -> Vec<Box<RawValue>> {
    let blocks: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).unwrap_or_default();
    blocks
        .into_iter()
        .filter(|block| {
            let block = crate::wire::raw_object::RawObject::read(block.get()).unwrap_or_default();
            block.text("type").as_deref() != Some("text")
                || block.text("text").is_some_and(|text| !text.is_empty())
        })
        .collect()
}

fn raw(value: &Value) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(&Sorted(value)).ok()
}
