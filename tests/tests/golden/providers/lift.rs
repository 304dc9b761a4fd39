//! From recorded JSON to our own request types. Lifting is strict: what our types do not express has a name.

use ktd_agents::{CallId, ChatRequest, Message, ModelTurn, ReplyFormat, Sampling, Thinking, ToolChoice};
use ktd_masking::{Count, Payload, Prompt, Schema, ToolSpec};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

/// What of a request our types do not express.
pub(crate) type Unlike = &'static str;

/// A recorded text in the place of a compiled-in one.
#[expect(
    clippy::disallowed_methods,
    reason = "in these tests recorded texts stand for the program's own"
)]
pub(crate) fn fixed(text: &str) -> &'static str {
    String::from(text).leak()
}

/// The text of a member, as a compiled-in one.
pub(crate) fn fixed_member(object: &Value, key: &str) -> &'static str {
    fixed(object[key].as_str().unwrap())
}

pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt::new().text(fixed(text))
}

/// A payload that is this JSON.
pub(crate) fn payload(value: &Value) -> Result<Payload, Unlike> {
    Ok(match value {
        Value::Null => Payload::null(),
        Value::Bool(value) => Payload::bool(*value),
        Value::String(text) => Payload::from(prompt(text)),
        Value::Number(number) => {
            let whole = number.as_u64().and_then(|number| usize::try_from(number).ok());
            Payload::from(Count::of(whole.ok_or("a payload with a negative number")?))
        }
        Value::Array(items) => Payload::list(items.iter().map(payload).collect::<Result<Vec<_>, _>>()?),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| Ok((fixed(key), payload(value)?)));
            Payload::map(members.collect::<Result<Vec<_>, Unlike>>()?)
        }
    })
}

thread_local! {
    static RECORDED: RefCell<Value> = const { RefCell::new(Value::Null) };
}

struct Recorded;

impl schemars::JsonSchema for Recorded {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Recorded")
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RECORDED.with_borrow(|value| schemars::Schema::try_from(value.clone()).unwrap())
    }
}

/// The recorded schema as our own: without titles and Rust's number formats.
pub(crate) fn schema(value: &Value) -> Schema {
    RECORDED.set(value.clone());
    Schema::of::<Recorded>()
}

/// A tool; its schema in `value` is replaced by ours, which may lack a title.
pub(crate) fn tool(value: &mut Value, key: &str) -> ToolSpec {
    let parameters = schema(&value[key]);
    value[key] = parameters.as_value().clone();
    ToolSpec {
        name: fixed_member(value, "name"),
        description: fixed_member(value, "description"),
        parameters,
    }
}

/// Takes members out of an object; absent and null are one.
pub(crate) fn strip(object: &mut Value, keys: &[&str]) {
    if let Some(members) = object.as_object_mut() {
        members.retain(|key, value| !keys.contains(&key.as_str()) && !value.is_null());
    }
}

/// Takes a member out, wherever it is; tells whether it was anywhere.
pub(crate) fn strip_deep(value: &mut Value, key: &str) -> bool {
    let mut had = false;
    if let Some(members) = value.as_object_mut() {
        had = members.remove(key).is_some();
        members
            .values_mut()
            .for_each(|value| had |= strip_deep(value, key));
    }
    if let Some(items) = value.as_array_mut() {
        for value in items {
            had |= strip_deep(value, key);
        }
    }
    had
}

/// The model's last turn.
pub(crate) fn last_turn(messages: &[Message]) -> Option<&ModelTurn> {
    messages.iter().rev().find_map(|message| match message {
        Message::Assistant(turn) => Some(&**turn),
        Message::System(_) | Message::User(_) | Message::Tool { .. } => None,
    })
}

/// Whether an object has these members and no others.
pub(crate) fn has_only(object: &Value, keys: &[&str]) -> bool {
    object
        .as_object()
        .is_some_and(|members| members.keys().all(|key| keys.contains(&key.as_str())))
}

/// The members of a list, none where it is absent.
pub(crate) fn items<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}

/// A request that says nothing yet.
pub(crate) fn empty(model: &str, messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: model.to_owned(),
        messages,
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        reply_format: ReplyFormat::Free,
        thinking: Thinking::VendorDefault,
        sampling: Sampling::default(),
        cache_key: None,
    }
}

/// The switch that merges one member into the body.
pub(crate) fn switch(key: &str, value: &Value) -> Option<Map<String, Value>> {
    json!({ key: value }).as_object().cloned()
}

/// A reply format of this schema.
pub(crate) fn reply_format(schema_of: &mut Value) -> ReplyFormat {
    named_format(schema_of, "recorded")
}

/// A reply format of this schema and name; the schema in `schema_of` is replaced by ours, which may lack a title.
pub(crate) fn named_format(schema_of: &mut Value, name: &'static str) -> ReplyFormat {
    let parameters = schema(schema_of);
    *schema_of = parameters.as_value().clone();
    ReplyFormat::Arguments(ToolSpec {
        name,
        description: "",
        parameters,
    })
}

/// The text that is the one part, of that kind, of a content.
pub(crate) fn text_of<'a>(content: &'a Value, kind: &str) -> Result<&'a str, Unlike> {
    match content.as_array().map(Vec::as_slice) {
        Some([part]) if part["type"] == kind && has_only(part, &["type", "text"]) => {
            Ok(part["text"].as_str().unwrap())
        }
        _ => Err("a content of several parts, or of a part that is no text"),
    }
}

/// The call of that id in the turns before.
pub(crate) fn call_id(before: &[Message], id: &Value) -> Result<CallId, Unlike> {
    let turns = before.iter().rev().filter_map(|message| match message {
        Message::Assistant(turn) => Some(turn),
        Message::System(_) | Message::User(_) | Message::Tool { .. } => None,
    });
    let mut calls = turns.flat_map(|turn| turn.tool_calls());
    let call = calls.find(|call| call.id.as_str() == id);
    call.map(|call| call.id.clone())
        .ok_or("an answer to a call that no turn before made")
}

/// What both `OpenAI` wires say of tools. A free choice is written out by us and left out, or null, with others: by
/// the vendor's specification it is the default where there are tools.
pub(crate) fn tool_choice(recorded: &mut Value) -> Result<ToolChoice, Unlike> {
    if recorded.get("tools").is_none() {
        return match recorded.get("tool_choice") {
            Some(_) => Err("a choice without tools"),
            None => Ok(ToolChoice::Auto),
        };
    }
    let choice = recorded
        .as_object_mut()
        .unwrap()
        .entry("tool_choice")
        .or_insert_with(|| json!("auto"));
    match choice.as_str() {
        Some("auto") => Ok(ToolChoice::Auto),
        Some("none") => Ok(ToolChoice::None),
        Some("required") => Ok(ToolChoice::Required),
        _ => {
            let named = [&choice["name"], &choice["function"]["name"]];
            let name = named.into_iter().find_map(Value::as_str);
            name.map(|name| ToolChoice::Named(fixed(name)))
                .ok_or("a choice among several tools")
        }
    }
}
