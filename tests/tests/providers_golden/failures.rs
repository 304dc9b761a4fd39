//! Faults seen in the wild, over the wires on which they came.

use ktd_agents::{Dialect, Expected, ForceLevel, Verdict, Wire};
use ktd_tests::golden_folder;
use serde_json::{Value, json};

/// The case of that id as the wire sees it: status and body.
fn reply_of(case: &Value, wire: Wire) -> (u16, String) {
    let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
    let body = match (wire, &case["sse"], &case["body"]) {
        (_, Value::Array(events), _) => events.iter().map(|event| event.as_str().unwrap()).collect(),
        (_, _, body @ Value::Object(_)) => body.to_string(),
        (Wire::Messages, ..) => json!({
            "content": [],
            "stop_reason": case["stop"],
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        })
        .to_string(),
        _ => json!({
            "candidates": [{ "content": {}, "finishReason": case["finish"] }],
            "usageMetadata": { "promptTokenCount": 1 },
        })
        .to_string(),
    };
    (status, body)
}

/// Cases that came over these two wires. The rest are Chat Completions'.
const CASES: [(&str, Wire); 8] = [
    ("http_429", Wire::Messages),
    ("http_529", Wire::Messages),
    ("sse_error_event", Wire::Messages),
    ("sse_error_event", Wire::GenerateContent),
    ("forced_choice_400", Wire::Messages),
    ("refusal", Wire::Messages),
    ("gemini_malformed", Wire::GenerateContent),
    ("missing_signature_400", Wire::GenerateContent),
];

#[test]
fn faults_seen_in_the_wild_get_their_class() {
    let Some(folder) = golden_folder("providers") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("failures.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let expected = Expected {
        tools: &["submit_action"],
        forced: Some(ForceLevel::Named),
        wanted: Some("submit_action"),
        self_hosted: false,
    };
    for (id, wire) in CASES {
        let case = cases.iter().find(|case| case["id"] == id).unwrap();
        let (status, body) = reply_of(case, wire);
        let reply = wire.decode(status, body.as_bytes(), &Dialect::plain());
        let verdict = Verdict::of(reply.as_ref(), &expected);
        let label = match case["class"].as_str().unwrap() {
            "infra" => "infra_fault",
            "config" => "config_fault",
            "model" => "model_fault",
            other => other,
        };
        assert_eq!(verdict.label(), label, "{id}");
        assert_eq!(verdict.kinds(), [case["kind"].as_str().unwrap()], "{id}");
        println!("{id} over {}: {} {}", wire.label(), label, verdict.kinds()[0]);
    }
}
