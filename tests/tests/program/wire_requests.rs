//! Requests as every wire writes them, from the real tools.
//!
//! What a vendor publishes about its requests lies outside the repository: with `KTD_REQUESTS` set to a folder, the
//! requests are written there, one file a wire, for `tests/scripts/validate_openai.sh`.

#![expect(clippy::unwrap_used, reason = "a request that cannot be made fails the test")]

use ktd_agents::{
    ChatRequest, Dialect, DialectTable, JsonFormat, Message, ModelTurn, ReplyFormat, Sampling, Thinking,
    ToolChoice, Wire,
};
use ktd_masking::{Payload, Prompt, ToolSpec};
use ktd_tools::{SUBMIT_ACTION, tool_specs};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// A turn with reasoning, text and two calls, of which the second has no id and no JSON.
fn reply(wire: Wire) -> Value {
    let arguments = r#"{"stock_id":"asset_0001"}"#;
    match wire {
        Wire::ChatCompletions => json!({
            "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Let me look.", "refusal": null, "annotations": [],
                "tool_calls": [
                    { "id": "call_1", "type": "function",
                      "function": { "name": "get_stock_snapshot", "arguments": arguments } },
                    { "type": "function", "function": { "name": "risk_check", "arguments": "{'orders'" } },
                ],
            } }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1 },
        }),
        Wire::Responses => json!({
            "status": "completed",
            "output": [
                { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed" },
                { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                  "content": [{ "type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": [] }] },
                { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_stock_snapshot",
                  "arguments": arguments, "status": "completed" },
                { "type": "function_call", "id": "fc_2", "name": "risk_check", "arguments": "{'orders'" },
            ],
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        }),
        Wire::Messages => json!({
            "content": [
                { "type": "thinking", "thinking": "Hm.", "signature": "sealed" },
                { "type": "text", "text": "Let me look." },
                { "type": "tool_use", "id": "toolu_1", "name": "get_stock_snapshot",
                  "input": { "stock_id": "asset_0001" } },
                { "type": "tool_use", "id": "toolu_2", "name": "risk_check", "input": {} },
            ],
            "stop_reason": "tool_use",
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        }),
        Wire::GenerateContent => json!({
            "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
                { "text": "Let me look." },
                { "functionCall": { "name": "get_stock_snapshot", "args": { "stock_id": "asset_0001" } },
                  "thoughtSignature": "sealed" },
                { "functionCall": { "name": "risk_check", "args": {} } },
            ] } }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
        }),
    }
}

fn conversation(wire: Wire, dialect: &Dialect) -> Vec<Message> {
    let turn: ModelTurn = wire
        .decode(200, reply(wire).to_string().as_bytes(), dialect)
        .unwrap();
    let answers: Vec<Message> = turn
        .tool_calls()
        .iter()
        .map(|call| Message::Tool {
            call_id: call.id.clone(),
            content: Payload::map([("ok", Payload::bool(true))]),
        })
        .collect();
    let mut messages = vec![
        Message::System(Prompt::new().text("Trade.")),
        Message::User(Prompt::new().text("It is ").payload(Payload::label("day_+1"))),
        Message::Assistant(Arc::new(turn)),
    ];
    messages.extend(answers);
    messages.push(Message::User(Prompt::new().text("Submit.")));
    messages
}

/// What is asked at every force level, with thinking switched either way or left alone.
fn requests(wire: Wire, dialect: &Dialect) -> Vec<ChatRequest> {
    let tools: Arc<[ToolSpec]> = tool_specs().into();
    let submit: Vec<ToolSpec> = tools
        .iter()
        .filter(|tool| tool.name == SUBMIT_ACTION)
        .cloned()
        .collect();
    let format = ReplyFormat::Arguments(submit.first().unwrap().clone());
    let alone: Arc<[ToolSpec]> = submit.into();
    let forms = [
        (&tools, ToolChoice::Auto, ReplyFormat::Free),
        (&tools, ToolChoice::None, ReplyFormat::Free),
        (&tools, ToolChoice::Named(SUBMIT_ACTION), ReplyFormat::Free),
        (&alone, ToolChoice::Required, ReplyFormat::Free),
        (&alone, ToolChoice::Auto, ReplyFormat::Free),
        (&tools, ToolChoice::Withdrawn, format),
        (&tools, ToolChoice::Withdrawn, ReplyFormat::Free),
    ];
    let of_form = |(tools, tool_choice, reply_format): &(&Arc<[ToolSpec]>, ToolChoice, ReplyFormat)| {
        [Thinking::VendorDefault, Thinking::On, Thinking::Off].map(|thinking| ChatRequest {
            model: "a-model".to_owned(),
            messages: conversation(wire, dialect),
            tools: Arc::clone(tools),
            tool_choice: *tool_choice,
            reply_format: reply_format.clone(),
            thinking,
            sampling: Sampling {
                temperature: Some(0.7),
                seed: Some(7),
                max_output_tokens: Some(4096),
            },
            cache_key: Some("a-model|open-research|blinded".to_owned()),
        })
    };
    forms.iter().flat_map(of_form).collect()
}

/// The vendor whose wire it is, as its row has it, and in its strict mode.
fn dialects(wire: Wire) -> [Dialect; 2] {
    let id = match wire {
        Wire::ChatCompletions | Wire::Responses => "openai",
        Wire::Messages => "anthropic",
        Wire::GenerateContent => "google",
    };
    let row = DialectTable::builtin()
        .unwrap()
        .find(id)
        .unwrap()
        .on(wire)
        .unwrap();
    let strict = Dialect {
        strict_tools: Some(true),
        json: JsonFormat::StrictSchema,
        ..row.clone()
    };
    [row, strict]
}

#[test]
fn every_request_is_json_and_the_same_twice() {
    let folder = std::env::var_os("KTD_REQUESTS").map(PathBuf::from);
    for wire in Wire::ALL {
        let mut lines = String::new();
        for dialect in dialects(wire) {
            for request in requests(wire, &dialect) {
                let written = wire.encode(&request, &dialect);
                assert_eq!(written, wire.encode(&request, &dialect));
                let body: Value = serde_json::from_slice(written.body()).unwrap();
                writeln!(lines, "{body}").unwrap();
            }
        }
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join(format!("{}.jsonl", wire.label())), lines).unwrap();
        }
    }
}

/// Calls `see` with every schema inside `schema`, itself first.
fn each_schema(schema: &Value, see: &mut impl FnMut(&Value)) {
    see(schema);
    let inner = |key: &str| schema.get(key);
    let named = ["properties", "$defs"]
        .iter()
        .filter_map(|key| inner(key)?.as_object());
    named
        .flat_map(|schemas| schemas.values())
        .for_each(|schema| each_schema(schema, see));
    let listed = ["anyOf", "oneOf", "prefixItems"]
        .iter()
        .filter_map(|key| inner(key)?.as_array());
    listed
        .flatten()
        .chain(inner("items"))
        .for_each(|schema| each_schema(schema, see));
}

#[test]
fn schemas_hold_only_what_gemini_documents() {
    // Source: the vendor's list of what its JSON schemas may hold.
    let known = BTreeSet::from(
        [
            "$anchor",
            "$defs",
            "$id",
            "$ref",
            "additionalProperties",
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maxItems",
            "maximum",
            "minItems",
            "minimum",
            "oneOf",
            "prefixItems",
            "properties",
            "required",
            "title",
            "type",
        ]
        .map(str::to_owned),
    );
    for tool in tool_specs() {
        each_schema(tool.parameters.as_value(), &mut |schema| {
            let keys: BTreeSet<String> = schema.as_object().unwrap().keys().cloned().collect();
            assert!(
                keys.is_subset(&known),
                "{}: {:?}",
                tool.name,
                keys.difference(&known)
            );
        });
    }
}

#[test]
fn strict_schemas_close_every_object_and_require_every_property() {
    for wire in [Wire::ChatCompletions, Wire::Responses] {
        let [_, strict] = dialects(wire);
        let request = requests(wire, &strict).remove(0);
        let body: Value = serde_json::from_slice(wire.encode(&request, &strict).body()).unwrap();
        let tools = body.get("tools").unwrap().as_array().unwrap();
        for tool in tools {
            let function = tool.get("function").unwrap_or(tool);
            assert_eq!(function.get("strict"), Some(&Value::Bool(true)));
            each_schema(function.get("parameters").unwrap(), &mut |schema| {
                let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                    return;
                };
                let required = schema.get("required").unwrap().as_array().unwrap();
                assert_eq!(required.len(), properties.len(), "{schema}");
                assert_eq!(schema.get("additionalProperties"), Some(&Value::Bool(false)));
            });
        }
    }
}

#[test]
fn formats_and_strict_tools_of_messages_have_closed_schemas_without_bounds() {
    let [row, strict] = dialects(Wire::Messages);
    let bodies = |dialect: &Dialect| -> Vec<Value> {
        let requests = requests(Wire::Messages, dialect);
        let written = requests
            .iter()
            .map(|request| Wire::Messages.encode(request, dialect));
        written
            .map(|request| serde_json::from_slice(request.body()).unwrap())
            .collect()
    };
    let formats = bodies(&row);
    let formats = formats
        .iter()
        .filter_map(|body| body.pointer("/output_config/format/schema"));
    let tools = bodies(&strict);
    let tools = tools
        .iter()
        .filter_map(|body| body.get("tools")?.as_array())
        .flatten()
        .filter_map(|tool| tool.get("input_schema"));
    let mut seen = 0;
    formats.chain(tools).for_each(|schema| {
        each_schema(schema, &mut |schema| {
            seen += 1;
            let is_object = schema.get("type").unwrap() == "object";
            assert_eq!(
                schema.get("additionalProperties"),
                is_object.then_some(&Value::Bool(false))
            );
            assert!(schema.get("minimum").is_none() && schema.get("maximum").is_none());
        });
    });
    assert!(100 < seen);
}
