//! A server on loopback for all wires that repeats its client's key wherever it can.

use ktd_kit::Vendor;
use ktd_kit::vendor::{Message, Then};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

/// The key that a request was sent with.
fn key_of(request: &Message) -> String {
    let line = request.head.lines().find(|line| carries_key(line)).unwrap();
    let value = line.split_once(": ").unwrap().1;
    value.strip_prefix("Bearer ").unwrap_or(value).to_owned()
}

/// Whether a line of a head is the one for the key.
pub(crate) fn carries_key(line: &str) -> bool {
    let name = line.split(':').next().unwrap().to_ascii_lowercase();
    ["authorization", "x-api-key", "x-goog-api-key"].contains(&name.as_str())
}

/// The vendor; every connection ends with its request.
pub(crate) fn start() -> Vendor {
    // How many requests each path has had.
    let counts = Mutex::<BTreeMap<String, usize>>::default();
    Vendor::new(move |request, stream| {
        let count = {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(request.path().to_owned()).or_insert(0);
            *count += 1;
            *count
        };
        stream.write_all(&answer(request, count))?;
        Ok(Then::Close)
    })
}

/// What it answers to the request of this number on its path, 1-based.
fn answer(request: &Message, count: usize) -> Vec<u8> {
    let key = key_of(request);
    let in_json = json!(key).to_string();
    let in_json = &in_json[1..in_json.len() - 1];
    let units: Vec<String> = key
        .bytes()
        .map(|byte| format!("\\u{:04x}", u32::from(byte)))
        .collect();
    let oblique = units.concat();
    let slashed = in_json.replace('/', "\\/");
    let whole = |status: &str, body: &[u8]| reply(status, &key, body, body.len());
    if request.path().starts_with("/refused/") {
        let body = format!(
            r#"{{"error":{{"message":"Incorrect API key provided: {in_json}","code":"invalid_api_key"}}}}"#
        );
        return whole("401 Unauthorized", body.as_bytes());
    }
    if request.path().starts_with("/lost/") {
        let body = format!("<html>the key {key} has no upstream</html>");
        return whole("502 Bad Gateway", body.as_bytes());
    }
    let body = match count {
        1 => {
            let body =
                format!(r#"{{"error":{{"message":"{slashed} is over its limit","code":"{oblique}"}}}}"#);
            return whole("429 Too Many Requests", body.as_bytes());
        }
        2 => {
            return whole(
                "200 OK",
                &[key.as_bytes(), b" \xff\xfe ", key.as_bytes()].concat(),
            );
        }
        3 => format!(r#"{{"id":"{in_json}","choices":[{{"message":{{"content":"{in_json}"#).into_bytes(),
        5 => {
            let body = json!({ "id": key }).to_string();
            // The rest never comes.
            return reply("200 OK", &key, body.as_bytes(), body.len() + 9);
        }
        _ => turn(request, &key).to_string().into_bytes(),
    };
    whole("200 OK", &body)
}

fn reply(status: &str, key: &str, body: &[u8], length: usize) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json; for={key}\r\nretry-after: 0\r\nx-request-id: {key}\r\n\
         request-id: {key}\r\nx-ratelimit-limit-requests: {key}\r\nset-cookie: k={key}\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A turn of a model that looks around, buys what it has seen, and repeats its key whenever it speaks.
fn turn(message: &Message, key: &str) -> Value {
    let request = String::from_utf8(message.body.clone()).unwrap();
    let body: Value = serde_json::from_str(&request).unwrap();
    let is_forced = body["tool_choice"].get("function").is_some()
        || body["tool_choice"].get("name").is_some()
        || !body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"].is_null();
    let answers = [
        "\"tool_call_id\"",
        "\"function_call_output\"",
        "\"tool_result\"",
        "\"functionResponse\"",
    ];
    let answered: usize = answers.iter().map(|mark| request.matches(mark).count()).sum();
    let seen = request.split("asset_").nth(1).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("asset_{digits}")
    });
    let seen = seen.unwrap_or_default();
    let order = json!({
        "stock_id": seen, "side": "BUY", "target_weight": 0.05, "confidence": 0.6, "reason": "it is the first that was shown",
    });
    let call = match (is_forced, answered) {
        (true, _) => Some((
            "submit_action",
            json!({ "orders": [order], "overall_reason": format!("as {key} says it is to be") }),
        )),
        (false, 0) => Some(("get_market_context", json!({}))),
        (false, 1) => Some((
            "screen_candidates",
            json!({ "factors": [{ "factor": "MOM_12_1", "direction": "high" }], "top_k": 5 }),
        )),
        (false, 2) => Some(("get_stock_snapshot", json!({ "stock_id": seen, "lookback": 5 }))),
        (false, 3) => Some(("portfolio_state", json!({}))),
        (false, _) => None,
    };
    let text = format!("My key is {key}.");
    match message.path() {
        "/v1/responses" => responses(&text, call, answered),
        "/v1/messages" => messages(&text, call, answered),
        path if path.ends_with(":generateContent") => gemini(&text, call),
        _ => chat(&text, call, answered),
    }
}

type Call = Option<(&'static str, Value)>;

fn chat(text: &str, call: Call, number: usize) -> Value {
    let calls: Vec<Value> = call
        .into_iter()
        .map(|(name, arguments)| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "id": format!("call_{number}"), "type": "function", "function": function })
        })
        .collect();
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18 });
    json!({ "id": "x", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }], "usage": usage })
}

fn responses(text: &str, call: Call, number: usize) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    let said = json!({ "type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": content });
    let mut output = vec![said];
    output.extend(call.map(|(name, arguments)| {
        json!({
            "type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed",
        })
    }));
    let usage = json!({ "input_tokens": 9, "output_tokens": 9, "total_tokens": 18 });
    json!({ "id": "x", "object": "response", "status": "completed", "output": output, "usage": usage })
}

fn messages(text: &str, call: Call, number: usize) -> Value {
    let stop = if call.is_some() { "tool_use" } else { "end_turn" };
    let mut content = vec![json!({ "type": "text", "text": text })];
    content.extend(call.map(|(name, arguments)| {
        json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": name, "input": arguments })
    }));
    let usage = json!({ "input_tokens": 9, "output_tokens": 9 });
    json!({ "id": "x", "type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage })
}

fn gemini(text: &str, call: Call) -> Value {
    let mut parts = vec![json!({ "text": text })];
    parts
        .extend(call.map(|(name, arguments)| json!({ "functionCall": { "name": name, "args": arguments } })));
    let candidate =
        json!({ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 });
    let usage = json!({ "promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18 });
    json!({ "candidates": [candidate], "usageMetadata": usage })
}
