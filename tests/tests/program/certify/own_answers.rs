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

/// The best answer that the key allows, its code in a spelling of vendors.
fn known(key: &Value) -> String {
    let target = &key["targets"][0];
    let (exchange, digits) = target["stock"].as_str().unwrap().split_at(2);
    let stock = format!("{digits}.{}", exchange.to_lowercase());
    let answer = json!({ "stocks": [stock], "day": target["day"], "place": target["place"] });
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
    let seen = shares(&found["figures"], "seer");
    let of = |kind: &str| {
        seen.iter()
            .find(|figure| figure[0] == kind && figure[1] == "top1")
            .unwrap()
    };
    assert_eq!((&of("day")[3], &of("days")[3]), (&json!(1.0), &json!(0.0)));

    // Beside the best of the fifteen, of whom each certificate has the figures.
    let row = |attacker: &str| {
        let mut rows = found["figures"].as_array().unwrap().iter();
        let is_own =
            |row: &&Value| row["attacker"] == attacker && row["kind"] == "day" && row["measure"] == "top1";
        rows.find(is_own).unwrap().clone()
    };
    let best = &row("seer")["best_of_set"];
    let certified = certified.as_array().unwrap().iter();
    let alike = certified.filter(|figure| figure["kind"] == "day" && figure["measure"] == "top1");
    let most = alike
        .map(|figure| figure["share"].as_f64().unwrap())
        .fold(0.0, f64::max);
    assert_eq!(
        (best["share"].as_f64().unwrap(), best),
        (most, &row("mine")["best_of_set"])
    );
    let set = out.to_str().unwrap();
    let told = quiet(
        folder.path(),
        &["probe", "--count", set, "--answers", "seer.jsonl"],
    );
    let told = String::from_utf8(told.stdout).unwrap();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("seer answers 12 of 36 probes: it recovers more than every attacker of the set"),
        "{told}"
    );

    let refusals = [
        (
            "twice.jsonl",
            [keys[0].as_str(), keys[0].as_str()].join("\n"),
            "line 2: its probe is answered on line 1 already",
        ),
        (
            "other.jsonl",
            keys[0].replace("\"number\":0", "\"number\":999"),
            "line 1: no day probe 999 was put",
        ),
        (
            "day.jsonl",
            json!({ "kind": "day", "number": 0, "answer": { "day": "2024-01-02" } }).to_string(),
            "line 1: its day has no place",
        ),
        (
            "code.jsonl",
            json!({ "kind": "day", "number": 0, "answer": { "stocks": ["AAPL"] } }).to_string(),
            "is no code of a stock",
        ),
        (
            "slip.jsonl",
            json!({ "kind": "day", "number": 0, "guess": 1 }).to_string(),
            "write one line a probe",
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
        assert!(told.contains(said.trim()), "{told}");
    }
    folder.write("empty.jsonl", "");
    let told = refused(&counted(&folder, &["empty.jsonl"]), 2);
    assert!(told.contains("it holds no answer"), "{told}");
}
