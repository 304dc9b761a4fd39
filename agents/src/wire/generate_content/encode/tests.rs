//! Requests as Gemini wants them.

use super::*;
use crate::chat::{ChatRequest, Sampling, Thinking};
use crate::wire_format::Wire;
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use std::sync::Arc;

fn text(request: &ChatRequest, dialect: &Dialect) -> String {
    String::from_utf8(Wire::GenerateContent.encode(request, dialect).body().to_vec()).unwrap()
}

fn bare(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "m-1".to_owned(),
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

#[test]
fn a_full_request_has_these_bytes() {
    let mut dialect = Dialect::plain();
    dialect.thinking.on =
        serde_json::from_str(r#"{"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}}"#).unwrap();
    let tool = ToolSpec {
        name: "submit_action",
        description: "Submits.",
        parameters: Schema::of::<Vec<bool>>(),
    };
    let request = ChatRequest {
        tools: Arc::from([tool.clone()]),
        tool_choice: ToolChoice::Named("submit_action"),
        reply_format: ReplyFormat::Arguments(tool),
        thinking: Thinking::On,
        sampling: Sampling {
            temperature: Some(0.5),
            seed: Some(7),
            max_output_tokens: Some(256),
        },
        ..bare(vec![Message::System(Prompt::new().text("Trade.")), user("Day 1")])
    };
    insta::assert_snapshot!(text(&request, &dialect), @r#"{"contents":[{"parts":[{"text":"Day 1"}],"role":"user"}],"generationConfig":{"maxOutputTokens":256,"responseJsonSchema":{"items":{"type":"boolean"},"type":"array"},"responseMimeType":"application/json","seed":7,"temperature":0.5,"thinkingConfig":{"thinkingLevel":"low"}},"systemInstruction":{"parts":[{"text":"Trade."}]},"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["submit_action"],"mode":"ANY"}},"tools":[{"functionDeclarations":[{"description":"Submits.","name":"submit_action","parametersJsonSchema":{"items":{"type":"boolean"},"type":"array"}}]}]}"#);
    assert_eq!(
        Wire::GenerateContent.encode(&request, &dialect).path(),
        "/models/m-1:generateContent"
    );
}

#[test]
fn a_models_name_stays_in_its_place() {
    let mut request = bare(vec![user("Hi")]);
    request.model = "a/../b?key=1#é".to_owned();
    assert_eq!(
        Wire::GenerateContent.encode(&request, &Dialect::plain()).path(),
        "/models/a%2F..%2Fb%3Fkey%3D1%23%C3%A9:generateContent"
    );
    insta::assert_snapshot!(text(&request, &Dialect::plain()), @r#"{"contents":[{"parts":[{"text":"Hi"}],"role":"user"}]}"#);
}

#[test]
fn parts_go_back_as_they_came_and_answers_carry_names_and_the_vendors_ids() {
    let reply = r#"{"candidates":[{"content":{"role":"model","parts":[
        {"text":"h\u006dm","thought":true},{"text":""},{"text":"","thoughtSignature":"s0"},
        {"functionCall":{"name":"t","args":{"n":1.50}},"thoughtSignature":"s1"},
        {"functionCall":{"name":"u","id":"v1"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}"#;
    let turn = Wire::GenerateContent
        .decode(200, reply.as_bytes(), &Dialect::plain())
        .unwrap();
    let ids: Vec<CallId> = turn.tool_calls().iter().map(|call| call.id.clone()).collect();
    let answers = [
        Payload::map([("ok", Payload::bool(true))]),
        Payload::label("good"),
    ];
    let answers = ids
        .into_iter()
        .zip(answers)
        .map(|(call_id, content)| Message::Tool { call_id, content });
    let mut messages = vec![user("Day 1"), user("Go."), Message::Assistant(Arc::new(turn))];
    messages.extend(answers);
    messages.extend([user("Decide."), user("")]);
    insta::assert_snapshot!(text(&bare(messages), &Dialect::plain()), @r#"{"contents":[{"parts":[{"text":"Day 1"}],"role":"user"},{"parts":[{"text":"Go."}],"role":"user"},{"parts":[{"text":"h\u006dm","thought":true},{"text":"","thoughtSignature":"s0"},{"functionCall":{"name":"t","args":{"n":1.50}},"thoughtSignature":"s1"},{"functionCall":{"name":"u","id":"v1"}}],"role":"model"},{"parts":[{"functionResponse":{"name":"t","response":{"ok":true}}},{"functionResponse":{"id":"v1","name":"u","response":{"result":"good"}}}],"role":"user"},{"parts":[{"text":"Decide."}],"role":"user"}]}"#);
}
