//! From a neutral request to Chat Completions bytes.

use crate::chat::{Message, ReplyFormat, ToolChoice};
use crate::dialect::{Dialect, JsonFormat, MaxTokens};
use crate::wire::WireRequest;
use crate::wire::body::{Body, Sorted, merge_thinking};
use crate::wire::schema::emit;
use crate::wire::text::{TextMessage, TextRequest};
use ktd_masking::ToolSpec;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The path below the base URL.
const PATH: &str = "/chat/completions";

/// The bytes of `request`: keys sorted, no white space, schemas with sorted keys, the model's turns as they came.
///
/// `tool_choice` is left out when there is no tool.
pub(in crate::wire) fn encode(request: &TextRequest, dialect: &Dialect) -> WireRequest {
    let mut body = Body::default();
    body.put("messages", &request.messages.iter().map(Line).collect::<Vec<_>>());
    body.put("model", &request.model);
    body.put_some("seed", request.sampling.seed.filter(|_| dialect.seed));
    body.put_some("temperature", dialect.temperature_for(request));
    let max_tokens = match dialect.max_tokens {
        MaxTokens::MaxCompletionTokens => "max_completion_tokens",
        MaxTokens::MaxTokens => "max_tokens",
    };
    body.put_some(max_tokens, request.sampling.max_output_tokens);
    if !request.shown_tools().is_empty() {
        body.put("tool_choice", &Choice(request.tool_choice));
        let strict = dialect.strict_tools;
        let tools = request.shown_tools().iter().map(|spec| Tool { spec, strict });
        body.put("tools", &tools.collect::<Vec<_>>());
        let forces = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_));
        body.put_some(
            "parallel_tool_calls",
            (forces && dialect.parallel_flag).then_some(false),
        );
    }
    if let Some(format) = response_format(&request.reply_format, dialect.json) {
        body.put("response_format", &Sorted(&format));
    }
    let cache_key = request.cache_key.as_ref().filter(|_| dialect.cache.key);
    body.put_some("prompt_cache_key", cache_key);
    body.merge(&dialect.body);
    merge_thinking(&mut body, request.thinking, dialect);
    WireRequest::new(PATH.to_owned(), body.bytes(), request.sampling.max_output_tokens)
}

fn response_format(format: &ReplyFormat, json: JsonFormat) -> Option<Value> {
    let ReplyFormat::Arguments(tool) = format else {
        return None;
    };
    match json {
        JsonFormat::None => None,
        JsonFormat::Object => Some(json!({ "type": "json_object" })),
        JsonFormat::Schema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": tool.name, "schema": tool.parameters.as_value() },
        })),
        JsonFormat::StrictSchema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": tool.name, "schema": emit(tool.parameters.as_value(), true), "strict": true },
        })),
    }
}

struct Line<'a>(&'a TextMessage);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (role, content, call_id) = match self.0 {
            Message::Assistant(turn) => return turn.raw().serialize(serializer),
            Message::System(prompt) => ("system", prompt, None),
            Message::User(prompt) => ("user", prompt, None),
            Message::Tool { call_id, content } => ("tool", content, Some(call_id)),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", content)?;
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
            ToolChoice::None | ToolChoice::Withdrawn => serializer.serialize_str("none"),
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

struct Tool<'a> {
    spec: &'a ToolSpec,
    strict: Option<bool>,
}

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("function", &Function(self))?;
        map.serialize_entry("type", "function")?;
        map.end()
    }
}

struct Function<'a>(&'a Tool<'a>);

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Tool { spec, strict } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("description", spec.description)?;
        map.serialize_entry("name", spec.name)?;
        if *strict == Some(true) {
            let parameters = emit(spec.parameters.as_value(), true);
            map.serialize_entry("parameters", &Sorted(&parameters))?;
        } else {
            // The same bytes, which go out with every request.
            map.serialize_entry("parameters", spec.parameters.as_text())?;
        }
        if let Some(strict) = strict {
            map.serialize_entry("strict", strict)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CallId, ChatRequest, Sampling, Thinking};
    use crate::wire_format::Wire;
    use ktd_masking::{Payload, Prompt, Schema};
    use std::sync::Arc;

    fn text(request: &ChatRequest) -> String {
        String::from_utf8(
            Wire::ChatCompletions
                .encode(request, &Dialect::plain())
                .body()
                .to_vec(),
        )
        .unwrap()
    }

    fn bare(messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            model: "test-model".to_owned(),
            messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::Auto,
            reply_format: ReplyFormat::Free,
            thinking: Thinking::VendorDefault,
            sampling: Sampling::default(),
            cache_key: None,
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
        assert_eq!(
            Wire::ChatCompletions.encode(&request, &Dialect::plain()).path(),
            "/chat/completions"
        );
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
        let turn = Wire::ChatCompletions
            .decode(200, reply, &Dialect::plain())
            .unwrap();
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
