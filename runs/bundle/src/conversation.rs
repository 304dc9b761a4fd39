//! A request's conversation for people, whatever the wire.

use serde_json::Value;

/// Roles and texts of a request, oldest first: messages, input items or contents, after the standing instructions.
pub fn conversation(request: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for key in ["system", "instructions", "systemInstruction"] {
        if let Some(value) = request.get(key) {
            all.push(("system".to_owned(), text_of(value)));
        }
    }
    for key in ["messages", "input", "contents"] {
        let entries = request.get(key).and_then(Value::as_array).into_iter().flatten();
        all.extend(entries.map(|entry| (role_of(entry).to_owned(), text_of(entry).trim_start().to_owned())));
    }
    all
}

fn role_of(entry: &Value) -> &str {
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "function_call" | "reasoning" => "assistant",
        "function_call_output" => "tool",
        _ => entry.get("role").and_then(Value::as_str).unwrap_or("?"),
    }
}

/// The text of a message, an item, a block or a part, with the calls in it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => join(blocks.iter().map(text_of)),
        Value::Object(_) => of_object(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn of_object(value: &Value) -> String {
    let text = |pointer: &str| {
        value
            .pointer(pointer)
            .map(text_of)
            .filter(|text| !text.is_empty())
    };
    let raw = |pointer: &str| {
        let inner = value.pointer(pointer)?;
        Some(inner.as_str().map_or_else(|| inner.to_string(), str::to_owned))
    };
    let call = |name: &str, arguments: &str| {
        Some(format!(
            "[calls {} {}]",
            raw(name)?,
            raw(arguments).unwrap_or_default()
        ))
    };
    let calls = value
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let said = [
        text("/reasoning_content").map(|thought| format!("[thinks: {thought}]")),
        text("/thinking").map(|thought| format!("[thinks: {thought}]")),
        text("/content"),
        text("/parts"),
        text("/text"),
        raw("/output"),
        raw("/functionResponse/response"),
        call("/function/name", "/function/arguments"),
        call("/functionCall/name", "/functionCall/args"),
        call("/name", "/input").filter(|_| value.get("type").is_some_and(|kind| kind == "tool_use")),
        call("/name", "/arguments").filter(|_| value.get("type").is_some_and(|kind| kind == "function_call")),
    ];
    join(said.into_iter().flatten().chain(calls.map(text_of)))
}

fn join(texts: impl Iterator<Item = String>) -> String {
    texts
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_conversation_reads_the_same_on_every_wire() {
        let expected = [
            "system: rules",
            "user: state",
            "assistant: hm\n[calls t {\"a\":1}]",
            "tool: data",
        ];
        let wires = [
            json!({ "messages": [{ "role": "system", "content": "rules" }, { "role": "user", "content": "state" },
                { "role": "assistant", "content": "hm", "tool_calls": [{ "function": { "name": "t", "arguments": "{\"a\":1}" } }] },
                { "role": "tool", "content": "data" }] }),
            json!({ "system": [{ "type": "text", "text": "rules" }], "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "state" }] },
                { "role": "assistant", "content": [{ "type": "text", "text": "hm" },
                    { "type": "tool_use", "name": "t", "input": { "a": 1 } }] },
                { "role": "tool", "content": [{ "type": "tool_result", "content": [{ "text": "data" }] }] }] }),
            json!({ "systemInstruction": { "parts": [{ "text": "rules" }] }, "contents": [
                { "role": "user", "parts": [{ "text": "state" }] },
                { "role": "assistant", "parts": [{ "text": "hm" }, { "functionCall": { "name": "t", "args": { "a": 1 } } }] },
                { "role": "tool", "parts": [{ "functionResponse": { "response": "data" } }] }] }),
        ];
        for request in wires {
            let read: Vec<String> = conversation(&request)
                .into_iter()
                .map(|(role, text)| format!("{role}: {text}"))
                .collect();
            assert_eq!(read, expected);
        }
        let items = json!({ "instructions": "rules", "input": [
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "state" }] },
            { "type": "function_call", "name": "t", "arguments": "{\"a\":1}" },
            { "type": "function_call_output", "output": "data" }] });
        let read = conversation(&items);
        assert_eq!(
            read[2],
            ("assistant".to_owned(), "[calls t {\"a\":1}]".to_owned())
        );
        assert_eq!(read[3], ("tool".to_owned(), "data".to_owned()));
    }
}
