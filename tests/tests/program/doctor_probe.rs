//! `ktd doctor FILE --probe`: every model of a file, a line each, and a failure where one fails.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::vendor::{Then, json_reply, reply};
use ktd_kit::{Folder, Vendor, assert_ok, quiet, refused};
use serde_json::{Value, json};
use std::io::Write;

/// A vendor whose model submits whenever it is asked, and which knows no model `gone`.
fn vendor() -> Vendor {
    Vendor::new(|request, stream| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        if asked["model"] == "gone" {
            let body = json!({"error": {"message": "there is no such model", "code": "model_not_found"}});
            stream.write_all(&reply("404 Not Found", "", body.to_string().as_bytes()))?;
            return Ok(Then::Keep);
        }
        let call = json!({"name": "submit_action", "arguments": "{\"choice\":9,\"reason\":\"larger\"}"});
        let call = json!({"id": "c1", "type": "function", "function": call});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let usage = json!({"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99});
        let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage});
        stream.write_all(&json_reply(body.to_string().as_bytes()))?;
        Ok(Then::Keep)
    })
}

fn experiment(vendor: &Vendor, models: &[&str]) -> String {
    let url = vendor.base_url();
    let models = models
        .iter()
        .map(|model| format!("{{ id = {model:?}, model = {model:?}, base_url = {url:?} }}"));
    let agents: Vec<String> = models
        .chain(["{ id = \"h\", builtin = \"hold\" }".to_owned()])
        .collect();
    format!(
        "name = \"try\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{}]\n",
        agents.join(", ")
    )
}

#[test]
fn every_model_of_a_file_is_probed_and_one_that_fails_is_said() {
    let vendor = vendor();
    let folder = Folder::with(&[("all.toml", &experiment(&vendor, &["one", "gone", "two"]))]);
    let output = quiet(folder.path(), &["doctor", "all.toml", "--probe"]);
    assert!(refused(&output, 1).contains("1 of 3 checks failed"));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let starts: Vec<&str> = text.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(
        starts,
        [
            "ok      agent one",
            "BROKEN  agent gone",
            "        hint",
            "ok      agent two"
        ],
        "{text}"
    );
    assert!(text.contains("strongest level that works: F0"), "{text}");
    assert!(folder.at("results/try").exists(), "what was found is kept");

    folder.write("sound.toml", experiment(&vendor, &["one", "two"]));
    let told = quiet(folder.path(), &["--json", "doctor", "sound.toml", "--probe"]);
    assert_ok(&told);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let checks = told["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["ok"] == true), "{told}");
    assert_eq!(checks.len(), 2);

    folder.write("none.toml", experiment(&vendor, &[]));
    for (arguments, part) in [
        (
            ["doctor", "none.toml", "--probe"].as_slice(),
            "has no agent that is a model",
        ),
        (&["doctor", "--probe"], "there is no experiment file"),
    ] {
        let message = refused(&quiet(folder.path(), arguments), 2);
        assert!(message.contains(part), "{message}");
    }
}
