//! Gemini's `generateContent` against recorded exchanges.

use crate::golden::providers::lift::{
    Unlike, empty, fixed_member, has_only, items, last_turn, payload, prompt, reply_format, strip, switch,
    tool,
};
use crate::golden::providers::recorded::{Exchange, Tally, recorded};
use ktd_agents::{
    ChatRequest, Dialect, DialectTable, Expected, ForceLevel, Message, ModelTurn, StopReason, Thinking,
    ToolChoice, UsageSource, Verdict, Wire,
};
use serde_json::{Value, json};
use std::sync::Arc;

fn dialect() -> Dialect {
    let table = DialectTable::builtin().unwrap();
    table.find("google").unwrap().clone()
}

/// Parts, finish reason and the rest of a reply, read from its JSON alone.
struct Reply {
    parts: Vec<Value>,
    finish: String,
    last: Value,
}

fn reply(exchange: &Exchange) -> Reply {
    let chunks = if exchange.is_stream() {
        exchange.events()
    } else {
        vec![exchange.json()]
    };
    let all = || chunks.iter().flat_map(|chunk| items(chunk, "candidates"));
    let candidates = || all().filter(|candidate| candidate["index"].as_u64().unwrap_or(0) == 0);
    Reply {
        parts: candidates()
            .flat_map(|candidate| items(&candidate["content"], "parts").to_vec())
            .collect(),
        finish: candidates()
            .filter_map(|candidate| candidate["finishReason"].as_str())
            .next_back()
            .unwrap()
            .to_owned(),
        last: chunks.last().unwrap().clone(),
    }
}

fn joined(parts: &[Value], is_thought: bool) -> Option<String> {
    let pieces = parts
        .iter()
        .filter(|part| part["thought"].as_bool().unwrap_or(false) == is_thought);
    let text: String = pieces.filter_map(|part| part["text"].as_str()).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn compare_turn(exchange: &Exchange, turn: &ModelTurn) {
    let place = exchange.place();
    let Reply { parts, finish, last } = reply(exchange);
    assert_eq!(turn.text(), joined(&parts, false).as_deref(), "{place}");
    assert_eq!(turn.reasoning(), joined(&parts, true).as_deref(), "{place}");
    let calls: Vec<&Value> = parts.iter().filter_map(|part| part.get("functionCall")).collect();
    assert_eq!(turn.tool_calls().len(), calls.len(), "{place}");
    for (call, recorded) in turn.tool_calls().iter().zip(calls) {
        assert_eq!(call.name, recorded["name"], "{place}");
        assert_eq!(
            serde_json::from_str::<Value>(&call.arguments).unwrap(),
            recorded["args"],
            "{place}"
        );
        if let Some(id) = recorded["id"].as_str() {
            assert_eq!(call.id.as_str(), id, "{place}");
        }
    }
    let raw: Value = serde_json::from_str(turn.raw().get()).unwrap();
    assert_eq!(raw.as_array().unwrap(), &parts, "{place}");
    if !exchange.is_stream() && !parts.is_empty() {
        assert!(exchange.body.contains(turn.raw().get()), "{place}: bytes changed");
    }
    let stop = match finish.as_str() {
        "STOP" => StopReason::Stop,
        "MAX_TOKENS" => StopReason::Length,
        other => panic!("{place}: {other}"),
    };
    assert_eq!(turn.stop(), stop, "{place}");
    assert_eq!(turn.served().stop_reason.as_ref(), Some(&finish), "{place}");
    assert_eq!(
        turn.served().model.as_deref(),
        last["modelVersion"].as_str(),
        "{place}"
    );
    compare_usage(&place, turn, &last["usageMetadata"]);
}

/// The total is prompt, candidates, thoughts and tool prompts; what was cached is inside the prompt.
fn compare_usage(place: &str, turn: &ModelTurn, reported: &Value) {
    let count = |key: &str| reported[key].as_u64().unwrap_or(0);
    let usage = turn.usage();
    assert_eq!(usage.source, UsageSource::Reported, "{place}");
    assert_eq!(
        usage.input() + usage.output(),
        count("totalTokenCount"),
        "{place}"
    );
    assert_eq!(
        usage.uncached_input + usage.cache_read,
        count("promptTokenCount"),
        "{place}"
    );
    assert_eq!(usage.cache_read, count("cachedContentTokenCount"), "{place}");
    assert_eq!(usage.visible_output, count("candidatesTokenCount"), "{place}");
    assert_eq!(usage.reasoning_output, count("thoughtsTokenCount"), "{place}");
    assert_eq!(usage.tool_prompt, count("toolUsePromptTokenCount"), "{place}");
}

fn verdict(exchange: &Exchange) -> Verdict {
    let config = &exchange.request["toolConfig"]["functionCallingConfig"];
    let names = exchange.request["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|tools| items(tools, "functionDeclarations"));
    let tools: Vec<&str> = names.map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = Expected {
        tools: &tools,
        forced: (config["mode"] == "ANY").then_some(ForceLevel::Required),
        submission: config["allowed_function_names"][0].as_str(),
        self_hosted: false,
    };
    let reply = Wire::GenerateContent.decode(exchange.status, exchange.body.as_bytes(), &dialect());
    Verdict::of(reply.as_ref(), &expected)
}

#[test]
fn every_recorded_reply_is_read() {
    let Some(exchanges) = recorded("gemini") else {
        return;
    };
    let mut tally = Tally::default();
    for exchange in &exchanges {
        let reply = Wire::GenerateContent.decode(exchange.status, exchange.body.as_bytes(), &dialect());
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
        "generateContent replies",
        &[
            ("200 json model_fault truncated", 3),
            ("200 json normalised id_minted", 53),
            ("200 json valid", 84),
            ("200 stream model_fault truncated", 2),
            ("200 stream normalised id_minted", 20),
            ("200 stream valid", 36),
            ("400 json config_fault unauthorized", 1),
            ("404 json config_fault not_found", 1),
        ],
    );
}

/// Takes off what the recording client wrote and nobody reads: nulls, empty settings, `thought: false`, the role of instructions,
/// the number of candidates. Its own spelling of two members becomes the vendor's.
fn tidy(recorded: &mut Value) {
    strip(recorded, &[]);
    strip(&mut recorded["systemInstruction"], &["role"]);
    let mut contents: Vec<&mut Value> = Vec::new();
    let members = recorded.as_object_mut().unwrap();
    for (key, value) in members.iter_mut() {
        match key.as_str() {
            "contents" => contents.extend(value.as_array_mut().unwrap()),
            "systemInstruction" if !value.is_null() => contents.push(value),
            "generationConfig" => strip(value, &["candidateCount"]),
            "toolConfig" => {
                let config = &mut value["functionCallingConfig"];
                if let Some(names) = config.as_object_mut().unwrap().remove("allowed_function_names") {
                    config["allowedFunctionNames"] = names;
                }
            }
            "tools" => value.as_array_mut().unwrap().iter_mut().for_each(tidy_tools),
            _ => {}
        }
    }
    for content in contents {
        for part in content["parts"].as_array_mut().unwrap() {
            if part["thought"] == false {
                strip(part, &["thought"]);
            }
        }
    }
    if recorded["generationConfig"] == json!({}) {
        strip(recorded, &["generationConfig"]);
    }
    strip(recorded, &[]);
}

fn tidy_tools(tools: &mut Value) {
    strip(tools, &[]);
    let declared = tools
        .get_mut("functionDeclarations")
        .and_then(Value::as_array_mut);
    for tool in declared.into_iter().flatten() {
        if let Some(parameters) = tool.as_object_mut().unwrap().remove("parameters") {
            tool["parametersJsonSchema"] = parameters;
        }
    }
}

fn lift(model: &str, recorded: &mut Value) -> Result<(ChatRequest, Dialect), Unlike> {
    tidy(recorded);
    let mut dialect = dialect();
    let mut messages: Vec<Message> = Vec::new();
    for part in items(&recorded["systemInstruction"], "parts") {
        messages.push(Message::System(prompt(part["text"].as_str().unwrap())));
    }
    for content in items(recorded, "contents") {
        lift_content(content, &mut messages)?;
    }
    let mut request = empty(model, messages);
    lift_tools(recorded, &mut request)?;
    if let Some(config) = recorded.get_mut("generationConfig") {
        request.sampling.temperature = config["temperature"].as_f64();
        let max_tokens = config["maxOutputTokens"].as_u64();
        request.sampling.max_output_tokens = max_tokens.and_then(|count| u32::try_from(count).ok());
        if let Some(thinking) = config.get("thinkingConfig") {
            request.thinking = Thinking::On;
            dialect.thinking.on = switch("generationConfig", &json!({ "thinkingConfig": thinking }));
        }
        if let Some(schema) = config.get_mut("responseJsonSchema") {
            request.reply_format = reply_format(schema);
        }
        let known = [
            "maxOutputTokens",
            "responseJsonSchema",
            "responseMimeType",
            "temperature",
            "thinkingConfig",
        ];
        if !has_only(config, &known) {
            return Err("a generation setting that our types do not hold");
        }
    }
    let known = [
        "contents",
        "generationConfig",
        "systemInstruction",
        "toolConfig",
        "tools",
    ];
    if has_only(recorded, &known) {
        Ok((request, dialect))
    } else {
        Err("a member that our types do not hold")
    }
}

fn lift_content(content: &Value, messages: &mut Vec<Message>) -> Result<(), Unlike> {
    let parts = items(content, "parts");
    if content["role"] == "model" {
        let reply = json!({
            "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1 },
        });
        let turn = Wire::GenerateContent.decode(200, reply.to_string().as_bytes(), &dialect());
        messages.push(Message::Assistant(Arc::new(turn.unwrap())));
        return Ok(());
    }
    if 1 < parts.len() && parts.iter().any(|part| part.get("text").is_some()) {
        return Err("several texts of a user in one content");
    }
    for (place, part) in parts.iter().enumerate() {
        let message = match (part["text"].as_str(), part.get("functionResponse")) {
            (Some(text), _) => Message::User(prompt(text)),
            (None, Some(response)) => lift_response(response, &parts[..place], messages)?,
            (None, None) => return Err("an image or another part of a user"),
        };
        messages.push(message);
    }
    Ok(())
}

/// Calls come without ids, so that answers are paired with them by name and, among those of one name, by order.
fn lift_response(response: &Value, before: &[Value], messages: &[Message]) -> Result<Message, Unlike> {
    let is_same = |part: &&Value| part["functionResponse"]["name"] == response["name"];
    let place = before.iter().filter(is_same).count();
    let mut calls = last_turn(messages)
        .ok_or("an answer before any call")?
        .tool_calls()
        .iter()
        .filter(|call| call.name == response["name"]);
    let call = calls.nth(place);
    Ok(Message::Tool {
        call_id: call.ok_or("an answer without its call")?.id.clone(),
        content: payload(&response["response"])?,
    })
}

fn lift_tools(recorded: &mut Value, request: &mut ChatRequest) -> Result<(), Unlike> {
    let Some(tools) = recorded.get_mut("tools") else {
        return match recorded.get("toolConfig") {
            Some(_) => Err("a choice without tools"),
            None => Ok(()),
        };
    };
    let only = tools.as_array_mut().unwrap();
    if only.len() != 1 || !has_only(&only[0], &["functionDeclarations"]) {
        return Err("a tool of the vendor's own");
    }
    let declared = only[0]["functionDeclarations"].as_array_mut().unwrap();
    request.tools = declared
        .iter_mut()
        .map(|value| tool(value, "parametersJsonSchema"))
        .collect();
    // A free choice is written out by us and left out by others; it means the same.
    let choice = recorded
        .as_object_mut()
        .unwrap()
        .entry("toolConfig")
        .or_insert_with(|| json!({ "functionCallingConfig": { "mode": "AUTO" } }));
    let choice = &choice["functionCallingConfig"];
    request.tool_choice = match (
        choice["mode"].as_str().unwrap(),
        items(choice, "allowedFunctionNames"),
    ) {
        ("AUTO", []) => ToolChoice::Auto,
        ("NONE", []) => ToolChoice::None,
        ("ANY", []) => ToolChoice::Required,
        ("ANY", [name]) => ToolChoice::Named(fixed_member(&json!({ "name": name }), "name")),
        _ => return Err("a choice among several tools"),
    };
    Ok(())
}

#[test]
fn every_recorded_request_that_our_types_express_is_written() {
    let Some(exchanges) = recorded("gemini") else {
        return;
    };
    let mut tally = Tally::default();
    for exchange in &exchanges {
        let mut recorded = exchange.request.clone();
        let path = exchange.path.split('?').next().unwrap();
        let path = path.replace(":streamGenerateContent", ":generateContent");
        let model = path.rsplit('/').next().unwrap().split(':').next().unwrap();
        match lift(model, &mut recorded) {
            Err(unlike) => tally.add(&format!("not expressed: {unlike}")),
            Ok((request, dialect)) => {
                let written = Wire::GenerateContent.encode(&request, &dialect);
                let body: Value = serde_json::from_slice(written.body()).unwrap();
                assert_eq!(body, recorded, "{}", exchange.place());
                assert!(path.ends_with(written.path()), "{}: {path}", exchange.place());
                tally.add("equal");
            }
        }
    }
    tally.check(
        "generateContent requests",
        &[
            ("equal", 169),
            ("not expressed: a member that our types do not hold", 3),
            ("not expressed: a payload with a negative number", 1),
            ("not expressed: a tool of the vendor's own", 21),
            ("not expressed: an image or another part of a user", 5),
            ("not expressed: several texts of a user in one content", 1),
        ],
    );
}
