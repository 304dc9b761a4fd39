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

/// The answer to a tool's call that a request carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredCall {
    /// The id of the call, where the wire has one.
    pub call: Option<String>,
    /// What the tool answered.
    pub text: String,
}

/// The answers to tool calls in a request, oldest first, whatever the wire.
#[must_use]
pub fn tool_answers(request: &Value) -> Vec<AnsweredCall> {
    let entries = ["messages", "input", "contents"].into_iter();
    let entries = entries.filter_map(|key| request.get(key).and_then(Value::as_array));
    let mut answers = Vec::new();
    for entry in entries.flatten() {
        let blocks = ["content", "parts"].into_iter();
        let blocks = blocks.filter_map(|key| entry.get(key).and_then(Value::as_array));
        answers.extend(
            std::iter::once(entry)
                .chain(blocks.flatten())
                .filter_map(answer_of),
        );
    }
    answers
}

fn answer_of(value: &Value) -> Option<AnsweredCall> {
    let is_kind = |kind: &str| value.get("type").is_some_and(|own| own == kind);
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let whole = |pointer: &str| {
        let inner = value.pointer(pointer)?;
        Some(inner.as_str().map_or_else(|| inner.to_string(), str::to_owned))
    };
    let (call, text) = if value.get("role").is_some_and(|role| role == "tool") {
        (text("/tool_call_id"), text_of(value))
    } else if is_kind("function_call_output") {
        (text("/call_id"), whole("/output")?)
    } else if is_kind("tool_result") {
        (text("/tool_use_id"), text_of(value))
    } else {
        let answer = whole("/functionResponse/response")?;
        (text("/functionResponse/id"), answer)
    };
    Some(AnsweredCall { call, text })
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
    fn answers_of_tools_are_found_on_every_wire() {
        let wires = [
            json!({ "messages": [{ "role": "user", "content": "state" },
                { "role": "tool", "tool_call_id": "c1", "content": "data" }] }),
            json!({ "messages": [{ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "content": [{ "type": "text", "text": "data" }] }] }] }),
            json!({ "input": [{ "type": "function_call_output", "call_id": "c1", "output": "data" }] }),
            json!({ "contents": [{ "role": "user", "parts": [
                { "functionResponse": { "id": "c1", "name": "t", "response": "data" } }] }] }),
        ];
        for request in wires {
            let expected = AnsweredCall {
                call: Some("c1".to_owned()),
                text: "data".to_owned(),
            };
            assert_eq!(tool_answers(&request), [expected], "{request}");
        }
    }

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
