//! Open conversations over every wire.

use crate::{OpenPayload, OpenPlan, OpenPrompt, OpenRequest, OpenSession, OpenTexts};
use ktd_agents::{
    Attempt, Dialect, ForceLevel, ModelTurn, Outcome, Research, ResearchEffect, Sampling, SessionLimits,
    Submission, SubmissionEffect, ThinkingPolicy, ToolAnswer, Wire,
};
use ktd_masking::{Payload, Prompt, Schema, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool that submits in these tests.
const SUBMIT: &str = "submit_code";

/// Texts that break whatever puts them into JSON by hand.
const TASK: &str = "Rank by \"turnover\" \\ of 600519.SH.\r\n\tReturn {\"code\": …}\u{0}\u{2028}";
const TRACEBACK: &str =
    "File \"factor.py\", line 3\n    return {'a': \"b\"\nSyntaxError: '{' was never closed";
const FORMULA: &str = "{\"error\": \"Corr($close, \\\"贵州茅台\\\", 5)\"}";

fn tool(name: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        description: "Takes a text.",
        parameters: Schema::of::<Vec<bool>>(),
    }
}

fn feedback(attempt: Attempt) -> OpenPayload {
    OpenPayload::map([
        ("error", Payload::label(attempt.fault.code()).into()),
        ("formula", OpenPayload::outside(FORMULA)),
    ])
}

fn plan() -> OpenPlan {
    OpenPlan {
        model: "m".to_owned(),
        sampling: Sampling::default(),
        tools: Arc::from([tool("run_code")]),
        submission: tool(SUBMIT),
        force: ForceLevel::Named,
        thinking: ThinkingPolicy::VendorDefault,
        cache_key: None,
        system: Prompt::new().text("Write code.").into(),
        user: OpenPrompt::new().text("The task: ").outside(TASK),
        texts: OpenTexts {
            close: OpenPrompt::new().text("Submit now."),
            budget_used_up: Payload::label("budget used up").into(),
            not_yet: Payload::label("not yet").into(),
            feedback,
        },
        limits: SessionLimits {
            max_tool_calls: 2,
            schema_retries: 2,
        },
    }
}

/// A turn that calls `name` once, or says a sentence.
fn turn(wire: Wire, name: Option<&str>) -> ModelTurn {
    let arguments = json!({ "code": "pass" });
    let text = arguments.to_string();
    let body = match (wire, name) {
        (Wire::ChatCompletions, Some(name)) => json!({ "choices": [{ "message": {
            "role": "assistant", "content": null,
            "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": name, "arguments": text } }],
        } }] }),
        (Wire::ChatCompletions, None) => json!({ "choices": [{ "message": { "content": "Done." } }] }),
        (Wire::Responses, Some(name)) => json!({ "status": "completed", "output": [
            { "type": "function_call", "id": "f1", "call_id": "c1", "name": name, "arguments": text },
        ] }),
        (Wire::Responses, None) => json!({ "status": "completed", "output": [
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] },
        ] }),
        (Wire::Messages, Some(name)) => json!({ "stop_reason": "tool_use", "content": [
            { "type": "tool_use", "id": "c1", "name": name, "input": arguments },
        ] }),
        (Wire::Messages, None) => json!({ "stop_reason": "end_turn", "content": [
            { "type": "text", "text": "Done." },
        ] }),
        (Wire::GenerateContent, Some(name)) => json!({ "candidates": [{ "content": { "parts": [
            { "functionCall": { "name": name, "args": arguments } },
        ] } }] }),
        (Wire::GenerateContent, None) => json!({ "candidates": [{ "content": { "parts": [
            { "text": "Done." },
        ] } }] }),
    };
    let body = body.to_string();
    wire.decode(200, body.as_bytes(), &Dialect::plain()).unwrap()
}

/// Every text of a request's body, those inside of JSON texts not among them.
fn texts(wire: Wire, request: &OpenRequest) -> Vec<String> {
    fn gather(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
            Value::Object(members) => members.values().for_each(|member| gather(member, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let sent = wire.encode(request, &Dialect::plain());
    let mut found = Vec::new();
    gather(&serde_json::from_slice(sent.body()).unwrap(), &mut found);
    found
}

/// A session whose one tool call was answered with a traceback, and its last request of research.
fn researched(wire: Wire) -> (OpenSession<Research>, OpenRequest) {
    let mut session = OpenSession::research(plan());
    session.feed_turn(turn(wire, Some("run_code"))).unwrap();
    let answer = ToolAnswer::Data(OpenPayload::outside(TRACEBACK));
    session.feed_tool_answer(answer).unwrap();
    let ResearchEffect::Ask(request) = session.next() else {
        panic!("asks again")
    };
    (session, request)
}

#[test]
fn outside_text_arrives_as_it_is_over_every_wire() {
    for wire in Wire::ALL {
        let (_, request) = researched(wire);
        let found = texts(wire, &request);
        for wanted in ["Write code.", &format!("The task: {TASK}"), TRACEBACK] {
            assert!(
                found.iter().any(|text| text == wanted),
                "{wire:?}: {wanted:?} is not among {found:#?}"
            );
        }
    }
}

#[test]
fn feedback_keeps_outside_text_inside_its_json() {
    for wire in Wire::ALL {
        let mut session = OpenSession::<Submission>::submission(plan());
        session.feed_turn(turn(wire, None)).unwrap();
        let SubmissionEffect::Ask(request) = session.next() else {
            panic!("asks again")
        };
        let found = texts(wire, &request);
        let wanted = json!({ "error": "no_tool_call", "formula": FORMULA });
        let is_wanted = |text: &String| serde_json::from_str::<Value>(text).is_ok_and(|it| it == wanted);
        assert!(found.iter().any(is_wanted), "{wire:?}: {found:#?}");
    }
}

#[test]
fn an_open_step_ends_in_what_its_own_tool_submits() {
    for wire in Wire::ALL {
        let (mut session, _) = researched(wire);
        session.feed_turn(turn(wire, None)).unwrap();
        let mut session = session.close().unwrap();
        session.feed_turn(turn(wire, Some(SUBMIT))).unwrap();
        session.reject(&OpenPayload::outside(TRACEBACK)).unwrap();
        session.feed_turn(turn(wire, Some(SUBMIT))).unwrap();
        session.accept().unwrap();
        let (outcome, tally) = session.outcome().unwrap();
        let Outcome::Submitted { arguments, .. } = outcome else {
            panic!("{wire:?}: {outcome:?}")
        };
        assert_eq!(arguments, r#"{"code":"pass"}"#, "{wire:?}");
        assert_eq!((tally.tool_calls_answered, tally.submissions), (1, 2), "{wire:?}");
    }
}

#[test]
fn payloads_are_bare_inside_a_sentence_and_quoted_as_json() {
    let outside = OpenPayload::outside("a \"b\"\n");
    let both = OpenPayload::map([
        (
            "list",
            OpenPayload::list([outside.clone(), Payload::null().into()]),
        ),
        ("day", Payload::label("day_+1").into()),
    ]);
    assert_eq!(outside.to_inline(), "a \"b\"\n");
    assert_eq!(outside.to_json(), r#""a \"b\"\n""#);
    assert_eq!(both.to_inline(), r#"{"list":["a \"b\"\n",null],"day":"day_+1"}"#);
    assert_eq!(both.to_inline(), both.to_json());
    assert_eq!(OpenPayload::from(Payload::label("day_+1")).to_inline(), "day_+1");
    let prompt = OpenPrompt::new().text("Why ").payload(&outside);
    assert_eq!(prompt.as_str(), "Why a \"b\"\n");
    assert_eq!(OpenPrompt::from(both.clone()).as_str(), both.to_json());
}

#[test]
fn slots_are_filled_once() {
    let filled = |slots: &[(&str, &str)]| {
        OpenPrompt::new()
            .filled("{{ a }} and {{b}}, {{c}} {{\n", slots)
            .as_str()
            .to_owned()
    };
    assert_eq!(filled(&[("a", "{{b}}"), ("b", "2")]), "{{b}} and 2, {{c}} {{");
}
