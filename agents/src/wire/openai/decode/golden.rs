//! The decoder against faults seen in the wild and against recorded replies of real vendors.

use super::*;
use crate::wire::FaultClass;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;

/// A golden file's bytes, or `None` with a word about it where the golden files are not at hand.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test reads its own inputs and says when it could not"
)]
fn golden(name: &str) -> Option<Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden");
    let root = std::env::var_os("KTD_GOLDEN").map_or_else(beside, PathBuf::from);
    let bytes = std::fs::read(root.join("providers").join(name)).ok();
    if bytes.is_none() {
        eprintln!("skipped: {name} is not at hand");
    }
    bytes
}

/// The reply a golden case describes.
fn body_of(case: &Value) -> Vec<u8> {
    if let Some(raw) = case["raw"].as_str().or_else(|| case["sse"][0].as_str()) {
        return raw.as_bytes().to_vec();
    }
    if !case["body"].is_null() {
        return case["body"].to_string().into_bytes();
    }
    let call = |id: &str| {
        let arguments = if case["args_object"].is_null() {
            &case["args"]
        } else {
            &case["args_object"]
        };
        let name = case["name"].as_str().unwrap_or("submit_action");
        serde_json::json!({"id": id, "function": {"name": name, "arguments": arguments}})
    };
    let calls = if case["tool_call"].is_null() {
        vec![
            call("call_1");
            if case["ids"].is_null() && case["n_calls"].is_null() {
                1
            } else {
                2
            }
        ]
    } else {
        vec![case["tool_call"].clone()]
    };
    let mut message = serde_json::json!({"content": case["content"]});
    if case["content"].is_null() && case["stop"].is_null() {
        message["tool_calls"] = calls.into();
    }
    serde_json::json!({"choices": [{"message": message, "finish_reason": case["stop"]}], "usage": case["usage"]})
        .to_string()
        .into_bytes()
}

/// Cases whose class depends on the declared force level, which a decoder does not know: read as the model's turn.
const BY_FORCE_LEVEL: [&str; 2] = ["args_xml", "call_in_text"];

#[test]
fn faults_seen_in_the_wild_get_their_class() {
    let Some(bytes) = golden("failures.json") else {
        return;
    };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(cases.len(), 33);
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let class = decode(status, &body_of(case))
            .map_err(|fault| fault.class())
            .err();
        let expected = match case["class"].as_str().unwrap() {
            _ if BY_FORCE_LEVEL.contains(&id) => None,
            "infra" => Some(FaultClass::Infrastructure),
            "config" => Some(FaultClass::Configuration),
            "harness_bug" => Some(FaultClass::Harness),
            _ => None,
        };
        assert_eq!(class, expected, "case {id}");
    }
}

#[test]
fn recorded_replies_of_vendors_are_read_in_full() {
    let Some(bytes) = golden("recorded.jsonl.gz") else {
        return;
    };
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice())
        .read_to_string(&mut text)
        .unwrap();
    let (mut turns, mut calls, mut faults) = (0, 0, 0);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let is_chat = record["path"].as_str().unwrap().ends_with("/chat/completions");
        if !is_chat || record["request"]["stream"] == Value::Bool(true) {
            continue;
        }
        let status = u16::try_from(record["status"].as_u64().unwrap()).unwrap();
        let body = record["body"].as_str().unwrap();
        match decode(status, body.as_bytes()) {
            Ok(turn) => {
                turns += 1;
                calls += assert_same(&turn, &serde_json::from_str(body).unwrap());
            }
            Err(fault) => {
                faults += 1;
                assert!(!(200..=299).contains(&status), "{}: {fault}", record["scenario"]);
            }
        }
    }
    assert!(
        100 < turns && 20 < calls && 0 < faults,
        "{turns} turns, {calls} calls, {faults} faults"
    );
}

/// The turn says what a plain JSON reading of the reply says; returns its number of calls.
fn assert_same(turn: &ModelTurn, reply: &Value) -> usize {
    let message = &reply["choices"][0]["message"];
    let echoed: Value = serde_json::from_str(turn.raw().get()).unwrap();
    assert_eq!(&echoed, message);
    assert_eq!(
        turn.text().unwrap_or_default(),
        message["content"].as_str().unwrap_or_default()
    );
    assert_eq!(
        turn.usage().prompt_tokens,
        reply["usage"]["prompt_tokens"].as_u64()
    );
    assert_eq!(
        turn.usage().completion_tokens,
        reply["usage"]["completion_tokens"].as_u64()
    );
    let none = Vec::new();
    let calls = message["tool_calls"].as_array().unwrap_or(&none);
    assert_eq!(turn.tool_calls().len(), calls.len());
    for (read, written) in turn.tool_calls().iter().zip(calls) {
        assert_eq!(written["id"], read.id.as_str());
        assert_eq!(written["function"]["name"], read.name.as_str());
        let text = written["function"]["arguments"].as_str().unwrap();
        let read_as = if text.trim().is_empty() { "{}" } else { text };
        assert_eq!(read.arguments, read_as);
    }
    calls.len()
}
