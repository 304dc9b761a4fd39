//! What a command holds of a long episode: the panel and a bound, however long it is.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::program::binary;
use ktd_kit::vendor::{Then, json_reply};
use ktd_kit::{Folder, MASK_KEY, Vendor, assert_ok};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

const STEPS: usize = 48;
const CALLS: usize = 20;
/// What a model says beside each call, bytes: it comes back in every later request of the step.
const SAID_BYTES: usize = 3_000;
/// What the program may hold, KiB, with a panel of forty stocks. The exchanges alone unpack to more.
const HELD_KIB: u64 = 96 << 10;

const EXPERIMENT: &str = r#"
name = "long"
output = "long"
synthetic = { seed = 5, names = 40, days = 400 }
mask_key_file = "key"
masks = [{ level = "bright" }]
modes = ["open-research"]
windows = [{ id = "w", last_days = STEPS }]
session = { max_tool_calls = CALLS }
agents = [{ id = "scripted", model = "m", base_url = "BASE", max_output_tokens = 2000 }]
"#;

/// A model that calls a tool as often as it may, and then holds.
fn reply_to(request: &Value) -> Value {
    let messages = request["messages"].as_array().unwrap();
    let said = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
    let tools = request["tools"].as_array().into_iter().flatten();
    let has = |name: &str| tools.clone().any(|tool| tool["function"]["name"] == name);
    let call = |name: &str, arguments: &Value| {
        json!([{ "id": format!("call_{said}"), "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() } }])
    };
    let calls = if said < CALLS && has("get_market_context") {
        call("get_market_context", &json!({}))
    } else {
        call(
            "submit_action",
            &json!({ "orders": [], "overall_reason": "Nothing is to be done." }),
        )
    };
    // Other words in each message, so that they are not packed to nothing.
    let word = format!("{:x} ", messages.len() * 7_919 + request.to_string().len());
    let content = word.repeat(SAID_BYTES / word.len());
    let message = json!({ "role": "assistant", "content": content, "tool_calls": calls });
    json!({ "id": format!("reply-{said}"), "object": "chat.completion", "created": 1, "model": "m",
        "usage": { "prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18 },
        "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] })
}

/// What `ktd ARGUMENTS` does where it may hold so much and no more.
fn limited(folder: &Path, arguments: &[&str], crash: &str) -> Output {
    let script = format!("ulimit -d {HELD_KIB} && exec \"$0\" --quiet \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(binary()).args(arguments);
    shell
        .current_dir(folder)
        .env("KTD_CACHE", "")
        .env("KTD_CRASH", crash);
    shell.output().unwrap()
}

#[test]
fn no_command_holds_a_long_episode() {
    let vendor = Vendor::new(|request, stream| {
        let reply = reply_to(&serde_json::from_slice(&request.body).unwrap());
        stream.write_all(&json_reply(reply.to_string().as_bytes()))?;
        Ok(Then::Keep)
    });
    let folder = Folder::new();
    let experiment = EXPERIMENT
        .replace("BASE", &vendor.base_url())
        .replace("STEPS", &STEPS.to_string())
        .replace("CALLS", &CALLS.to_string());
    folder.write("long.toml", &experiment);
    folder.write("key", MASK_KEY);
    // Killed near the end, it is continued from what is recorded.
    let killed = limited(folder.path(), &["run", "long.toml"], "step:40");
    assert!(!killed.status.success());
    assert_ok(&limited(folder.path(), &["run", "long.toml"], ""));
    let bundle = std::fs::read_dir(folder.path().join("long/cells")).unwrap();
    let bundle = bundle.map(|entry| entry.unwrap().path()).next().unwrap();
    let exchanges = std::fs::File::open(bundle.join("exchanges.jsonl.zst")).unwrap();
    let unpacked = std::io::copy(&mut zstd::Decoder::new(exchanges).unwrap(), &mut std::io::sink()).unwrap();
    assert!(40 << 20 < unpacked, "{unpacked}");
    let bundle = bundle.to_string_lossy();
    for arguments in [
        ["run", "long.toml"],
        ["verify", &bundle],
        ["replay", &bundle],
        ["leaderboard", &bundle],
    ] {
        assert_ok(&limited(folder.path(), &arguments, ""));
    }
}
