//! A vendor that answers in event streams alone: a row of the experiment asks for them, and an episode is the same.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_baselines::{ChatModel, named};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_kit::vendor::{Then, json_reply, reply};
use ktd_kit::{Folder, MASK_KEY, Vendor, assert_ok, quiet};
use ktd_record::chain::LogReader;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXPERIMENT: &str = r#"
name = "NAME"
synthetic = { seed = 5, names = 40, days = 330 }
mask_key_file = "key"
masks = [{ level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
windows = [{ id = "w", last_days = 3 }]
retries = { attempts = 1 }
agents = [{ id = "momentum", model = "m", vendor = "acme", base_url = "BASE" }]

[[dialects]]
id = "acme"
name = "Acme"
endpoints = [{ wire = "chat-completions", base_url = "" }]
self_hosted = true
force = { thinking = "F0", plain = "F0" }
BODY
"#;

/// The parameter of Chat Completions that asks for events, with their count of tokens at the end.
const STREAM: &str = "body = { stream = true, stream_options = { include_usage = true } }";

/// The pieces in which a reply comes: the turn a few characters at a time, how it ended, what it cost.
fn events(reply: &Value) -> String {
    let choice = &reply["choices"][0];
    let chunk = |choices: Value, usage: &Value| {
        let piece = json!({ "id": reply["id"], "object": "chat.completion.chunk", "model": reply["model"], "choices": choices,
            "usage": usage });
        format!("data: {piece}\n\n")
    };
    let delta = |delta: Value| {
        chunk(
            json!([{ "index": 0, "delta": delta, "finish_reason": null }]),
            &Value::Null,
        )
    };
    let mut stream = delta(json!({ "role": "assistant", "content": choice["message"]["content"] }));
    let calls = choice["message"]["tool_calls"].as_array().into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let function = &call["function"];
        stream += &delta(
            json!({ "tool_calls": [{ "index": index, "id": call["id"], "type": "function",
            "function": { "name": function["name"], "arguments": "" } }] }),
        );
        let arguments: Vec<char> = function["arguments"].as_str().unwrap().chars().collect();
        for part in arguments.chunks(7) {
            let part: String = part.iter().collect();
            stream +=
                &delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": part } }] }));
        }
    }
    stream += &chunk(
        json!([{ "index": 0, "delta": {}, "finish_reason": choice["finish_reason"] }]),
        &Value::Null,
    );
    stream += &chunk(json!([]), &reply["usage"]);
    stream + "data: [DONE]\n\n"
}

/// A vendor that refuses a request for a whole reply, or, for `streams` false, answers with one.
fn vendor(streams: bool) -> Vendor {
    let model: Arc<dyn ChatModel> = named("momentum", 1).unwrap();
    Vendor::new(move |request, stream| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let whole = String::from_utf8(model.reply(&request.body)).unwrap();
        let whole = whole.replace("builtin-", "replied-");
        let answer = match (streams, asked["stream"] == true) {
            (true, true) => reply(
                "200 OK",
                "content-type: text/event-stream\r\n",
                events(&serde_json::from_str(&whole).unwrap()).as_bytes(),
            ),
            (true, false) => reply(
                "400 Bad Request",
                "content-type: application/json\r\n",
                br#"{"error":{"message":"This model only supports stream=true","type":"invalid_request_error"}}"#,
            ),
            (false, _) => json_reply(whole.as_bytes()),
        };
        stream.write_all(&answer)?;
        Ok(Then::Keep)
    })
}

fn experiment(name: &str, vendor: &Vendor, body: &str) -> String {
    EXPERIMENT
        .replace("NAME", name)
        .replace("BASE", &vendor.base_url())
        .replace("BODY", body)
}

fn bundle(folder: &Folder, out: &str) -> PathBuf {
    ktd_io::whole_file::list(&folder.at(&format!("{out}/cells")))
        .unwrap()
        .remove(0)
}

/// What was decided and what came of it, without what names the reply.
fn decisions(bundle: &Path) -> Vec<String> {
    let path = BundlePaths::new(bundle).events();
    let events: Vec<ReadEvent> = LogReader::open(&path).unwrap().bodies().unwrap();
    events
        .iter()
        .filter(|event| {
            matches!(
                event,
                ReadEvent::Decision { .. } | ReadEvent::Fills { .. } | ReadEvent::StepEnd { .. }
            )
        })
        .map(|event| format!("{event:?}"))
        .collect()
}

#[test]
fn an_episode_over_event_streams_is_the_same_and_replays() {
    let folder = Folder::with(&[("key", MASK_KEY)]);
    let (streaming, whole) = (vendor(true), vendor(false));
    folder.write("streamed.toml", experiment("streamed", &streaming, STREAM));
    folder.write("whole.toml", experiment("whole", &whole, ""));
    for name in ["whole", "streamed"] {
        let (file, out) = (format!("{name}.toml"), name.to_owned());
        assert_ok(&quiet(folder.path(), &["run", &file, "--out", &out]));
    }
    let [streamed, plain] = ["streamed", "whole"].map(|out| bundle(&folder, out));
    let decided = decisions(&plain);
    assert!(!decided.is_empty());
    assert_eq!(decisions(&streamed), decided);
    let asked = streaming.count();
    for verb in ["verify", "replay"] {
        assert_ok(&quiet(folder.path(), &[verb, streamed.to_str().unwrap()]));
    }
    assert_eq!(streaming.count(), asked, "a replay asks nobody");
}

#[test]
fn without_the_row_such_a_vendor_is_a_fault_of_the_configuration_and_no_models_mistake() {
    let folder = Folder::with(&[("key", MASK_KEY)]);
    let streaming = vendor(true);
    folder.write("plain.toml", experiment("plain", &streaming, ""));
    let output = quiet(folder.path(), &["run", "plain.toml", "--out", "plain"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("only supports stream=true"), "{text}");
}
