//! From a neutral request to Chat Completions bytes.

use crate::chat::{ChatRequest, Message, ToolChoice};
use crate::wire::WireRequest;
use ktd_masking::ToolSpec;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The bytes of `request`: keys sorted, no white space, schemas with sorted keys, the model's turns as they came.
///
/// The same request gives the same bytes on every machine. `tool_choice` is left out when there is no tool.
#[must_use]
pub fn encode(request: &ChatRequest) -> WireRequest {
    let has_tools = !request.tools.is_empty();
    let body = Body {
        max_completion_tokens: request.sampling.max_output_tokens,
        messages: request.messages.iter().map(Line).collect(),
        model: &request.model,
        seed: request.sampling.seed,
        temperature: request.sampling.temperature.filter(|value| value.is_finite()),
        tool_choice: has_tools.then_some(Choice(request.tool_choice)),
        tools: request.tools.iter().map(Tool).collect(),
    };
    // Texts, finite numbers and JSON that was parsed before cannot fail to serialise.
    WireRequest::new(super::PATH, serde_json::to_vec(&body).unwrap_or_default())
}

#[derive(serde::Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    messages: Vec<Line<'a>>,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

struct Line<'a>(&'a Message);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (role, content, call_id) = match self.0 {
            Message::Assistant(turn) => return turn.raw().serialize(serializer),
            Message::System(prompt) => ("system", prompt.render(), None),
            Message::User(prompt) => ("user", prompt.render(), None),
            Message::Tool { call_id, content } => ("tool", content.to_inline(), Some(call_id)),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &content)?;
        map.serialize_entry("role", role)?;
        if let Some(call_id) = call_id {
            map.serialize_entry("tool_call_id", call_id.as_str())?;
        }
        map.end()
    }
}

struct Choice(ToolChoice);

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            ToolChoice::Auto => serializer.serialize_str("auto"),
            ToolChoice::None => serializer.serialize_str("none"),
            ToolChoice::Required => serializer.serialize_str("required"),
            ToolChoice::Named(name) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("function", &BTreeMap::from([("name", name)]))?;
                map.serialize_entry("type", "function")?;
                map.end()
            }
        }
    }
}

struct Tool<'a>(&'a ToolSpec);

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("function", &Function(self.0))?;
        map.serialize_entry("type", "function")?;
        map.end()
    }
}

struct Function<'a>(&'a ToolSpec);

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("description", self.0.description)?;
        map.serialize_entry("name", self.0.name)?;
        map.serialize_entry("parameters", &Sorted(self.0.parameters.as_value()))?;
        map.end()
    }
}

/// JSON with sorted keys, whatever order `serde_json`'s map keeps in this build.
struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(object) = self.0.as_object() {
            let sorted: BTreeMap<_, _> = object.iter().map(|(key, value)| (key, Sorted(value))).collect();
            return sorted.serialize(serializer);
        }
        if let Some(items) = self.0.as_array() {
            return serializer.collect_seq(items.iter().map(Sorted));
        }
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CallId, Sampling};
    use crate::wire::openai::decode;
    use ktd_masking::{Payload, Prompt, Schema};
    use std::sync::Arc;

    fn text(request: &ChatRequest) -> String {
        String::from_utf8(encode(request).body().to_vec()).unwrap()
    }

    fn bare(messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            model: "test-model".to_owned(),
            messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::Auto,
            sampling: Sampling::default(),
        }
    }

    #[test]
    fn a_full_request_has_these_bytes() {
        let request = ChatRequest {
            tools: Arc::from([ToolSpec {
                name: "submit_action",
                description: "Submits.",
                parameters: Schema::of::<Vec<bool>>(),
            }]),
            tool_choice: ToolChoice::Named("submit_action"),
            sampling: Sampling {
                temperature: Some(0.5),
                seed: Some(u64::MAX),
                max_output_tokens: Some(256),
            },
            ..bare(vec![
                Message::System(Prompt::new().text("Trade.")),
                Message::User(Prompt::new().text("Day ").payload(Payload::label("day_+1"))),
            ])
        };
        insta::assert_snapshot!(text(&request), @r#"{"max_completion_tokens":256,"messages":[{"content":"Trade.","role":"system"},{"content":"Day day_+1","role":"user"}],"model":"test-model","seed":18446744073709551615,"temperature":0.5,"tool_choice":{"function":{"name":"submit_action"},"type":"function"},"tools":[{"function":{"description":"Submits.","name":"submit_action","parameters":{"items":{"type":"boolean"},"type":"array"}},"type":"function"}]}"#);
        assert_eq!(encode(&request).path(), "/chat/completions");
    }

    #[test]
    fn without_tools_there_is_no_tool_choice_and_no_sampling_unless_asked() {
        let request = bare(vec![Message::User(Prompt::new().text("Hello"))]);
        insta::assert_snapshot!(text(&request), @r#"{"messages":[{"content":"Hello","role":"user"}],"model":"test-model"}"#);
    }

    #[test]
    fn a_turn_goes_back_with_its_opaque_fields_and_tool_results_follow() {
        let reply = br#"{"choices":[{"message":{"role":"assistant","content":null,"reasoning_content":"h\u006dm",
            "x_seal":{"n":1.50},"tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}]}}]}"#;
        let turn = decode(200, reply).unwrap();
        let request = bare(vec![
            Message::Assistant(Arc::new(turn)),
            Message::Tool {
                call_id: CallId("c1".to_owned()),
                content: Payload::map([("ok", Payload::bool(true))]),
            },
        ]);
        insta::assert_snapshot!(text(&request), @r#"{"messages":[{"role":"assistant","content":null,"reasoning_content":"h\u006dm","x_seal":{"n":1.50},"tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}]},{"content":"{\"ok\":true}","role":"tool","tool_call_id":"c1"}],"model":"test-model"}"#);
    }

    #[test]
    fn schemas_are_written_with_sorted_keys() {
        let value: Value = serde_json::from_str(r#"{"b":[{"d":1,"c":2}],"a":null}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&Sorted(&value)).unwrap(),
            r#"{"a":null,"b":[{"c":2,"d":1}]}"#
        );
    }
}
