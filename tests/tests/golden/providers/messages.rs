//! Anthropic's Messages against recorded exchanges.

use crate::golden::providers::lift::{
    Unlike, empty, fixed_member, has_only, items, last_turn, payload, prompt, reply_format, strip,
    strip_deep, switch, tool,
};
use crate::golden::providers::recorded::{Exchange, Tally, recorded};
use ktd_agents::{
    ChatRequest, Dialect, DialectTable, Expected, ForceLevel, Message, ModelTurn, StopReason, Thinking,
    ToolChoice, UsageSource, Verdict, Wire,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Settings of the client that recorded, which our types do not hold: they are taken off before comparing.
const STRIPPED: [&str; 2] = ["stream", "stop_sequences"];

/// The row of the vendor without what it adds to requests of its own accord.
fn dialect() -> Dialect {
    let table = DialectTable::builtin().unwrap();
    let mut dialect = table.find("anthropic").unwrap().clone();
    dialect.cache.breakpoints = false;
    dialect.parallel_flag = false;
    // Recorded models took what the present ones refuse.
    dialect.temperature.pinned = ktd_agents::Pinned::Never;
    dialect.usage.cost = Some("/cost".to_owned());
    dialect
}

/// The message that a body stands for, read from its JSON alone.
fn message(exchange: &Exchange) -> Value {
    if !exchange.is_stream() {
        return exchange.json();
    }
    let mut message = Value::Null;
    let mut inputs: Vec<String> = Vec::new();
    for mut event in exchange.events() {
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].take(),
            "content_block_start" => {
                message["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(event["content_block"].take());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let index = usize::try_from(event["index"].as_u64().unwrap()).unwrap();
                add(
                    &mut message["content"][index],
                    &mut inputs[index],
                    &event["delta"],
                );
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].take();
                for (key, count) in event["usage"].as_object().unwrap() {
                    if !count.is_null() {
                        message["usage"][key] = count.clone();
                    }
                }
            }
            _ => {}
        }
    }
    for (block, input) in message["content"].as_array_mut().unwrap().iter_mut().zip(inputs) {
        if !input.is_empty() {
            block["input"] = serde_json::from_str(&input).unwrap_or(Value::String(input));
        }
    }
    message
}

fn add(block: &mut Value, input: &mut String, delta: &Value) {
    for (key, piece) in delta.as_object().unwrap() {
        match key.as_str() {
            "type" => {}
            "partial_json" => input.push_str(piece.as_str().unwrap()),
            "citation" => match block["citations"].as_array_mut() {
                Some(citations) => citations.push(piece.clone()),
                None => block["citations"] = json!([piece]),
            },
            key => {
                let before = block[key].as_str().unwrap_or_default();
                block[key] = Value::String(format!("{before}{}", piece.as_str().unwrap()));
            }
        }
    }
}

fn joined(content: &[Value], kind: &str, key: &str) -> Option<String> {
    let pieces = content.iter().filter(|block| block["type"] == kind);
    let text: String = pieces.map(|block| block[key].as_str().unwrap()).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn compare_turn(exchange: &Exchange, turn: &ModelTurn) {
    let place = exchange.place();
    let message = message(exchange);
    let content = items(&message, "content");
    assert_eq!(turn.text(), joined(content, "text", "text").as_deref(), "{place}");
    assert_eq!(
        turn.reasoning(),
        joined(content, "thinking", "thinking").as_deref(),
        "{place}"
    );
    let calls: Vec<&Value> = content
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .collect();
    assert_eq!(turn.tool_calls().len(), calls.len(), "{place}");
    for (call, block) in turn.tool_calls().iter().zip(calls) {
        assert_eq!(call.id.as_str(), block["id"], "{place}");
        assert_eq!(call.name, block["name"], "{place}");
        let input = &block["input"];
        match input.as_str() {
            Some(cut) => assert_eq!(call.arguments, cut, "{place}"),
            None => assert_eq!(
                &serde_json::from_str::<Value>(&call.arguments).unwrap(),
                input,
                "{place}"
            ),
        }
    }
    compare_raw(exchange, turn, content);
    let stop = match message["stop_reason"].as_str().unwrap() {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        other => panic!("{place}: {other}"),
    };
    assert_eq!(turn.stop(), stop, "{place}");
    assert_eq!(
        turn.served().stop_reason.as_deref(),
        message["stop_reason"].as_str(),
        "{place}"
    );
    assert_eq!(
        turn.served().model.as_deref(),
        message["model"].as_str(),
        "{place}"
    );
    compare_usage(&place, turn, &message["usage"]);
}

/// What goes back is what came: byte for byte from JSON, value for value from a stream. Only input that was cut goes
/// back wrapped.
fn compare_raw(exchange: &Exchange, turn: &ModelTurn, content: &[Value]) {
    let place = exchange.place();
    let raw: Value = serde_json::from_str(turn.raw().get()).unwrap();
    let mut sent = content.to_vec();
    for block in &mut sent {
        if let Some(cut) = block["input"].as_str() {
            block["input"] = json!({ "INVALID_JSON": cut });
        }
    }
    strip_nulls(&mut sent);
    let mut raw = raw.as_array().unwrap().clone();
    strip_nulls(&mut raw);
    assert_eq!(raw, sent, "{place}");
    if !exchange.is_stream() {
        assert!(exchange.body.contains(turn.raw().get()), "{place}: bytes changed");
    }
}

fn strip_nulls(blocks: &mut [Value]) {
    for block in blocks {
        strip(block, &[]);
    }
}

/// The bill is input, cache reads, cache writes and output; none is inside another, and thinking is inside output.
fn compare_usage(place: &str, turn: &ModelTurn, reported: &Value) {
    let count = |pointer: &str| reported.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let usage = turn.usage();
    assert_eq!(usage.source, UsageSource::Reported, "{place}");
    assert_eq!(usage.uncached_input, count("/input_tokens"), "{place}");
    assert_eq!(usage.cache_read, count("/cache_read_input_tokens"), "{place}");
    assert_eq!(
        usage.cache_write_5m + usage.cache_write_1h,
        count("/cache_creation_input_tokens"),
        "{place}"
    );
    assert_eq!(
        usage.cache_write_1h,
        count("/cache_creation/ephemeral_1h_input_tokens"),
        "{place}"
    );
    assert_eq!(usage.output(), count("/output_tokens"), "{place}");
    assert_eq!(
        usage.reasoning_output,
        count("/output_tokens_details/thinking_tokens"),
        "{place}"
    );
    assert_eq!(
        usage.vendor_cost_picodollars.is_some(),
        reported.get("cost").is_some(),
        "{place}"
    );
}

/// What was asked, as far as the outcome depends on it.
fn verdict(exchange: &Exchange) -> Verdict {
    let choice = &exchange.request["tool_choice"];
    let forced = match choice["type"].as_str() {
        Some("any") => Some(ForceLevel::Required),
        Some("tool") => Some(ForceLevel::Named),
        _ => None,
    };
    let tools: Vec<&str> = items(&exchange.request, "tools")
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected = Expected {
        tools: &tools,
        forced,
        submission: choice["name"].as_str(),
        self_hosted: false,
    };
    let reply = Wire::Messages.decode(exchange.status, exchange.body.as_bytes(), &dialect());
    Verdict::of(reply.as_ref(), &expected)
}

#[test]
fn every_recorded_reply_is_read() {
    let Some(exchanges) = recorded("anthropic") else {
        return;
    };
    let mut tally = Tally::default();
    for exchange in &exchanges {
        let reply = Wire::Messages.decode(exchange.status, exchange.body.as_bytes(), &dialect());
        let shape = if exchange.is_stream() { "stream" } else { "json" };
        match reply {
            Ok(turn) => {
                assert_eq!(exchange.status, 200, "{}", exchange.place());
                compare_turn(exchange, &turn);
            }
            Err(fault) => assert_eq!(fault.status(), exchange.status, "{}", exchange.place()),
        }
        let verdict = verdict(exchange);
        let kinds = verdict.kinds().join(",");
        let outcome = format!("{} {shape} {} {kinds}", exchange.status, verdict.label());
        tally.add(outcome.trim_end());
    }
    tally.check(
        "Messages replies",
        &[
            ("200 json model_fault truncated", 5),
            ("200 json valid", 160),
            ("200 stream model_fault truncated", 2),
            ("200 stream valid", 102),
            ("400 json config_fault bad_request", 8),
            ("401 json config_fault unauthorized", 3),
            ("404 json config_fault not_found", 2),
        ],
    );
}

fn lift(recorded: &mut Value) -> Result<(ChatRequest, Dialect, Marks), Unlike> {
    strip(recorded, &STRIPPED);
    let mut dialect = dialect();
    let marks = lift_marks(recorded);
    dialect.cache.breakpoints = marks == Marks::Ours;
    let mut messages: Vec<Message> = Vec::new();
    for block in items(recorded, "system") {
        messages.push(Message::System(text(block)?));
    }
    for message in items(recorded, "messages") {
        lift_message(message, &mut messages)?;
    }
    let mut request = empty(recorded["model"].as_str().unwrap(), messages);
    request.sampling.temperature = recorded["temperature"].as_f64();
    let max_tokens = recorded["max_tokens"].as_u64().unwrap();
    request.sampling.max_output_tokens = u32::try_from(max_tokens).ok();
    lift_tools(recorded, &mut request, &mut dialect)?;
    if let Some(thinking) = recorded.get("thinking") {
        request.thinking = Thinking::On;
        dialect.thinking.on = switch("thinking", thinking);
    }
    if let Some(config) = recorded.get_mut("output_config") {
        if !has_only(config, &["format"]) || !has_only(&config["format"], &["type", "schema"]) {
            return Err("an output configuration beyond a schema");
        }
        request.reply_format = reply_format(&mut config["format"]["schema"]);
    }
    let known = [
        "max_tokens",
        "messages",
        "model",
        "output_config",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
    ];
    if has_only(recorded, &known) {
        Ok((request, dialect, marks))
    } else {
        Err("a member that our types do not hold")
    }
}

/// Whose cache breakpoints a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    None,
    Ours,
    Others,
}

/// Breakpoints are lifted when they are where ours are and say what ours say; others are taken off.
fn lift_marks(recorded: &mut Value) -> Marks {
    let mut bare = recorded.clone();
    if !strip_deep(&mut bare, "cache_control") {
        return Marks::None;
    }
    let mut ours = bare.clone();
    let mark = json!({ "type": "ephemeral" });
    for place in ["tools", "system"] {
        if let Some(last) = ours[place].as_array_mut().and_then(|list| list.last_mut()) {
            last["cache_control"] = mark.clone();
        }
    }
    let last = ours["messages"].as_array_mut().and_then(|list| list.last_mut());
    if let Some(block) = last.and_then(|last| last["content"].as_array_mut()?.last_mut()) {
        block["cache_control"] = mark;
    }
    strip(&mut ours, &[]);
    if ours == *recorded {
        return Marks::Ours;
    }
    *recorded = bare;
    Marks::Others
}

fn text(block: &Value) -> Result<ktd_masking::Prompt, Unlike> {
    if block["type"] != "text" || !has_only(block, &["type", "text", "cache_control"]) {
        return Err("a document, an image or another block of a user");
    }
    Ok(prompt(block["text"].as_str().unwrap()))
}

fn lift_message(message: &Value, messages: &mut Vec<Message>) -> Result<(), Unlike> {
    let content = items(message, "content");
    match message["role"].as_str().unwrap() {
        "assistant" => {
            let reply = json!({
                "content": content,
                "stop_reason": "end_turn",
                "usage": { "input_tokens": 1, "output_tokens": 1 },
            });
            let turn = Wire::Messages.decode(200, reply.to_string().as_bytes(), &dialect());
            messages.push(Message::Assistant(Arc::new(turn.unwrap())));
        }
        "user" => {
            for block in content {
                messages.push(lift_block(block, messages)?);
            }
        }
        _ => return Err("a system message inside the conversation"),
    }
    Ok(())
}

fn lift_block(block: &Value, before: &[Message]) -> Result<Message, Unlike> {
    if block["type"] != "tool_result" {
        return Ok(Message::User(text(block)?));
    }
    let [content] = items(block, "content") else {
        return Err("a tool result of several blocks");
    };
    text(content)?;
    let calls = last_turn(before).map_or(&[][..], ModelTurn::tool_calls);
    let mut ids = calls.iter().map(|call| call.id.clone());
    let call_id = ids.find(|id| id.as_str() == block["tool_use_id"]);
    Ok(Message::Tool {
        call_id: call_id.ok_or("a result without its call")?,
        content: payload(&content["text"])?,
    })
}

fn lift_tools(recorded: &mut Value, request: &mut ChatRequest, dialect: &mut Dialect) -> Result<(), Unlike> {
    let Some(tools) = recorded.get_mut("tools").and_then(Value::as_array_mut) else {
        return match recorded.get("tool_choice") {
            Some(_) => Err("a choice without tools"),
            None => Ok(()),
        };
    };
    if tools.iter().any(|tool| tool.get("type").is_some()) {
        return Err("a tool of the vendor's own");
    }
    dialect.strict_tools = tools[0]["strict"].as_bool();
    if tools
        .iter()
        .any(|tool| tool["strict"].as_bool() != dialect.strict_tools)
    {
        return Err("strict and other tools together");
    }
    request.tools = tools
        .iter_mut()
        .map(|value| tool(value, "input_schema"))
        .collect();
    // A free choice is written out by us and left out by others; it means the same.
    let choice = recorded
        .as_object_mut()
        .unwrap()
        .entry("tool_choice")
        .or_insert_with(|| json!({ "type": "auto" }));
    request.tool_choice = match choice["type"].as_str().unwrap() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Required,
        _ => ToolChoice::Named(fixed_member(choice, "name")),
    };
    Ok(())
}

#[test]
fn every_recorded_request_that_our_types_express_is_written() {
    let Some(exchanges) = recorded("anthropic") else {
        return;
    };
    let mut tally = Tally::default();
    for exchange in &exchanges {
        let mut recorded = exchange.request.clone();
        match lift(&mut recorded) {
            Err(unlike) => tally.add(&format!("not expressed: {unlike}")),
            Ok((request, dialect, marks)) => {
                let written = Wire::Messages.encode(&request, &dialect);
                let body: Value = serde_json::from_slice(written.body()).unwrap();
                assert_eq!(body, recorded, "{}", exchange.place());
                assert!(exchange.path.ends_with(written.path()), "{}", exchange.place());
                tally.add(match marks {
                    Marks::None => "equal",
                    Marks::Ours => "equal, with our cache breakpoints",
                    Marks::Others => "equal but for cache breakpoints in other places or of other lives",
                });
            }
        }
    }
    tally.check(
        "Messages requests",
        &[
            ("equal", 186),
            (
                "equal but for cache breakpoints in other places or of other lives",
                72,
            ),
            ("equal, with our cache breakpoints", 13),
            (
                "not expressed: a document, an image or another block of a user",
                4,
            ),
            ("not expressed: a system message inside the conversation", 2),
            ("not expressed: a tool of the vendor's own", 3),
            ("not expressed: strict and other tools together", 2),
        ],
    );
}
