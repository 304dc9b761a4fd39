//! `ktd probe --count`: what a program of somebody's own found.

use crate::certify::scene;
use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::{Value, json};
use std::path::Path;

fn counted(folder: &Folder, files: &[&str]) -> std::process::Output {
    let set = scene().join("out");
    let arguments = ["--json", "probe", "--count", set.to_str().unwrap(), "--answers"];
    quiet(folder.path(), &[&arguments[..], files].concat())
}

/// Of an attacker, what a figure says that does not hang on how many others there are.
fn shares(figures: &Value, attacker: &str) -> Vec<Value> {
    let own = figures.as_array().unwrap().iter();
    let own = own.filter(|figure| figure["attacker"] == attacker);
    own.map(|figure| {
        json!([
            figure["kind"],
            figure["measure"],
            figure["asked"],
            figure["share"]
        ])
    })
    .collect()
}

/// The best answer that the key allows.
fn known(key: &Value) -> String {
    let target = &key["targets"][0];
    let answer = json!({ "stocks": [target["stock"]], "day": target["day"], "place": target["place"] });
    json!({ "kind": key["kind"], "number": key["number"], "answer": answer }).to_string()
}

#[test]
fn answers_of_ones_own_are_counted_as_those_of_the_attackers_are() {
    let out = scene().join("out");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let packed = std::fs::File::open(out.join("answers/combination.jsonl.zst")).unwrap();
    let theirs = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    // A file has its own order, and may leave out whom it did not answer.
    let mut lines: Vec<&str> = theirs.lines().collect();
    lines.retain(|line| !line.contains("\"answer\":null"));
    lines.reverse();
    let keys: Vec<Value> = read(&out.join("private/gold.jsonl"))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let keys: Vec<String> = keys
        .iter()
        .filter(|key| key["kind"] == "day")
        .map(known)
        .collect();
    let folder = Folder::with(&[
        ("mine.jsonl", &(lines.join("\n") + "\n")),
        ("seer.jsonl", &(keys.join("\n") + "\n")),
    ]);
    let output = counted(&folder, &["mine.jsonl", "seer.jsonl"]);
    assert_ok(&output);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let certificate: Value = serde_json::from_str(&read(&out.join("certificate.json"))).unwrap();
    let certified = &certificate["certificate"]["figures"];
    let mine = shares(&found["figures"], "mine");
    assert!(!mine.is_empty());
    assert_eq!(mine, shares(certified, "combination"));
    assert_eq!(shares(&found["figures"], "random"), shares(certified, "random"));
    let seen = shares(&found["figures"], "seer");
    let of = |kind: &str| {
        seen.iter()
            .find(|figure| figure[0] == kind && figure[1] == "top1")
            .unwrap()
    };
    assert_eq!((&of("day")[3], &of("days")[3]), (&json!(1.0), &json!(0.0)));

    let refusals = [
        (
            "twice.jsonl",
            [keys[0].as_str(), keys[0].as_str()].join("\n"),
            "line 2: its probe is answered twice",
        ),
        (
            "other.jsonl",
            keys[0].replace("\"number\":0", "\"number\":999"),
            "no day probe 999 was put",
        ),
        (
            "day.jsonl",
            json!({ "kind": "day", "number": 0, "answer": { "day": "2024-01-02" } }).to_string(),
            "its day has no place",
        ),
        (
            "random.jsonl",
            keys[0].clone(),
            "there are answers of random already",
        ),
    ];
    for (file, text, said) in refusals {
        folder.write(file, text + "\n");
        let told = refused(&counted(&folder, &[file]), 2);
        assert!(told.contains(said), "{told}");
    }
}
