//! From a neutral request to Responses bytes.

use crate::chat::{Message, ReplyFormat, ToolChoice};
use crate::dialect::{Dialect, JsonFormat};
use crate::wire::WireRequest;
use crate::wire::body::{Body, Sorted, merge_thinking};
use crate::wire::schema::emit;
use crate::wire::text::{TextMessage, TextRequest};
use ktd_masking::ToolSpec;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The path below the base URL.
const PATH: &str = "/responses";

/// The bytes of `request`. Standing instructions go first and apart, so that caches hold; the wire knows no seed.
pub(in crate::wire) fn encode(request: &TextRequest, dialect: &Dialect) -> WireRequest {
    let mut body = Body::default();
    let instructions: Vec<&str> = request.messages.iter().filter_map(system_text).collect();
    if !instructions.is_empty() {
        body.put("instructions", &instructions.join("\n\n"));
    }
    let input: Vec<Box<RawValue>> = request.messages.iter().flat_map(items).collect();
    body.put("input", &input);
    body.put("model", &request.model);
    body.put_some("max_output_tokens", request.sampling.max_output_tokens);
    body.put_some("temperature", dialect.temperature_for(request));
    let shown = request.shown_tools();
    if !shown.is_empty() {
        let tools: Vec<Value> = shown.iter().map(|tool| tool_of(tool, dialect)).collect();
        body.put("tools", &tools.iter().map(Sorted).collect::<Vec<_>>());
        body.put("tool_choice", &Sorted(&choice(request.tool_choice)));
        let forces = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
        body.put_some(
            "parallel_tool_calls",
            (forces && dialect.parallel_flag).then_some(false),
        );
    }
    if let Some(format) = text_format(&request.reply_format, dialect.json) {
        body.put("text", &Sorted(&json!({ "format": format })));
    }
    let cache_key = request.cache_key.as_ref().filter(|_| dialect.cache.key);
    body.put_some("prompt_cache_key", cache_key);
    body.merge(&dialect.body);
    merge_thinking(&mut body, request.thinking, dialect);
    WireRequest::new(PATH.to_owned(), body.bytes(), request.sampling.max_output_tokens)
}

fn system_text(message: &TextMessage) -> Option<&str> {
    match message {
        Message::System(prompt) => Some(prompt),
        Message::User(_) | Message::Assistant(_) | Message::Tool { .. } => None,
    }
}

/// The input items of a message; a turn of the model is as many as it gave.
fn items(message: &TextMessage) -> Vec<Box<RawValue>> {
    let item = |value: &Value| {
        serde_json::value::to_raw_value(&Sorted(value))
            .ok()
            .into_iter()
            .collect()
    };
    match message {
        Message::System(_) => Vec::new(),
        // As text: a list of parts is two kinds of item at once by the vendor's own specification.
        Message::User(prompt) => item(&json!({
            "type": "message",
            "role": "user",
            "content": prompt,
        })),
        Message::Assistant(turn) => serde_json::from_str(turn.raw().get()).unwrap_or_default(),
        Message::Tool { call_id, content } => item(&json!({
            "type": "function_call_output",
            "call_id": call_id.as_str(),
            "output": content,
        })),
    }
}

fn tool_of(tool: &ToolSpec, dialect: &Dialect) -> Value {
    let mut value = json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": emit(tool.parameters.as_value(), dialect.strict_tools.unwrap_or(false)),
    });
    if let (Some(object), Some(strict)) = (value.as_object_mut(), dialect.strict_tools) {
        object.insert("strict".to_owned(), Value::Bool(strict));
    }
    value
}

fn choice(choice: ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None | ToolChoice::Withdrawn => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) => json!({ "type": "function", "name": name }),
    }
}

fn text_format(format: &ReplyFormat, json: JsonFormat) -> Option<Value> {
    let ReplyFormat::Arguments(tool) = format else {
        return None;
    };
    match json {
        JsonFormat::None => None,
        JsonFormat::Object => Some(json!({ "type": "json_object" })),
        JsonFormat::Schema => Some(json!({
            "type": "json_schema",
            "name": tool.name,
            "schema": tool.parameters.as_value(),
            "strict": false,
        })),
        JsonFormat::StrictSchema => Some(json!({
            "type": "json_schema",
            "name": tool.name,
            "schema": emit(tool.parameters.as_value(), true),
            "strict": true,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{ChatRequest, Sampling, Thinking};
    use crate::wire_format::Wire;
    use ktd_masking::{Payload, Prompt, Schema};
    use std::sync::Arc;

    fn tool() -> ToolSpec {
        ToolSpec {
            name: "submit_action",
            description: "Submits.",
            parameters: Schema::of::<Vec<bool>>(),
        }
    }

    fn conversation() -> ChatRequest {
        let reply = br#"{"status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"s\u0065al"},
            {"type":"function_call","id":"fc_1","call_id":"c1","name":"t","arguments":"{}"}],"usage":{"input_tokens":1,"output_tokens":1}}"#;
        let turn = Wire::Responses.decode(200, reply, &Dialect::plain()).unwrap();
        let call_id = turn.tool_calls()[0].id.clone();
        ChatRequest {
            model: "test-model".to_owned(),
            messages: vec![
                Message::System(Prompt::new().text("Trade.")),
                Message::User(Prompt::new().text("Day ").payload(Payload::label("day_+1"))),
                Message::Assistant(Arc::new(turn)),
                Message::Tool {
                    call_id,
                    content: Payload::map([("ok", Payload::bool(true))]),
                },
            ],
            tools: Arc::from([tool()]),
            tool_choice: ToolChoice::Named("submit_action"),
            reply_format: ReplyFormat::Free,
            thinking: Thinking::VendorDefault,
            sampling: Sampling {
                temperature: Some(0.5),
                seed: Some(1),
                max_output_tokens: Some(256),
            },
            cache_key: None,
        }
    }

    fn text(request: &ChatRequest, dialect: &Dialect) -> String {
        String::from_utf8(Wire::Responses.encode(request, dialect).body().to_vec()).unwrap()
    }

    #[test]
    fn a_conversation_has_these_bytes() {
        let request = conversation();
        insta::assert_snapshot!(text(&request, &Dialect::plain()), @r#"{"input":[{"content":"Day day_+1","role":"user","type":"message"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"s\u0065al"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"t","arguments":"{}"},{"call_id":"c1","output":"{\"ok\":true}","type":"function_call_output"}],"instructions":"Trade.","max_output_tokens":256,"model":"test-model","temperature":0.5,"tool_choice":{"name":"submit_action","type":"function"},"tools":[{"description":"Submits.","name":"submit_action","parameters":{"items":{"type":"boolean"},"type":"array"},"type":"function"}]}"#);
        assert_eq!(
            Wire::Responses.encode(&request, &Dialect::plain()).path(),
            "/responses"
        );
    }

    #[test]
    fn a_reply_format_is_strict_where_the_dialect_says() {
        let request = ChatRequest {
            messages: Vec::new(),
            tools: Arc::from([]),
            reply_format: ReplyFormat::Arguments(tool()),
            sampling: Sampling::default(),
            ..conversation()
        };
        let strict = Dialect {
            json: JsonFormat::StrictSchema,
            ..Dialect::plain()
        };
        insta::assert_snapshot!(text(&request, &Dialect::plain()), @r#"{"input":[],"model":"test-model","text":{"format":{"name":"submit_action","schema":{"items":{"type":"boolean"},"type":"array"},"strict":false,"type":"json_schema"}}}"#);
        insta::assert_snapshot!(text(&request, &strict), @r#"{"input":[],"model":"test-model","text":{"format":{"name":"submit_action","schema":{"items":{"type":"boolean"},"type":"array"},"strict":true,"type":"json_schema"}}}"#);
    }
}
