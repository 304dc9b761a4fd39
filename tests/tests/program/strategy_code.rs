//! `ktd strategy-code`: documents, scenarios, gates, drift and replies, as a stranger would ask.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use crate::strategy_card::{error_of, json_of, strategy_card, told_of};
use ktd_kit::{Folder, assert_ok, has_boxes, quiet};
use serde_json::{Value, json};

/// A program that holds nothing, of any document with one asset.
const IDLE: &str = r#"
import pandas as pd

class Strategy:
    def __init__(self, config):
        pass

    def run(self, d, capital):
        audit = pd.DataFrame({"datetime": d["datetime"], "close": d["close"], "signal": "NONE", "position_state": "FLAT",
                              "exposure": 0.0, "equity": capital, "constraint_check": "OK"})
        return pd.DataFrame(), audit
"#;

fn write(folder: &Folder, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).unwrap();
}

#[test]
fn documents_and_scenarios_are_shown_without_a_box() {
    let folder = Folder::new();
    let list = json_of(&folder, &["list"]);
    assert_eq!(list["strategies"].as_array().unwrap().len(), 12);
    assert_eq!(list["strategies"][6]["name"], "calendar_spread");
    let shown = json_of(&folder, &["show", "S01"]);
    assert_eq!(shown["parameters"]["N"]["value"], 20);
    assert!(shown["text"].as_str().unwrap().contains("LOWER_CROSS"));
    let strip = quiet(folder.path(), &["strategy-code", "scenario", "S01", "reverts"]);
    assert_ok(&strip);
    let strip = String::from_utf8(strip.stdout).unwrap();
    assert!(
        strip.starts_with("bars 0 to 69\nreference ") && strip.contains('L') && strip.contains('X'),
        "{strip}"
    );
}

#[test]
fn what_is_unknown_or_no_file_says_how_to_fix_it() {
    let folder = Folder::new();
    let unknown = error_of(&folder, &["show", "S13"], 2);
    assert!(
        unknown.contains("unknown strategy \"S13\"") && unknown.contains("strategy-code list"),
        "{unknown}"
    );
    let scenario = error_of(&folder, &["scenario", "S01", "calm"], 2);
    assert!(
        scenario.contains("unknown scenario \"calm\" of S01") && scenario.contains("two_trades, long"),
        "{scenario}"
    );
    write(&folder, "reply.md", "```python\nx = 1\n```\n");
    let card = error_of(&folder, &["gate", "reply.md", "--strategy", "S01"], 2);
    assert!(card.contains("no fenced block of JSON"), "{card}");
    write(&folder, "open.md", "```json\n{}\n```\n```python\nx = 1\n");
    let fence = error_of(&folder, &["gate", "open.md", "--strategy", "S01"], 2);
    assert!(fence.contains("ends inside a fenced block"), "{fence}");
    write(
        &folder,
        "replies.jsonl",
        "{\"model\": \"m\", \"strategy\": \"S01\", \"iteration\": 1, \"reply\": \"\"}\n",
    );
    let replies = error_of(&folder, &["score", "--replies", "replies.jsonl"], 2);
    assert!(
        replies.contains("line 1: iteration 1 of S01 stands where 0 must"),
        "{replies}"
    );
    let lint = error_of(&folder, &["lint", "absent"], 2);
    assert!(lint.contains("spec.json"), "{lint}");
}

#[test]
fn a_patch_of_fifty_lines_passes_and_one_of_fifty_two_does_not() {
    let folder = Folder::new();
    let source = |changed: usize| -> String {
        let lines: Vec<String> = (0..60)
            .map(|line| format!("x{line} = {}\n", u8::from(line < changed)))
            .collect();
        lines.concat()
    };
    for (name, changed) in [("old.py", 0), ("small.py", 25), ("large.py", 26)] {
        write(&folder, name, &source(changed));
    }
    let small = json_of(&folder, &["patch", "old.py", "small.py"]);
    assert_eq!(
        (small["changed"].as_u64(), small["within_budget"].as_bool()),
        (Some(50), Some(true))
    );
    let large = told_of(&folder, &["patch", "old.py", "large.py"], 1);
    assert_eq!(large["changed"], 52);
}

#[test]
fn an_idle_program_passes_the_gates_and_is_far_from_the_reference() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new();
    write(&folder, "idle.py", IDLE);
    write(
        &folder,
        "card.json",
        &strategy_card(&folder, "S01", "S01").to_string(),
    );
    let gate = told_of(
        &folder,
        &["gate", "idle.py", "--card", "card.json", "--strategy", "S01"],
        1,
    );
    assert_eq!(gate["gates"]["determ"]["passed"], true, "{gate}");
    assert_eq!(gate["gates"]["anti_leak"]["passed"], true);
    // Its own columns of the document are missing.
    assert_eq!(gate["gates"]["audit"]["passed"], false);
    assert!(gate["distances"]["two_trades"].as_f64().unwrap() > 0.1);
    assert_eq!(gate["distances"]["quiet"], 0.0);
    // Who never trades breaks nothing, which says nothing.
    assert_eq!(gate["measured"], json!({"D1": 0.0, "D2": null, "D3": null}));
    let secret = gate["gate_secret"].as_str().unwrap();
    let arguments = [
        "gate",
        "idle.py",
        "--card",
        "card.json",
        "--strategy",
        "S01",
        "--gate-secret",
        secret,
    ];
    assert_eq!(told_of(&folder, &arguments, 1), gate);
    let drift = json_of(&folder, &["drift", "idle.py", "idle.py", "--strategy", "S01"]);
    assert_eq!(
        (&drift["anchored"], &drift["drift"]),
        (&Value::from("same"), &Value::from(false))
    );
    let strip = told_of(&folder, &["scenario", "S01", "reverts", "--source", "idle.py"], 1);
    assert_eq!(strip["program"][0], "0|NONE|FLAT|0.0");
}

#[test]
fn replies_are_judged_iteration_by_iteration() {
    if !has_boxes() {
        return;
    }
    let folder = Folder::new();
    let card = strategy_card(&folder, "S02", "S02").to_string();
    let line = |iteration: usize, reply: &str| {
        json!({"model": "m", "strategy": "S02", "iteration": iteration, "reply": reply}).to_string()
    };
    let broken = format!("```json\n{card}\n```\n```python\nclass Strategy: pass\n```\n");
    let mended = format!("```python\n{IDLE}```\n");
    let lines = [line(0, &broken), line(1, "no block"), line(2, &mended)].join("\n");
    write(&folder, "replies.jsonl", &lines);
    let scored = json_of(&folder, &["score", "--replies", "replies.jsonl"]);
    let versions = &scored["submissions"][0]["versions"];
    assert_eq!(versions[0]["gates"], "exec");
    assert_eq!(
        (&versions[1]["state"], &versions[1]["gates"]),
        (&Value::from("no_submission"), &Value::from("no_source"))
    );
    assert_eq!(versions[2]["state"], "kept");
    assert_eq!(versions[2]["drift"], "towards");
    // Neither is valid, and a program that never trades is worth nothing more.
    assert_eq!(scored["submissions"][0]["ranked"], 0, "{versions:#}");
}

#[test]
fn an_empty_file_has_high_published_scores() {
    let folder = Folder::new();
    write(&folder, "empty.py", "# nothing\n");
    let unnamed = error_of(&folder, &["score", "empty.py"], 2);
    assert!(unnamed.contains("--strategy S01"), "{unnamed}");
    if !has_boxes() {
        return;
    }
    let scores = json_of(&folder, &["score", "empty.py", "--strategy", "S01"]);
    let near = |name: &str, wanted: f64| (scores[name].as_f64().unwrap() - wanted).abs() < 1e-9;
    assert!(near("D3", 8.15) && near("D4", 8.8), "{scores}");
    assert_eq!(scores["logs"], 5.0);
}

#[test]
fn the_lint_of_a_folder_finds_a_rule_that_never_fires() {
    let folder = Folder::new();
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    write(
        &folder,
        "own/spec.json",
        r#"{"strategy_id": "X1", "name": "first_bar", "family": "f", "assets": ["A"], "warmup": 1,
        "multi": false, "intraday": false, "entry": ["FIRST: the first bar"], "exit": ["NEVER: close < 0"],
        "params": {"N": {"type": "int", "flag": "frozen", "value": 5}}, "constraints": {}, "columns": [], "keywords": []}"#,
    );
    write(&folder, "own/spec.md", "# X1\n");
    write(
        &folder,
        "own/scenarios.jsonl",
        r#"{"scenario": "up", "data": {"columns": ["datetime", "open", "high", "low", "close", "volume"], "rows": [["2021-01-04", 1, 1, 1, 1, 1], ["2021-01-05", 2, 2, 2, 2, 1]]}}"#,
    );
    let without = json_of(&folder, &["lint", "own"]);
    assert_eq!(
        (&without["reference"], &without["scenarios"]),
        (&Value::from(false), &Value::from(1))
    );
    if !has_boxes() {
        return;
    }
    write(&folder, "own/reference.py", &IDLE.replace(
        "return pd.DataFrame(), audit",
        "return pd.DataFrame({'reason_entry': ['FIRST'], 'reason_exit': ['FIRST']}), audit.assign(signal='LONG')",
    ));
    let found = told_of(&folder, &["lint", "own"], 1);
    let findings: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(findings[0].contains("the rule NEVER fires in no scenario"));
    assert!(findings[1].contains("every scenario has a trade"));
}
