//! Files of exchanges, good and bad.

use super::*;
use ktd_io::whole_file::write_whole;
use serde_json::{Value, json};
use std::io::Write;

fn check(lines: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.jsonl");
    write_whole(&path, lines).unwrap();
    let table = DialectTable::builtin().unwrap();
    let mut all = Vec::new();
    check_file(&path, &table, |checked| {
        assert!(!line_of(&checked).is_empty());
        all.push(serde_json::to_value(ExchangeDocument::of(&checked)).unwrap());
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

#[test]
fn a_file_that_breaks_off_is_read_as_far_as_it_goes() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let line = chat(&json!({}), 200, SPOKEN) + "\n";
    packed.write_all(line.repeat(3).as_bytes()).unwrap();
    let whole = packed.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.jsonl.gz");
    write_whole(&path, &whole[..whole.len() - 30]).unwrap();
    let mut seen = 0;
    let ended = check_file(&path, &DialectTable::builtin().unwrap(), |_| seen += 1);
    assert_eq!(seen, 2);
    assert!(ended.unwrap_err().to_string().contains("after 2 lines"));
}

#[test]
fn a_line_without_end_is_left_out_and_the_next_is_read() {
    let mut lines = vec![b'x'; LINE_BYTES_MAX + 9];
    lines.extend(format!("\n{}\n", chat(&json!({}), 200, SPOKEN)).as_bytes());
    let all = check(&lines);
    assert!(all[0]["error"].as_str().unwrap().contains("longer than"));
    assert_eq!(
        (&all[1]["line"], &all[1]["outcome"]),
        (&json!(2), &json!("valid"))
    );
}

#[test]
fn lines_for_people_hold_no_control_characters() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"t\u001b[2J\nx","arguments":"{}"}}]}}]}"#;
    let line =
        |path| json!({ "vendor": "v\u{1b}[31m\n", "path": path, "status": 200, "body": body }).to_string();
    for path in ["/chat/completions", "/x\u{1b}]0;t\u{7}"] {
        let reading =
            Exchange::read(line(path).as_bytes()).map(|one| one.judge(&DialectTable::builtin().unwrap()));
        let shown = line_of(&Checked { number: 1, reading });
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
}
