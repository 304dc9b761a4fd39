//! Functions whose verdict is known, in the box: a part of the golden set. `tests/scripts/factor_code_golden.py` takes all.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a broken golden file fails the test"
)]

use ktd_kit::golden::outside;
use ktd_kit::program::printed;
use ktd_kit::{Folder, has_boxes, quiet};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Verdicts on replies by task, on the panels of the set.
fn verdicts(replies: &BTreeMap<&str, String>) -> Option<BTreeMap<String, Value>> {
    let set = outside("alpha_qt")?;
    let replies = replies
        .iter()
        .map(|(id, reply)| format!("{}\n", json!({"id": id, "round": 1, "reply": reply})));
    let text: String = replies.collect();
    let folder = Folder::with(&[("replies.jsonl", text.as_str())]);
    let panels = set.display().to_string();
    let score = [
        "--json",
        "factor-code",
        "score",
        "--replies",
        "replies.jsonl",
        "--panels",
        &panels,
    ];
    let document = printed(&quiet(folder.path(), &score));
    let found = document["rounds"][0]["verdicts"].as_array().unwrap();
    let found = found
        .iter()
        .map(|entry| (entry["id"].as_str().unwrap().to_owned(), entry["verdict"].clone()));
    Some(found.collect())
}

/// The word of a verdict, whatever evidence it has.
fn named(verdict: &Value) -> String {
    let with_evidence = verdict.as_object().and_then(|verdict| verdict.keys().next());
    with_evidence.map_or_else(|| verdict.as_str().unwrap().to_owned(), Clone::clone)
}

#[test]
fn known_leaks_are_seen_and_right_code_passes_all_layers() {
    let Some(set) = outside("alpha_qt").filter(|set| set.join("leaks.jsonl").is_file()) else {
        println!("passed over: no alpha_qt/leaks.jsonl");
        return;
    };
    if !has_boxes() {
        return;
    }
    let leaks = lines(&std::fs::read_to_string(set.join("leaks.jsonl")).unwrap());
    let leak = |name: &str| {
        let found = leaks.iter().find(|leak| leak["name"] == name).unwrap();
        found["source"].as_str().unwrap().to_owned()
    };
    let tasks = lines(&std::fs::read_to_string(set.join("tasks.jsonl")).unwrap());
    let golden = tasks.iter().find(|task| task["id"] == "MOM-1-01").unwrap();
    // in the places of tasks with a short warm-up
    let cases = [
        ("MOM-1-02", "alpha_shift_m1", "leak"),
        ("REV-1-01", "alpha_memo_leak", "leak"),
        ("VOL-1-01", "alpha_tiny_leak", "leak"),
        ("VLM-1-01", "alpha_unseeded_noise", "nondeterministic"),
        ("PAT-1-01", "alpha_frame_return", "not_series"),
    ];
    let mut replies: BTreeMap<&str, String> = cases.iter().map(|(id, name, _)| (*id, leak(name))).collect();
    replies.insert("MOM-1-01", golden["golden"].as_str().unwrap().to_owned());
    let found = verdicts(&replies).unwrap();
    for (id, name, wanted) in cases {
        let verdict = &found[id];
        let execution = &verdict["execution"];
        let own = if execution.is_string() {
            named(&verdict["safety"])
        } else {
            execution["failed"]["failure"]["reason"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(own, wanted, "{name}: {verdict}");
    }
    let right = &found["MOM-1-01"];
    assert_eq!(
        (&right["published"], &right["strict"], &right["robust"]),
        (&json!("VAcc"), &json!("VAcc"), &json!(true)),
        "{right}"
    );
}
