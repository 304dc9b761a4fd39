//! Files of exchanges, good and bad.

use super::*;
use serde_json::{Value, json};
use std::io::Write;

fn check(lines: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.jsonl");
    std::fs::write(&path, lines).unwrap();
    let table = DialectTable::builtin().unwrap();
    let mut all = Vec::new();
    check_file(&path, &table, |checked| {
        assert!(!line_of(&checked).is_empty());
        all.push(to_json(&checked));
    })
    .unwrap();
    all
}

fn chat(request: &Value, status: u16, body: &str) -> String {
    json!({ "vendor": "deepseek", "path": "/chat/completions", "request": request, "status": status, "body": body }).to_string()
}

const SPOKEN: &str = r#"{"model":"m-1","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":4}}"#;

#[test]
fn an_exchange_is_judged_by_what_was_asked() {
    let forced = json!({ "tool_choice": "required", "tools": [{ "function": { "name": "t" } }] });
    let lines = [
        chat(&json!({}), 200, SPOKEN),
        chat(&forced, 200, SPOKEN),
        chat(
            &json!({}),
            400,
            r#"{"error":{"message":"Thinking mode does not support this tool_choice"}}"#,
        ),
        chat(&json!({}), 503, ""),
    ]
    .join("\n");
    let all = check(lines.as_bytes());
    let outcomes: Vec<&str> = all.iter().map(|one| one["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["valid", "model_fault", "config_fault", "infra_fault"]);
    assert_eq!(all[1]["kinds"], json!(["no_tool_call"]));
    assert_eq!(all[0]["usage"]["cache_read"], 4);
    assert_eq!(
        (&all[0]["text"], &all[0]["vendor_stop_reason"]),
        (&json!("hi"), &json!("stop"))
    );
}

#[test]
fn gzip_is_read_and_bad_lines_stop_nothing() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text = format!(
        "{}\n\nnot json\n{{\"path\":\"/x\",\"status\":200,\"body\":\"\"}}\n",
        chat(&json!({}), 200, SPOKEN)
    );
    packed.write_all(text.as_bytes()).unwrap();
    let all = check(&packed.finish().unwrap());
    assert_eq!(all.len(), 3);
    assert_eq!(all[1]["line"], 3);
    assert!(all[1]["error"].is_string() && all[2]["error"].is_string());
}
