//! Chat Completions against recorded exchanges with four vendors.

use crate::golden::providers::lift::{
    Unlike, empty, fixed_member, has_only, items, named_format, prompt, strip, switch, text_of, tool,
    tool_choice,
};
use crate::golden::providers::recorded::{Exchange, Tally, recorded_at};
use crate::golden::providers::said::{Call, Said, Tokens, compare_all, sendable, some_text};
use ktd_agents::{
    ChatRequest, Dialect, DialectTable, JsonFormat, MaxTokens, Message, Pinned, StopReason, Thinking, Wire,
};
use ktd_masking::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

const PATH: &str = "/chat/completions";

/// Settings of the client that recorded, which our types do not hold: they are taken off before comparing.
const STRIPPED: [&str; 7] = [
    "include_reasoning",
    "logprobs",
    "n",
    "stop",
    "stream",
    "stream_options",
    "top_logprobs",
];

/// Members by which thinking is switched.
const THINKING: [&str; 3] = ["reasoning", "reasoning_effort", "thinking"];

fn dialect(vendor: &str) -> Dialect {
    let table = DialectTable::builtin().unwrap();
    table.find(vendor).unwrap().on(Wire::ChatCompletions).unwrap()
}

/// The reply that a body stands for, read from its JSON alone.
fn reply(exchange: &Exchange) -> Value {
    if !exchange.is_stream() {
        return exchange.json();
    }
    let mut reply = json!({ "choices": [{ "message": {} }] });
    for mut event in exchange.events() {
        for key in ["model", "usage"] {
            if !event[key].is_null() {
                reply[key] = event[key].take();
            }
        }
        // One reply is read, however many were asked for.
        for choice in items(&event, "choices")
            .iter()
            .filter(|choice| choice["index"] == 0)
        {
            for key in ["finish_reason", "native_finish_reason"] {
                if !choice[key].is_null() {
                    reply["choices"][0][key] = choice[key].clone();
                }
            }
            join(&mut reply["choices"][0]["message"], &choice["delta"]);
        }
    }
    for call in calls_of(&mut reply["choices"][0]["message"]) {
        call.as_object_mut().unwrap().remove("index");
    }
    reply
}

fn calls_of(message: &mut Value) -> &mut [Value] {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    calls.map_or(&mut [], Vec::as_mut_slice)
}

fn join(message: &mut Value, delta: &Value) {
    for (key, piece) in delta.as_object().unwrap() {
        match (key.as_str(), piece) {
            (_, Value::Null) => {}
            ("tool_calls", pieces) => {
                for piece in pieces.as_array().unwrap() {
                    join_call(message, piece);
                }
            }
            ("content" | "reasoning" | "reasoning_content" | "refusal", Value::String(more)) => {
                let before = message[key].as_str().unwrap_or_default();
                message[key] = Value::String(format!("{before}{more}"));
            }
            (_, Value::Array(more)) => {
                let mut list = items(message, key).to_vec();
                list.extend_from_slice(more);
                message[key] = Value::Array(list);
            }
            (_, piece) => message[key] = piece.clone(),
        }
    }
}

fn join_call(message: &mut Value, piece: &Value) {
    if message["tool_calls"].is_null() {
        message["tool_calls"] = json!([]);
    }
    let calls = message["tool_calls"].as_array_mut().unwrap();
    let Some(call) = calls.iter_mut().find(|call| call["index"] == piece["index"]) else {
        calls.push(piece.clone());
        return;
    };
    let more = piece["function"]["arguments"].as_str().unwrap_or_default();
    let before = call["function"]["arguments"].as_str().unwrap_or_default();
    call["function"]["arguments"] = Value::String(format!("{before}{more}"));
}

fn said(exchange: &Exchange) -> Said {
    let mut reply = reply(exchange);
    let usage = tokens(&reply["usage"]);
    let model = some_text(&reply["model"]);
    let choice = &mut reply["choices"][0];
    let message = &mut choice["message"];
    let refusal = some_text(&message["refusal"]);
    let fields = if exchange.vendor() == "openrouter" {
        "reasoning"
    } else {
        "reasoning_content"
    };
    let mut calls = Vec::new();
    for call in calls_of(message) {
        let arguments = call["function"]["arguments"].as_str().unwrap().to_owned();
        call["function"]["arguments"] = Value::String(sendable(&arguments));
        calls.push(Call {
            id: some_text(&call["id"]).unwrap(),
            name: some_text(&call["function"]["name"]).unwrap(),
            arguments,
        });
    }
    Said {
        text: some_text(&message["content"]).or_else(|| refusal.clone()),
        reasoning: some_text(&message[fields]),
        calls,
        usage,
        model,
        raw: message.take(),
        stop: match choice["finish_reason"].as_str().unwrap() {
            _ if refusal.is_some() => StopReason::Refusal,
            // A gateway calls what its upstream cut `tool_calls` all the same.
            _ if ["length", "max_output_tokens"]
                .iter()
                .any(|cut| choice["native_finish_reason"] == *cut) =>
            {
                StopReason::Length
            }
            "stop" => StopReason::Stop,
            "tool_calls" => StopReason::ToolCalls,
            "length" => StopReason::Length,
            "content_filter" => StopReason::ContentFilter,
            other => panic!("{}: finish reason {other}", exchange.place()),
        },
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let tokens = Tokens {
        input: count("/prompt_tokens")?,
        cache_read: count("/prompt_tokens_details/cached_tokens").unwrap_or(0),
        cache_write: count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        output: count("/completion_tokens")?,
        reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or(0),
        total: count("/total_tokens"),
        cost: usage["cost"].as_f64(),
    };
    if let (Some(hit), Some(miss)) = (
        count("/prompt_cache_hit_tokens"),
        count("/prompt_cache_miss_tokens"),
    ) {
        assert_eq!((hit, hit + miss), (tokens.cache_read, tokens.input));
    }
    Some(tokens)
}

#[test]
fn every_recorded_reply_is_read() {
    let Some(exchanges) = recorded_at(PATH) else {
        return;
    };
    compare_all(Wire::ChatCompletions, &exchanges, dialect, said);
}

/// A request in our types, the dialect that spells it as recorded, and what was spelled otherwise.
fn lift(recorded: &mut Value, vendor: &str) -> Result<(ChatRequest, Dialect, &'static str), Unlike> {
    strip(recorded, &STRIPPED);
    let mut dialect = dialect(vendor);
    dialect.body.clear();
    dialect.temperature.pinned = Pinned::Never;
    dialect.seed = true;
    let (messages, is_respelled) = lift_messages(recorded)?;
    let mut request = empty(recorded["model"].as_str().unwrap(), messages);
    request.sampling.temperature = recorded["temperature"].as_f64();
    request.sampling.seed = recorded["seed"].as_u64();
    for (key, field) in [
        ("max_tokens", MaxTokens::MaxTokens),
        ("max_completion_tokens", MaxTokens::MaxCompletionTokens),
    ] {
        if let Some(most) = recorded[key].as_u64() {
            request.sampling.max_output_tokens = u32::try_from(most).ok();
            dialect.max_tokens = field;
        }
    }
    lift_tools(recorded, &mut request, &mut dialect)?;
    if let Some(format) = recorded.get_mut("response_format") {
        lift_format(format, &mut request, &mut dialect)?;
    }
    let switches = THINKING.iter().filter_map(|key| Some((*key, recorded.get(key)?)));
    match switches.collect::<Vec<_>>().as_slice() {
        [] => {}
        [(key, value)] => {
            request.thinking = Thinking::On;
            dialect.thinking.on = switch(key, value);
        }
        _ => return Err("two switches of thinking"),
    }
    if let Some(provider) = recorded.get("provider") {
        dialect.body.insert("provider".to_owned(), provider.clone());
    }
    let known = [
        &THINKING[..],
        &[
            "max_completion_tokens",
            "max_tokens",
            "messages",
            "model",
            "parallel_tool_calls",
            "provider",
        ],
        &["response_format", "seed", "temperature", "tool_choice", "tools"],
    ];
    if !has_only(recorded, &known.concat()) {
        return Err("a member that our types do not hold");
    }
    let spelling = if is_respelled {
        "equal, texts in lists of one part being texts"
    } else {
        "equal"
    };
    Ok((request, dialect, spelling))
}

/// The conversation. A list of one text part is that text, by the vendor's specification; in the harness's own
/// messages it is replaced by the text, which is how we spell it.
fn lift_messages(recorded: &mut Value) -> Result<(Vec<Message>, bool), Unlike> {
    let (mut messages, mut is_respelled) = (Vec::new(), false);
    for message in recorded["messages"].as_array_mut().unwrap() {
        if message["role"] == "assistant" {
            messages.push(assistant(message));
            continue;
        }
        if message["content"].is_array() {
            message["content"] = Value::String(text_of(&message["content"], "text")?.to_owned());
            is_respelled = true;
        }
        let text = fixed_member(message, "content");
        messages.push(match message["role"].as_str().unwrap() {
            "system" => Message::System(prompt(text)),
            "user" => Message::User(prompt(text)),
            "tool" => answer(&messages, message, text)?,
            _ => return Err("a role of none of ours"),
        });
        if !has_only(message, &["content", "role", "tool_call_id"]) {
            return Err("a message with members of its own");
        }
    }
    Ok((messages, is_respelled))
}

fn assistant(message: &Value) -> Message {
    let reply = json!({
        "choices": [{ "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1 },
    });
    let turn = Wire::ChatCompletions.decode(200, reply.to_string().as_bytes(), &Dialect::plain());
    Message::Assistant(Arc::new(turn.unwrap()))
}

fn answer(before: &[Message], message: &Value, text: &'static str) -> Result<Message, Unlike> {
    let call_id = crate::golden::providers::lift::call_id(before, &message["tool_call_id"])?;
    Ok(Message::Tool {
        call_id,
        content: Payload::label(text),
    })
}

fn lift_tools(recorded: &mut Value, request: &mut ChatRequest, dialect: &mut Dialect) -> Result<(), Unlike> {
    let parallel = recorded["parallel_tool_calls"].as_bool();
    if let Some(tools) = recorded.get_mut("tools").and_then(Value::as_array_mut) {
        dialect.strict_tools = tools[0]["function"]["strict"].as_bool();
        request.tools = tools
            .iter_mut()
            .map(|value| tool(&mut value["function"], "parameters"))
            .collect();
    }
    request.tool_choice = tool_choice(recorded)?;
    // We forbid parallel calls where one is forced; anything else is a member of the row's own.
    dialect.parallel_flag = false;
    if let Some(parallel) = parallel {
        dialect
            .body
            .insert("parallel_tool_calls".to_owned(), Value::Bool(parallel));
    }
    Ok(())
}

fn lift_format(format: &mut Value, request: &mut ChatRequest, dialect: &mut Dialect) -> Result<(), Unlike> {
    match format["type"].as_str() {
        Some("json_object") => {
            dialect.json = JsonFormat::Object;
            request.reply_format = named_format(&mut json!({}), "any");
        }
        Some("json_schema") if has_only(&format["json_schema"], &["name", "schema", "strict"]) => {
            let schema = &mut format["json_schema"];
            dialect.json = match schema["strict"].as_bool() {
                None => JsonFormat::Schema,
                Some(true) => JsonFormat::StrictSchema,
                Some(false) => return Err("a format that is said not to be strict"),
            };
            let name = fixed_member(schema, "name");
            request.reply_format = named_format(&mut schema["schema"], name);
        }
        _ => return Err("a reply format of none of ours"),
    }
    Ok(())
}

#[test]
fn every_recorded_request_that_our_types_express_is_written() {
    let Some(exchanges) = recorded_at(PATH) else {
        return;
    };
    let mut tally = Tally::default();
    for exchange in &exchanges {
        let mut recorded = exchange.request.clone();
        let told = match lift(&mut recorded, exchange.vendor()) {
            Err(unlike) => format!("not expressed: {unlike}"),
            Ok((request, dialect, spelling)) => {
                let written = Wire::ChatCompletions.encode(&request, &dialect);
                let body: Value = serde_json::from_slice(written.body()).unwrap();
                assert_eq!(body, recorded, "{}", exchange.place());
                assert!(exchange.path.ends_with(written.path()), "{}", exchange.place());
                spelling.to_owned()
            }
        };
        tally.add(&format!("{} {told}", exchange.vendor()));
    }
    tally.tell("Chat Completions requests");
    for vendor in ["deepseek", "llamacpp", "openai", "openrouter"] {
        let (lifted, all) = (
            tally.of(&format!("{vendor} equal")),
            tally.of(&format!("{vendor} ")),
        );
        assert!(all * 3 <= lifted * 4, "{vendor}: {lifted} of {all} lifted");
    }
}
