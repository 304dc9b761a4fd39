//! Requests and replies of two wires against the types of `async-openai`, which somebody else made from `OpenAI`'s
//! specification: an independent reading of what is sent and of what comes back.

use crate::{
    ChatRequest, Dialect, DialectTable, JsonFormat, Message, ModelTurn, ReplyFormat, Sampling, Thinking,
    ToolChoice, Wire,
};
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestMessage, CreateChatCompletionRequest,
    CreateChatCompletionResponse,
};
use async_openai::types::responses::{
    CreateResponse, InputParam, OutputItem, OutputMessageContent, Response,
};
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const CHAT_REPLY: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m-2026",
    "choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"I look.","refusal":null,
    "tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"deep\":true}"}},
    {"id":"c2","type":"function","function":{"name":"score","arguments":"{}"}}]}}],
    "usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42,
    "prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":5}}}"#;

const RESPONSES_REPLY: &str = r#"{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"m-2026",
    "output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]},
    {"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
    {"type":"function_call","id":"fc_1","call_id":"c1","name":"look","arguments":"{\"deep\":true}","status":"completed"},
    {"type":"function_call","id":"fc_2","call_id":"c2","name":"score","arguments":"{}","status":"completed"}],
    "parallel_tool_calls":true,"tools":[],"tool_choice":"auto",
    "usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":8,"cache_write_tokens":0},"output_tokens":12,
    "output_tokens_details":{"reasoning_tokens":5},"total_tokens":42}}"#;

fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        description: "Does.",
        parameters: Schema::of::<BTreeMap<String, bool>>(),
    }
}

fn turn(wire: Wire, dialect: &Dialect) -> ModelTurn {
    let reply = match wire {
        Wire::ChatCompletions => CHAT_REPLY,
        Wire::Responses => RESPONSES_REPLY,
        Wire::Messages | Wire::GenerateContent => panic!("not a wire of OpenAI"),
    };
    wire.decode(200, reply.as_bytes(), dialect).unwrap()
}

/// A conversation with a turn of the model and the answers to its calls.
fn conversation(wire: Wire, dialect: &Dialect) -> Vec<Message> {
    let turn = turn(wire, dialect);
    let answers: Vec<Message> = turn
        .tool_calls()
        .iter()
        .map(|call| Message::Tool {
            call_id: call.id.clone(),
            content: Payload::map([("seen", Payload::bool(true))]),
        })
        .collect();
    [
        Message::System(Prompt::new().text("Judge.")),
        Message::User(Prompt::new().text("Day ").payload(Payload::label("day_+1"))),
        Message::Assistant(Arc::new(turn)),
    ]
    .into_iter()
    .chain(answers)
    .collect()
}

/// Every way to choose a tool and to ask for a form.
fn requests(wire: Wire, dialect: &Dialect) -> Vec<ChatRequest> {
    let free = ReplyFormat::Free;
    let forms = [
        (ToolChoice::Auto, free.clone()),
        (ToolChoice::None, free.clone()),
        (ToolChoice::Required, free.clone()),
        (ToolChoice::Named("score"), free),
        (ToolChoice::Withdrawn, ReplyFormat::Arguments(tool("score"))),
    ];
    forms
        .into_iter()
        .map(|(tool_choice, reply_format)| ChatRequest {
            model: "m".to_owned(),
            messages: conversation(wire, dialect),
            tools: Arc::from([tool("look"), tool("score")]),
            tool_choice,
            reply_format,
            thinking: Thinking::VendorDefault,
            sampling: Sampling {
                temperature: Some(0.5),
                seed: Some(7),
                max_output_tokens: Some(256),
            },
            cache_key: Some("episode".to_owned()),
        })
        .collect()
}

/// A plain server, the vendor's own row, and one that takes strict schemas.
fn dialects(wire: Wire) -> Vec<Dialect> {
    let table = DialectTable::builtin().unwrap();
    let openai = table.find("openai").unwrap().on(wire).unwrap();
    let strict = Dialect {
        json: JsonFormat::StrictSchema,
        strict_tools: Some(true),
        parallel_flag: true,
        ..Dialect::plain()
    };
    vec![Dialect::plain(), openai, strict]
}

/// Where something that was there, and is not null, has no equal in what the types write again.
fn lost(before: &Value, after: &Value, pointer: &str) -> Option<String> {
    let is_equal = match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            return before
                .iter()
                .filter(|(_, value)| !value.is_null())
                .find_map(|(key, value)| {
                    let other = after.get(key).unwrap_or(&Value::Null);
                    lost(value, other, &format!("{pointer}/{key}"))
                });
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            return before
                .iter()
                .zip(after)
                .enumerate()
                .find_map(|(place, (value, other))| lost(value, other, &format!("{pointer}/{place}")));
        }
        (Value::Number(before), Value::Number(after)) => {
            (before.as_f64().unwrap() - after.as_f64().unwrap()).abs() < 1e-6
        }
        (before, after) => before == after,
    };
    (!is_equal).then(|| pointer.to_owned())
}

#[test]
fn chat_completions_requests_are_requests_of_the_specification() {
    let wire = Wire::ChatCompletions;
    for dialect in dialects(wire) {
        for request in requests(wire, &dialect) {
            let bytes = wire.encode(&request, &dialect);
            let sent: Value = serde_json::from_slice(bytes.body()).unwrap();
            let typed: CreateChatCompletionRequest = serde_json::from_slice(bytes.body()).unwrap();
            assert_eq!(lost(&sent, &serde_json::to_value(&typed).unwrap(), ""), None);
            assert_eq!(typed.messages.len(), request.messages.len());
            assert!(matches!(
                typed.messages[3],
                ChatCompletionRequestMessage::Tool(ref answer) if answer.tool_call_id == "c1"
            ));
        }
    }
}

#[test]
fn responses_requests_are_requests_of_the_specification() {
    let wire = Wire::Responses;
    for dialect in dialects(wire) {
        for request in requests(wire, &dialect) {
            let bytes = wire.encode(&request, &dialect);
            let sent: Value = serde_json::from_slice(bytes.body()).unwrap();
            let typed: CreateResponse = serde_json::from_slice(bytes.body()).unwrap();
            assert_eq!(lost(&sent, &serde_json::to_value(&typed).unwrap(), ""), None);
            let InputParam::Items(items) = &typed.input else {
                panic!("a list of items")
            };
            // The user's message, four items of the model's turn, two answers.
            assert_eq!(items.len(), 7);
        }
    }
}

/// Arguments as they are used: none at all are an empty object.
fn used(arguments: String) -> String {
    if arguments.trim().is_empty() {
        "{}".to_owned()
    } else {
        arguments
    }
}

/// A reply as the types read it: text, calls and tokens.
type Plain = (Option<String>, Vec<(String, String, String)>, Option<(u64, u64)>);

fn plain_of_turn(turn: &ModelTurn) -> Plain {
    let calls = turn.tool_calls().iter();
    let calls = calls.map(|call| {
        (
            call.id.as_str().to_owned(),
            call.name.clone(),
            call.arguments.to_string(),
        )
    });
    let usage = turn.usage();
    (
        turn.text().map(str::to_owned),
        calls.collect(),
        usage.is_known().then(|| (usage.input(), usage.output())),
    )
}

fn plain_of_chat(reply: CreateChatCompletionResponse) -> Plain {
    let message = reply.choices.into_iter().next().unwrap().message;
    let calls = message.tool_calls.unwrap_or_default().into_iter();
    let calls = calls.filter_map(|call| match call {
        ChatCompletionMessageToolCalls::Function(call) => {
            Some((call.id, call.function.name, used(call.function.arguments)))
        }
        ChatCompletionMessageToolCalls::Custom(_) => None,
    });
    let usage = reply
        .usage
        .map(|usage| (u64::from(usage.prompt_tokens), u64::from(usage.completion_tokens)));
    (
        message
            .content
            .filter(|text| !text.is_empty())
            .or(message.refusal),
        calls.collect(),
        usage,
    )
}

fn plain_of_response(reply: Response) -> Plain {
    let usage = reply
        .usage
        .as_ref()
        .map(|usage| (u64::from(usage.input_tokens), u64::from(usage.output_tokens)));
    let (mut text, mut calls) = (String::new(), Vec::new());
    for item in reply.output {
        if let OutputItem::FunctionCall(call) = item {
            calls.push((call.call_id, call.name, used(call.arguments)));
        } else if let OutputItem::Message(message) = item {
            text.extend(message.content.into_iter().map(|part| match part {
                OutputMessageContent::OutputText(part) => part.text,
                OutputMessageContent::Refusal(part) => part.refusal,
            }));
        }
    }
    (Some(text).filter(|text| !text.is_empty()), calls, usage)
}

#[test]
fn replies_of_the_specification_decode_to_the_same_turn() {
    let plain = Dialect::plain();
    let chat: CreateChatCompletionResponse = serde_json::from_str(CHAT_REPLY).unwrap();
    let ours = plain_of_turn(&turn(Wire::ChatCompletions, &plain));
    assert_eq!(ours, plain_of_chat(chat));
    assert_eq!(ours.1.len(), 2);
    let response: Response = serde_json::from_str(RESPONSES_REPLY).unwrap();
    assert_eq!(
        plain_of_turn(&turn(Wire::Responses, &plain)),
        plain_of_response(response)
    );
}

/// What a compatible server bends and this project reads: the reason why the types are an oracle and no decoder.
/// Recorded replies are held against another reading of their JSON (`golden::providers`).
#[test]
fn bent_replies_are_refused_by_the_types_and_read_by_us() {
    let mut bent: Value = serde_json::from_str(CHAT_REPLY).unwrap();
    bent["choices"][0]["finish_reason"] = json!("eos");
    bent["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!({"deep": true});
    let text = bent.to_string();
    assert!(serde_json::from_str::<CreateChatCompletionResponse>(&text).is_err());
    let turn = Wire::ChatCompletions
        .decode(200, text.as_bytes(), &Dialect::plain())
        .unwrap();
    assert_eq!(turn.tool_calls()[0].arguments, r#"{"deep":true}"#);
    // What the types take may lose the reasoning that must go back.
    let mut reasoned: Value = serde_json::from_str(CHAT_REPLY).unwrap();
    reasoned["choices"][0]["message"]["reasoning_content"] = json!("hm");
    let typed: CreateChatCompletionResponse = serde_json::from_value(reasoned.clone()).unwrap();
    let written = serde_json::to_value(&typed).unwrap();
    let message = |reply: &Value| reply["choices"][0]["message"].clone();
    let found = lost(&message(&reasoned), &message(&written), "");
    assert_eq!(found.as_deref(), Some("/reasoning_content"));
}
