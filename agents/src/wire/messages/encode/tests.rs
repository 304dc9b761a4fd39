//! Requests as Anthropic wants them.

use super::*;
use crate::chat::{ChatRequest, Sampling, Thinking};
use crate::dialect::Pinned;
use crate::wire_format::Wire;
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use std::sync::Arc;

fn text(request: &ChatRequest, dialect: &Dialect) -> String {
    String::from_utf8(Wire::Messages.encode(request, dialect).body().to_vec()).unwrap()
}

fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        description: "Does.",
        parameters: Schema::of::<Vec<bool>>(),
    }
}

fn bare(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "m".to_owned(),
        messages,
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        reply_format: ReplyFormat::Free,
        thinking: Thinking::VendorDefault,
        sampling: Sampling::default(),
        cache_key: Some("k".to_owned()),
    }
}

fn user(text: &'static str) -> Message {
    Message::User(Prompt::new().text(text))
}

fn turn(content: &str) -> Message {
    let reply = format!(
        r#"{{"content":{content},"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":9}}}}"#
    );
    let decoded = Wire::Messages.decode(200, reply.as_bytes(), &Dialect::plain());
    Message::Assistant(Arc::new(decoded.unwrap()))
}

fn result(call_id: &str, label: &'static str) -> Message {
    Message::Tool {
        call_id: CallId(call_id.to_owned()),
        content: Payload::label(label),
    }
}

#[test]
fn a_full_request_has_these_bytes() {
    let mut dialect = Dialect::plain();
    dialect.cache.breakpoints = true;
    dialect.parallel_flag = true;
    dialect.temperature.pinned = Pinned::WhileThinking;
    dialect.thinking.off =
        serde_json::from_str(r#"{"thinking":{"type":"disabled"},"output_config":{"effort":"low"}}"#).unwrap();
    let request = ChatRequest {
        tools: Arc::from([tool("look"), tool("submit_action")]),
        tool_choice: ToolChoice::Named("submit_action"),
        reply_format: ReplyFormat::Arguments(tool("submit_action")),
        thinking: Thinking::Off,
        sampling: Sampling {
            temperature: Some(0.5),
            seed: Some(7),
            max_output_tokens: Some(256),
        },
        ..bare(vec![
            Message::System(Prompt::new().text("Trade.")),
            user("Day 1"),
            Message::System(Prompt::new().text("Briefly.")),
        ])
    };
    insta::assert_snapshot!(text(&request, &dialect), @r#"{"max_tokens":256,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"Day 1","type":"text"}],"role":"user"}],"model":"m","output_config":{"effort":"low","format":{"schema":{"items":{"type":"boolean"},"type":"array"},"type":"json_schema"}},"system":[{"text":"Trade.","type":"text"},{"cache_control":{"type":"ephemeral"},"text":"Briefly.","type":"text"}],"temperature":0.5,"thinking":{"type":"disabled"},"tool_choice":{"disable_parallel_tool_use":true,"name":"submit_action","type":"tool"},"tools":[{"description":"Does.","input_schema":{"items":{"type":"boolean"},"type":"array"},"name":"look"},{"cache_control":{"type":"ephemeral"},"description":"Does.","input_schema":{"items":{"type":"boolean"},"type":"array"},"name":"submit_action"}]}"#);
    assert_eq!(Wire::Messages.encode(&request, &dialect).path(), "/v1/messages");
}

#[test]
fn roles_alternate_and_results_come_first() {
    let blocks = r#"[{"type":"thinking","thinking":"h\u006dm","signature":"c2ln"},{"type":"redacted_thinking","data":"x1"},{"type":"text","text":" "},{"type":"tool_use","id":"a","name":"t","input":{"n":1.50}},{"type":"tool_use","id":"b","name":"t","input":"{'n'"}]"#;
    let request = bare(vec![
        user("One."),
        user("Two."),
        turn(blocks),
        result("a", "good"),
        result("b", ""),
        user("Go on."),
        user(""),
    ]);
    insta::assert_snapshot!(text(&request, &Dialect::plain()), @r#"{"max_tokens":16384,"messages":[{"content":[{"text":"One.","type":"text"},{"text":"Two.","type":"text"}],"role":"user"},{"content":[{"type":"thinking","thinking":"h\u006dm","signature":"c2ln"},{"type":"redacted_thinking","data":"x1"},{"type":"tool_use","id":"a","name":"t","input":{"n":1.50}},{"type":"tool_use","id":"b","name":"t","input":{"INVALID_JSON":"{'n'"}}],"role":"assistant"},{"content":[{"content":[{"text":"good","type":"text"}],"tool_use_id":"a","type":"tool_result"},{"content":[],"is_error":true,"tool_use_id":"b","type":"tool_result"},{"text":"Go on.","type":"text"}],"role":"user"}],"model":"m"}"#);
}

#[test]
fn what_is_marked_is_the_end_of_tools_instructions_and_conversation() {
    let mut dialect = Dialect::plain();
    dialect.cache.breakpoints = true;
    let call = turn(r#"[{"type":"tool_use","id":"a","name":"t","input":{}}]"#);
    let request = ChatRequest {
        tools: Arc::from([tool("look"), tool("t")]),
        ..bare(vec![
            Message::System(Prompt::new().text("Trade.")),
            user("Day 1"),
            call,
            result("a", "good"),
        ])
    };
    let body: Value = serde_json::from_str(&text(&request, &dialect)).unwrap();
    for (pointer, is_marked) in [
        ("/tools/0", false),
        ("/tools/1", true),
        ("/system/0", true),
        ("/messages/0/content/0", false),
        ("/messages/1/content/0", false),
        ("/messages/2/content/0", true),
    ] {
        let mark = body.pointer(pointer).unwrap().get("cache_control");
        assert_eq!(mark.is_some(), is_marked, "{pointer}");
    }
    assert_eq!(body["max_tokens"], MAX_TOKENS_DEFAULT);
    assert!(body.get("temperature").is_none());
}

#[test]
fn withdrawn_tools_stay_defined_where_the_conversation_has_calls() {
    let withdrawn = |messages| ChatRequest {
        tools: Arc::from([tool("look"), tool("submit_action")]),
        tool_choice: ToolChoice::Withdrawn,
        ..bare(messages)
    };
    let body =
        |request: &ChatRequest| -> Value { serde_json::from_str(&text(request, &Dialect::plain())).unwrap() };
    let call = turn(r#"[{"type":"tool_use","id":"a","name":"look","input":{}}]"#);
    let after_calls = body(&withdrawn(vec![
        user("Day 1"),
        call,
        result("a", "good"),
        user("Decide."),
    ]));
    assert_eq!(after_calls["tools"].as_array().unwrap().len(), 2);
    assert_eq!(after_calls["tool_choice"], json!({ "type": "none" }));
    let without = body(&withdrawn(vec![user("Day 1")]));
    assert!(without.get("tools").is_none() && without.get("tool_choice").is_none());
}

#[test]
fn a_format_and_strict_tools_have_no_bounds() {
    let tool = ToolSpec {
        parameters: Schema::of::<Vec<u8>>(),
        ..tool("submit_action")
    };
    let request = ChatRequest {
        tools: Arc::from([tool.clone()]),
        reply_format: ReplyFormat::Arguments(tool),
        ..bare(vec![user("Day 1")])
    };
    let body = |strict_tools| -> Value {
        let dialect = Dialect {
            strict_tools,
            ..Dialect::plain()
        };
        serde_json::from_str(&text(&request, &dialect)).unwrap()
    };
    let closed = json!({ "type": "array", "items": { "type": "integer" } });
    let (strict, plain) = (body(Some(true)), body(None));
    assert_eq!(plain["output_config"]["format"]["schema"], closed);
    assert_eq!(strict["tools"][0]["input_schema"], closed);
    assert_eq!(plain["tools"][0]["input_schema"]["items"]["maximum"], 255);
}

#[test]
fn a_turn_does_not_end_in_thinking() {
    let cut = r#"[{"type":"text","text":"Well."},{"type":"thinking","thinking":"hm","signature":""}]"#;
    let request = bare(vec![user("One."), turn(cut), user("Go on.")]);
    let body: Value = serde_json::from_str(&text(&request, &Dialect::plain())).unwrap();
    assert_eq!(
        body["messages"][1]["content"],
        json!([{ "type": "text", "text": "Well." }])
    );
}
