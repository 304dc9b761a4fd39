//! `ktd strategy-code run`: a scripted model builds and mends, is killed in the middle, continued and replayed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::episode::{below, dice, reopen_exchanges};
use ktd_kit::vendor::{Then, json_reply};
use ktd_kit::{Folder, Need, Vendor, quiet, refused};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

const BROKEN: &str =
    "class Strategy:\n    def __init__(self, config):\n        raise KeyError(str(object()))\n";

/// The reply to a message: a program that does not run, no program, a patch that is too large, another that does not run.
fn reply_to(message: &str, card: &str) -> String {
    if !message.contains("This is the version that stands") {
        return format!("```json\n{card}\n```\n```python\n{BROKEN}```\n");
    }
    if message.contains("no_source") {
        return format!("```python\n{BROKEN}{}```\n", "x = 1\n".repeat(60));
    }
    if message.contains("patch_too_large") {
        return format!("```python\n{}```\n", BROKEN.replace("KeyError", "ValueError"));
    }
    "I have no idea.".to_owned()
}

fn model(card: String) -> Vendor {
    Vendor::new(move |request, stream| {
        let request: Value = serde_json::from_slice(&request.body).unwrap();
        let message = request["messages"][1]["content"].as_str().unwrap();
        let message = json!({"role": "assistant", "content": reply_to(message, &card)});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
        stream.write_all(&json_reply(body.to_string().as_bytes()))?;
        Ok(Then::Keep)
    })
}

fn json_of(folder: &Folder, arguments: &[&str]) -> Value {
    let output = quiet(folder.path(), &[&["--json", "strategy-code"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn card(folder: &Folder) -> String {
    let shown = json_of(folder, &["show", "S01"]);
    json!({
        "strategy_id": "S01",
        "entry_function": {"file": "strategy.py", "class_or_function": "Strategy"},
        "core_logic": {"strategy_family": "f", "entry_rule": "e", "exit_rule": "x", "position_sizing_rule": "p"},
        "parameters": shown["parameters"],
        "constraints": shown["constraints"],
        "output_specification": {},
    })
    .to_string()
}

fn experiment(folder: &Folder, base_url: &str) {
    let text = format!(
        "benchmark = 'strategy-code'\nname = 'x'\nstrategies = ['S01']\n[[agents]]\nid = 'writer'\nmodel = 'm'\n\
         vendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{base_url}'\n"
    );
    std::fs::write(folder.path().join("x.toml"), text).unwrap();
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_model_goes_through_all_iterations_and_is_continued_and_replayed() {
    if !(Need::Boxes.is_met() && Need::BoxEnvironment.is_met()) {
        return;
    }
    let folder = Folder::new();
    let vendor = model(card(&folder));
    experiment(&folder, &vendor.base_url());
    let plan = json_of(&folder, &["run", "x.toml", "--dry-run"]);
    assert_eq!((&plan["models"][0]["requests"], vendor.count()), (&json!(4), 0));
    let results = json_of(&folder, &["run", "x.toml"]);
    let versions = results["submissions"][0]["versions"].as_array().unwrap();
    let states: Vec<&str> = versions
        .iter()
        .map(|version| version["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["kept", "no_submission", "patch_too_large", "kept"]);
    assert_eq!(
        (&versions[0]["gates"], &versions[3]["drift"]),
        (&json!("exec"), &json!("same"))
    );
    assert_eq!(vendor.count(), 4);

    let own = folder.path().join("results/x/submissions/writer__S01__1");
    let names = [
        "result.json",
        "events.jsonl",
        "messages.jsonl",
        "versions/3/strategy.py",
    ];
    let kept: Vec<Vec<u8>> = names.iter().map(|name| read(&own.join(name))).collect();
    let last: Value = serde_json::from_slice(kept[1].split(|byte| *byte == b'\n').nth(3).unwrap()).unwrap();
    assert_eq!(last["standing"], 3);
    let report = json_of(&folder, &["report", "results/x"]);
    assert_eq!(report["submissions"], results["submissions"]);
    let gates = &report["tables"][0];
    assert_eq!(gates["columns"][3], "parse");
    assert_eq!(
        gates["rows"][0],
        json!(["writer", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0.0])
    );
    let replayed = json_of(&folder, &["replay", "results/x"]);
    assert_eq!(replayed["submissions"], results["submissions"]);
    assert_eq!(json_of(&folder, &["run", "x.toml"]), results);
    assert_eq!(vendor.count(), 4);

    reopen_exchanges(&own);
    let whole = read(&own.join("exchanges.jsonl"));
    let mut chance = dice(5, "where a submission is killed");
    for _ in 0..3 {
        std::fs::remove_file(own.join("exchanges.jsonl.zst")).ok();
        std::fs::remove_file(own.join("result.json")).unwrap();
        std::fs::write(
            own.join("exchanges.jsonl"),
            &whole[..below(&mut chance, whole.len())],
        )
        .unwrap();
        assert_eq!(
            json_of(&folder, &["run", "x.toml"])["submissions"],
            results["submissions"]
        );
        let again: Vec<Vec<u8>> = names.iter().skip(1).map(|name| read(&own.join(name))).collect();
        assert_eq!(again, kept[1..]);
    }

    std::fs::write(own.join("versions/3/strategy.py"), "x = 1\n").unwrap();
    let output = quiet(folder.path(), &["strategy-code", "replay", "results/x"]);
    let error = refused(&output, 1);
    assert!(
        error.contains("versions/3/strategy.py: what the record gives differs"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_with_a_file_of_an_experiment_is_named() {
    let folder = Folder::new();
    experiment(&folder, "http://127.0.0.1:9/v1");
    let path = folder.path().join("x.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("iterations = 4\n{text}")).unwrap();
    let error = refused(
        &quiet(folder.path(), &["strategy-code", "run", "x.toml", "--dry-run"]),
        2,
    );
    assert!(error.contains("`iterations` is 4; at most 3"), "{error}");
    std::fs::write(&path, format!("goal = 'profit'\n{text}")).unwrap();
    let error = refused(
        &quiet(folder.path(), &["strategy-code", "run", "x.toml", "--dry-run"]),
        2,
    );
    assert!(
        error.contains("line 1, column 1") && error.contains("unknown field `goal`"),
        "{error}"
    );
}
