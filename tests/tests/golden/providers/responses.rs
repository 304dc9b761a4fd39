//! Responses against recorded exchanges with three vendors.

use crate::golden::providers::lift::{
    Unlike, call_id, empty, fixed_member, has_only, items, named_format, prompt, strip, switch, text_of,
    tool, tool_choice,
};
use crate::golden::providers::recorded::{Exchange, Tally, recorded_at};
use crate::golden::providers::said::{Call, Said, Tokens, compare_all, sendable, some_text};
use ktd_agents::{
    ChatRequest, Dialect, DialectTable, JsonFormat, Message, Pinned, StopReason, Thinking, Wire,
};
use ktd_masking::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

const PATH: &str = "/responses";

/// Settings of the client that recorded, which our types do not hold: they are taken off before comparing.
const STRIPPED: [&str; 1] = ["stream"];

/// The row of the vendor, else the plain one, on this wire.
fn dialect(vendor: &str) -> Dialect {
    let table = DialectTable::builtin().unwrap();
    let row = table.find(vendor).unwrap();
    let mut dialect = row.on(Wire::Responses).unwrap_or_else(Dialect::plain);
    dialect.usage = row.usage.clone();
    dialect
}

/// The response that a body stands for: streams carry the whole in the event that ends them.
fn response(exchange: &Exchange) -> Value {
    if !exchange.is_stream() {
        return exchange.json();
    }
    let mut events = exchange.events();
    let end = events
        .iter_mut()
        .find(|event| event["type"] == "response.completed" || event["type"] == "response.incomplete");
    end.unwrap()["response"].take()
}

fn joined<'a>(parts: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let texts = parts
        .into_iter()
        .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
    Some(texts.collect()).filter(|text: &String| !text.is_empty())
}

fn said(exchange: &Exchange) -> Said {
    let mut response = response(exchange);
    let of_kind = |kind: &str, key: &str| -> Vec<Value> {
        let output = items(&response, "output").iter();
        let items_of = output.filter(|item| item["type"] == kind);
        items_of.flat_map(|item| items(item, key).to_vec()).collect()
    };
    let parts = of_kind("message", "content");
    let has_refused = parts.iter().any(|part| part["type"] == "refusal");
    let reasoning =
        joined(&of_kind("reasoning", "content")).or_else(|| joined(&of_kind("reasoning", "summary")));
    let mut calls = Vec::new();
    for item in response["output"].as_array_mut().unwrap() {
        if item["type"] == "function_call" {
            let arguments = item["arguments"].as_str().unwrap().to_owned();
            item["arguments"] = Value::String(sendable(&arguments));
            calls.push(Call {
                id: some_text(&item["call_id"]).unwrap(),
                name: some_text(&item["name"]).unwrap(),
                arguments,
            });
        }
    }
    let stop = match response["incomplete_details"]["reason"].as_str() {
        _ if has_refused => StopReason::Refusal,
        Some("max_output_tokens") => StopReason::Length,
        Some(other) => panic!("{}: incomplete by {other}", exchange.place()),
        None if calls.is_empty() => StopReason::Stop,
        None => StopReason::ToolCalls,
    };
    Said {
        text: joined(&parts),
        reasoning,
        calls,
        stop,
        usage: tokens(&response["usage"]),
        model: some_text(&response["model"]),
        raw: response["output"].take(),
    }
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(Tokens {
        input: count("/input_tokens")?,
        cache_read: count("/input_tokens_details/cached_tokens").unwrap_or(0),
        cache_write: count("/input_tokens_details/cache_write_tokens").unwrap_or(0),
        output: count("/output_tokens")?,
        reasoning: count("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        total: count("/total_tokens"),
        cost: usage["cost"].as_f64(),
    })
}

#[test]
fn every_recorded_reply_is_read() {
    let Some(exchanges) = recorded_at(PATH) else {
        return;
    };
    compare_all(Wire::Responses, &exchanges, dialect, said);
}

/// A request in our types and the dialect that spells it as recorded.
fn lift(recorded: &mut Value, vendor: &str) -> Result<(ChatRequest, Dialect), Unlike> {
    strip(recorded, &STRIPPED);
    let mut dialect = dialect(vendor);
    dialect.body.clear();
    dialect.parallel_flag = false;
    dialect.temperature.pinned = Pinned::Never;
    let mut messages: Vec<Message> = Vec::new();
    if let Some(text) = recorded.get("instructions") {
        messages.push(Message::System(prompt(text.as_str().unwrap())));
    }
    lift_input(recorded["input"].as_array_mut().unwrap(), &mut messages)?;
    let mut request = empty(recorded["model"].as_str().unwrap(), messages);
    request.sampling.temperature = recorded["temperature"].as_f64();
    let most = recorded["max_output_tokens"].as_u64();
    request.sampling.max_output_tokens = most.and_then(|most| u32::try_from(most).ok());
    if let Some(tools) = recorded.get_mut("tools").and_then(Value::as_array_mut) {
        dialect.strict_tools = tools[0]["strict"].as_bool();
        request.tools = tools.iter_mut().map(|value| tool(value, "parameters")).collect();
    }
    request.tool_choice = tool_choice(recorded)?;
    if let Some(format) = recorded.pointer_mut("/text/format") {
        dialect.json = match format["strict"].as_bool() {
            Some(true) => JsonFormat::StrictSchema,
            _ => return Err("a format that is not strict"),
        };
        let name = crate::golden::providers::lift::fixed(format["name"].as_str().unwrap());
        request.reply_format = named_format(&mut format["schema"], name);
    }
    if let Some(reasoning) = recorded.get("reasoning") {
        request.thinking = Thinking::On;
        dialect.thinking.on = switch("reasoning", reasoning);
    }
    if let Some(key) = recorded["prompt_cache_key"].as_str() {
        dialect.cache.key = true;
        request.cache_key = Some(key.to_owned());
    }
    for key in ["include", "store"] {
        if let Some(value) = recorded.get(key) {
            dialect.body.insert(key.to_owned(), value.clone());
        }
    }
    let known = [
        &[
            "include",
            "input",
            "instructions",
            "max_output_tokens",
            "model",
            "prompt_cache_key",
        ][..],
        &[
            "reasoning",
            "store",
            "temperature",
            "text",
            "tool_choice",
            "tools",
        ],
    ];
    if has_only(recorded, &known.concat()) {
        Ok((request, dialect))
    } else {
        Err("a member that our types do not hold")
    }
}

/// The conversation: items of the model that follow each other are one turn of it.
fn lift_input(input: &mut [Value], messages: &mut Vec<Message>) -> Result<(), Unlike> {
    let mut turn: Vec<Value> = Vec::new();
    for item in input {
        let is_models = match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message"), Some(role)) => role == "assistant",
            (Some("reasoning" | "function_call"), _) => true,
            _ => false,
        };
        if is_models {
            turn.push(item.clone());
            continue;
        }
        messages.extend(finish(&mut turn));
        messages.push(match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message"), Some("user")) => {
                // By the vendor's specification a list of one text part is that text, which is how we spell it.
                let text = text_of(&item["content"], "input_text")?.to_owned();
                item["content"] = Value::String(text.clone());
                Message::User(prompt(&text))
            }
            (Some("function_call_output"), _) => {
                // The client sends back the state of an answer, which the vendor ignores.
                strip(item, &["status"]);
                Message::Tool {
                    call_id: call_id(messages, &item["call_id"])?,
                    content: Payload::label(fixed_member(item, "output")),
                }
            }
            (Some("message"), Some("system")) => return Err("a system message inside the input"),
            _ => return Err("an item of none of ours"),
        });
    }
    messages.extend(finish(&mut turn));
    Ok(())
}

fn finish(turn: &mut Vec<Value>) -> Option<Message> {
    if turn.is_empty() {
        return None;
    }
    let reply = json!({
        "status": "completed",
        "output": std::mem::take(turn),
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let turn = Wire::Responses.decode(200, reply.to_string().as_bytes(), &Dialect::plain());
    Some(Message::Assistant(Arc::new(turn.unwrap())))
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
            Ok((request, dialect)) => {
                let written = Wire::Responses.encode(&request, &dialect);
                let body: Value = serde_json::from_slice(written.body()).unwrap();
                assert_eq!(body, recorded, "{}", exchange.place());
                assert!(exchange.path.ends_with(written.path()), "{}", exchange.place());
                "equal, texts in lists of one part being texts".to_owned()
            }
        };
        tally.add(&format!("{} {told}", exchange.vendor()));
    }
    tally.tell("Responses requests");
    let (lifted, all) = (tally.of("openai equal"), tally.of("openai "));
    assert!(all * 3 <= lifted * 4, "{lifted} of {all} lifted");
}
