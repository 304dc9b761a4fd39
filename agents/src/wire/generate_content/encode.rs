//! From a neutral request to `generateContent` bytes.

use crate::chat::{CallId, Message, ReplyFormat, ToolChoice};
use crate::dialect::{Dialect, JsonFormat};
use crate::wire::WireRequest;
use crate::wire::body::{Body, Sorted, merge_thinking};
use crate::wire::raw_object::RawObject;
use crate::wire::text::{TextMessage, TextRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The bytes of `request`. The model stands in the path; a choice of tools is left out where there are none.
pub(in crate::wire) fn encode(request: &TextRequest, dialect: &Dialect) -> WireRequest {
    let mut body = Body::default();
    body.put("contents", &contents(&request.messages));
    let system: Vec<Value> = request.messages.iter().filter_map(system_part).collect();
    if !system.is_empty() {
        body.put("systemInstruction", &Sorted(&json!({ "parts": system })));
    }
    let config = generation_config(request, dialect);
    if !config.is_empty() {
        body.put("generationConfig", &Sorted(&Value::Object(config)));
    }
    let shown = request.shown_tools();
    if !shown.is_empty() {
        let declared: Vec<Value> = shown.iter().map(declaration).collect();
        body.put("tools", &Sorted(&json!([{ "functionDeclarations": declared }])));
        let choice = json!({ "functionCallingConfig": choice(request.tool_choice) });
        body.put("toolConfig", &Sorted(&choice));
    }
    body.merge(&dialect.body);
    merge_thinking(&mut body, request.thinking, dialect);
    WireRequest::new(
        path(&request.model),
        body.bytes(),
        request.sampling.max_output_tokens,
    )
}

/// The path below the base URL. A model's name cannot leave its place in it.
fn path(model: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = model.bytes().map(|byte| match byte {
        byte if is_plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    format!("/models/{}:generateContent", escaped.collect::<String>())
}

fn system_part(message: &TextMessage) -> Option<Value> {
    match message {
        Message::System(prompt) => Some(json!({ "text": prompt })),
        Message::User(_) | Message::Assistant(_) | Message::Tool { .. } => None,
    }
}

fn generation_config(request: &TextRequest, dialect: &Dialect) -> Map<String, Value> {
    let mut config = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(key.to_owned(), value);
        }
    };
    let sampling = request.sampling;
    put("maxOutputTokens", sampling.max_output_tokens.map(Value::from));
    put("seed", sampling.seed.filter(|_| dialect.seed).map(Value::from));
    put("temperature", dialect.temperature_for(request).map(Value::from));
    if let ReplyFormat::Arguments(tool) = &request.reply_format
        && dialect.json != JsonFormat::None
    {
        put("responseMimeType", Some(Value::from("application/json")));
        let schema = matches!(dialect.json, JsonFormat::Schema | JsonFormat::StrictSchema)
            .then(|| tool.parameters.as_value().clone());
        put("responseJsonSchema", schema);
    }
    config
}

fn declaration(tool: &ktd_masking::ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.parameters.as_value(),
    })
}

/// Any tool with one name allowed is what forces; the wire has no word against parallel calls.
fn choice(choice: ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::None | ToolChoice::Withdrawn => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}

/// A content: one message, or the answers to all calls of one turn.
#[derive(Serialize)]
struct Content {
    parts: Vec<Box<RawValue>>,
    role: &'static str,
    #[serde(skip)]
    answers: bool,
}

/// The conversation. Answers to the calls of one turn stand in one content, and nothing else with them: the vendor
/// counts them against the calls.
fn contents(messages: &[TextMessage]) -> Vec<Content> {
    let mut contents: Vec<Content> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let answers = matches!(message, Message::Tool { .. });
        let (role, parts) = match message {
            Message::System(_) => continue,
            Message::User(prompt) => ("user", text_part(prompt)),
            Message::Assistant(turn) => ("model", own_parts(turn.raw())),
            Message::Tool { call_id, content } => {
                let before = messages.get(..place).unwrap_or_default();
                ("user", raw(&answer(before, call_id, content)))
            }
        };
        match contents.last_mut().filter(|last| last.answers && answers) {
            Some(last) => last.parts.extend(parts),
            None => contents.push(Content { parts, role, answers }),
        }
    }
    contents.retain(|content| !content.parts.is_empty());
    contents
}

fn text_part(text: &str) -> Vec<Box<RawValue>> {
    if text.is_empty() {
        return Vec::new();
    }
    raw(&json!({ "text": text }))
}

fn raw(value: &Value) -> Vec<Box<RawValue>> {
    let raw = serde_json::value::to_raw_value(&Sorted(value));
    raw.ok().into_iter().collect()
}

fn parts_of(turn: &RawValue) -> Vec<Box<RawValue>> {
    serde_json::from_str(turn.get()).unwrap_or_default()
}

/// The parts of the model's own turn as they came. An empty text, which the vendor refuses, is left out unless it
/// carries a signature.
fn own_parts(turn: &RawValue) -> Vec<Box<RawValue>> {
    let is_idle = |part: &RawValue| {
        let part = RawObject::read(part.get()).unwrap_or_default();
        part.text("text").is_some_and(|text| text.is_empty()) && part.get("thoughtSignature").is_none()
    };
    let mut parts = parts_of(turn);
    parts.retain(|part| !is_idle(part));
    parts
}

/// The answer to a call: with the name that the model called, and with its id where the vendor gave one. The wire
/// takes objects alone, so that any other answer is put into one.
fn answer(before: &[TextMessage], call_id: &CallId, content: &str) -> Value {
    let call = called(before, call_id).unwrap_or_default();
    let name = call.text("name").unwrap_or_default();
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    let response = if content.is_object() {
        content
    } else {
        json!({ "result": content })
    };
    let mut answer = json!({ "name": name, "response": response });
    if let (Some(members), Some(id)) = (answer.as_object_mut(), call.text("id")) {
        members.insert("id".to_owned(), Value::String(id));
    }
    json!({ "functionResponse": answer })
}

/// The call of that id as the vendor wrote it: ids are minted where it gave none, so calls are found by their order.
fn called(before: &[TextMessage], call_id: &CallId) -> Option<RawObject> {
    before.iter().rev().find_map(|message| {
        let Message::Assistant(turn) = message else {
            return None;
        };
        let place = turn.tool_calls().iter().position(|call| call.id == *call_id)?;
        parts_of(turn.raw())
            .iter()
            .filter_map(|part| RawObject::read(part.get())?.object("functionCall"))
            .nth(place)
    })
}

#[cfg(test)]
mod tests;
