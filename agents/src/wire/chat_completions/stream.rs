//! An event stream put together to the reply it stands for.

use crate::wire::events::Event;
use crate::wire::fault::ReplyFault;
use crate::wire::fault_kind::FaultKind;
use crate::wire::raw_object::RawObject;
use serde_json::{Map, Value, json};

/// The reply whose pieces `events` are.
///
/// # Errors
/// [`ReplyFault`] for an error among the events, and [`FaultKind::StreamTruncated`] when the stream ends before the
/// model did.
pub(in crate::wire) fn assemble(status: u16, events: &[Event]) -> Result<RawObject, ReplyFault> {
    let mut reply = Map::new();
    let (mut message, mut finish, mut native) = (Map::new(), Value::Null, Value::Null);
    for event in events.iter().filter(|event| event.data != "[DONE]") {
        if let Some(fault) =
            RawObject::read(&event.data).and_then(|chunk| ReplyFault::of_inner_error(status, &chunk))
        {
            return Err(fault);
        }
        let Ok(Value::Object(chunk)) = serde_json::from_str(&event.data) else {
            continue;
        };
        let choice = chunk.get("choices").and_then(first_choice);
        if let Some(choice) =
            choice.filter(|choice| choice.get("error").is_some_and(|error| !error.is_null()))
        {
            let fault = RawObject::read(&choice.to_string())
                .and_then(|choice| ReplyFault::of_inner_error(status, &choice));
            return Err(fault.unwrap_or_else(|| ReplyFault::new(FaultKind::ServerError, status, "")));
        }
        if let Some(Value::Object(delta)) = choice.and_then(|choice| choice.get("delta")) {
            delta
                .iter()
                .for_each(|(key, piece)| add(&mut message, key, piece));
        }
        if let Some(reason) = choice
            .and_then(|choice| choice.get("finish_reason"))
            .filter(|it| !it.is_null())
        {
            finish = reason.clone();
        }
        if let Some(reason) = choice
            .and_then(|choice| choice.get("native_finish_reason"))
            .filter(|it| !it.is_null())
        {
            native = reason.clone();
        }
        for (key, value) in chunk {
            if key != "choices" && !value.is_null() {
                reply.insert(key, value);
            }
        }
    }
    if finish.is_null() {
        let what = "the stream ended without a finish reason";
        return Err(ReplyFault::new(FaultKind::StreamTruncated, status, what));
    }
    if let Some(Value::Array(calls)) = message.get_mut("tool_calls") {
        calls
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|call| {
                call.remove("index");
            });
    }
    reply.insert(
        "choices".to_owned(),
        json!([{ "finish_reason": finish, "index": 0, "message": message, "native_finish_reason": native }]),
    );
    RawObject::read(&Value::Object(reply).to_string())
        .ok_or_else(|| ReplyFault::new(FaultKind::NotJson, status, "the stream's pieces make no reply"))
}

/// The piece of the first reply, however many were asked for. Some servers leave the index out.
fn first_choice(choices: &Value) -> Option<&Value> {
    choices
        .as_array()?
        .iter()
        .find(|choice| choice.get("index").is_none_or(|index| index == 0))
}

/// Adds a piece of a message: texts are joined, calls found by their index, other lists extended.
fn add(message: &mut Map<String, Value>, key: &str, piece: &Value) {
    match (message.get_mut(key), piece) {
        (_, Value::Null) => {}
        (Some(Value::Array(calls)), Value::Array(pieces)) if key == "tool_calls" => {
            for piece in pieces {
                add_call(calls, piece);
            }
        }
        (None, Value::Array(pieces)) if key == "tool_calls" => {
            let mut calls = Vec::new();
            for piece in pieces {
                add_call(&mut calls, piece);
            }
            message.insert(key.to_owned(), Value::Array(calls));
        }
        (Some(Value::String(text)), Value::String(more))
            if !matches!(key, "role" | "id" | "type" | "name") =>
        {
            text.push_str(more);
        }
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
        (Some(Value::Object(object)), Value::Object(more)) => {
            more.iter().for_each(|(key, piece)| add(object, key, piece));
        }
        (_, piece) => {
            message.insert(key.to_owned(), piece.clone());
        }
    }
}

/// Adds a piece of a call to the call of its index; a piece without an index belongs to the last call unless it
/// brings an id.
fn add_call(calls: &mut Vec<Value>, piece: &Value) {
    let Some(members) = piece.as_object() else {
        return;
    };
    let index = members.get("index").and_then(Value::as_u64);
    let place = match index {
        Some(index) => calls
            .iter()
            .position(|call| call.get("index").and_then(Value::as_u64) == Some(index)),
        None if members.get("id").is_none_or(Value::is_null) => calls.len().checked_sub(1),
        None => None,
    };
    let place = place.unwrap_or_else(|| {
        calls.push(Value::Object(Map::new()));
        calls.len() - 1
    });
    if let Some(Value::Object(call)) = calls.get_mut(place) {
        members.iter().for_each(|(key, piece)| add(call, key, piece));
    }
}

#[cfg(test)]
mod tests {
    use crate::chat::StopReason;
    use crate::dialect::Dialect;
    use crate::wire::FaultKind;
    use crate::wire_format::Wire;

    fn decode(body: &str) -> Result<crate::ModelTurn, crate::ReplyFault> {
        Wire::ChatCompletions.decode(200, body.as_bytes(), &Dialect::plain())
    }

    #[test]
    fn pieces_make_the_reply_they_stand_for() {
        let turn = decode(concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Bu\",\"reasoning_content\":\"be\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"y.\",\"reasoning_content\":\"cause\",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"t\",\"arguments\":\"{\\\"x\\\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}},{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"u\",\"arguments\":\"{}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n",
            "data: [DONE]\n\n",
        ))
        .unwrap();
        assert_eq!((turn.text(), turn.reasoning()), (Some("Buy."), Some("because")));
        let calls: Vec<_> = turn
            .tool_calls()
            .iter()
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(calls, [("a", "t", "{\"x\":1}"), ("b", "u", "{}")]);
        assert_eq!(turn.stop(), StopReason::ToolCalls);
        assert_eq!((turn.usage().input(), turn.usage().output()), (9, 4));
        assert!(!turn.raw().get().contains("index"));
    }

    #[test]
    fn one_reply_of_several_is_read() {
        let turn = decode(concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Bu\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"Sell\"},\"finish_reason\":\"length\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"y.\"},\"finish_reason\":\"stop\"}]}\n\n",
        ))
        .unwrap();
        assert_eq!((turn.text(), turn.stop()), (Some("Buy."), StopReason::Stop));
    }

    #[test]
    fn a_stream_that_breaks_off_or_fails_is_the_providers_fault() {
        let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I w\"}}]}\n\n";
        assert_eq!(decode(cut).unwrap_err().kind(), FaultKind::StreamTruncated);
        let failed = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
        assert_eq!(decode(failed).unwrap_err().kind(), FaultKind::Overloaded);
        let inner = "data: {\"choices\":[{\"error\":{\"code\":502},\"delta\":{}}]}\n\n";
        assert_eq!(decode(inner).unwrap_err().kind(), FaultKind::BadGateway);
    }
}
