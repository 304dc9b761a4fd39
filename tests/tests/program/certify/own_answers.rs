//! `ktd probe --count`: what a program of somebody's own found.

use crate::certify::scene;
use ktd_kit::{Folder, assert_ok, copy, quiet, refused};
use serde_json::{Value, json};

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
        let shares = ["kind", "measure", "asked", "share"];
        shares.iter().map(|key| figure[key].clone()).collect()
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

/// The best answers to the probes of single days, a line each.
fn known_days() -> Vec<String> {
    let keys = std::fs::read_to_string(scene().join("out/private/gold.jsonl")).unwrap();
    let keys = keys.lines().map(|line| serde_json::from_str(line).unwrap());
    keys.filter(|key: &Value| key["kind"] == "day")
        .map(|key| known(&key))
        .collect()
}

/// What is found of the question of the stock on a single day.
fn of_days(figures: &Value, attacker: Option<&str>) -> Vec<Value> {
    let all = figures.as_array().unwrap().iter();
    let of_day = all.filter(|figure| figure["kind"] == "day" && figure["measure"] == "top1");
    of_day
        .filter(|figure| attacker.is_none_or(|wanted| figure["attacker"] == wanted))
        .cloned()
        .collect()
}

#[test]
fn answers_of_ones_own_are_counted_as_those_of_the_attackers_are() {
    let out = scene().join("out");
    let packed = std::fs::File::open(out.join("answers/combination.jsonl.zst")).unwrap();
    let theirs = String::from_utf8(zstd::decode_all(packed).unwrap()).unwrap();
    // A file has its own order, and may leave out whom it did not answer.
    let mut lines: Vec<&str> = theirs.lines().collect();
    lines.retain(|line| !line.contains("\"answer\":null"));
    lines.reverse();
    let folder = Folder::with(&[
        ("mine.jsonl", &(lines.join("\n") + "\n")),
        ("seer.jsonl", &(known_days().join("\n") + "\n")),
    ]);
    let output = counted(&folder, &["mine.jsonl", "seer.jsonl"]);
    assert_ok(&output);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let certificate = std::fs::read(out.join("certificate.json")).unwrap();
    let certificate: Value = serde_json::from_slice(&certificate).unwrap();
    let certified = &certificate["certificate"]["figures"];
    let rates: Value = found["figures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["rate"].clone())
        .collect();
    let mine = shares(&rates, "mine");
    assert!(!mine.is_empty());
    assert_eq!(mine, shares(certified, "combination"));
    // The interval holds for all together, and so is wider than that of fifteen.
    let upper = |figure: &Value| figure["simultaneous"]["upper"].as_f64().unwrap();
    let own = of_days(&rates, Some("mine")).remove(0);
    let theirs = of_days(certified, Some("combination")).remove(0);
    assert!(upper(&theirs) < upper(&own), "{own}");

    // Beside the best of the fifteen, of whom the certificate has the figures.
    let share = |figure: &Value| figure["share"].as_f64().unwrap();
    let most = of_days(certified, None).iter().map(share).fold(0.0, f64::max);
    let seen = found["figures"].as_array().unwrap().iter();
    let mut seen = seen.filter(|own| own["rate"]["attacker"] == "seer" && own["rate"]["measure"] == "top1");
    let seen = seen.find(|own| own["rate"]["kind"] == "day").unwrap();
    assert_eq!((share(&seen["rate"]), share(&seen["best_of_set"])), (1.0, most));
    let left = found["figures"].as_array().unwrap().iter();
    let mut left = left.filter(|own| own["rate"]["attacker"] == "seer" && own["rate"]["kind"] == "days");
    assert!(left.all(|own| own["verdict"] == "too few answers"));
    let set = out.to_str().unwrap();
    let arguments = ["probe", "--count", set, "--answers", "seer.jsonl"];
    let told = String::from_utf8(quiet(folder.path(), &arguments).stdout).unwrap();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let lead = "seer answers 12 of 36 probes: it recovers more than every one of the set's 15 attackers of";
    assert!(told.contains(lead), "{told}");
}

#[test]
fn slips_of_answers_are_named_by_their_lines() {
    let (folder, first) = (Folder::new(), known_days().remove(0));
    // Nothing is counted by a key that was changed.
    copy(&scene().join("out"), &folder.at("changed"));
    let key = folder.text("changed/private/gold.jsonl");
    folder.write("changed/private/gold.jsonl", key.replacen("SH6", "SH9", 1));
    folder.write("first.jsonl", first.clone() + "\n");
    let changed = ["probe", "--count", "changed", "--answers", "first.jsonl"];
    let told = refused(&quiet(folder.path(), &changed), 1);
    assert!(told.contains("gold.jsonl: it differs"), "{told}");
    let day = |answer: Value| json!({ "kind": "day", "number": 0, "answer": answer }).to_string();
    let refusals = [
        (
            "twice.jsonl",
            [first.as_str(), first.as_str()].join("\n"),
            "line 2: its probe is answered on line 1 already",
        ),
        (
            "other.jsonl",
            first.replace("\"number\":0", "\"number\":999"),
            "line 1: no day probe 999 was put",
        ),
        (
            "day.jsonl",
            day(json!({ "day": "2024-01-02" })),
            "line 1: its day has no place",
        ),
        (
            "code.jsonl",
            day(json!({ "stocks": ["AAPL"] })),
            "is no code of a stock",
        ),
        (
            "same.jsonl",
            day(json!({ "same_stock": true })),
            "line 1: a day probe asks something else",
        ),
        (
            "slip.jsonl",
            json!({ "kind": "day", "number": 0, "guess": 1 }).to_string(),
            "write one line a probe",
        ),
        (
            "random.jsonl",
            first.clone(),
            "there are answers of random already",
        ),
    ];
    for (file, text, said) in refusals {
        folder.write(file, text + "\n");
        let told = refused(&counted(&folder, &[file]), 2);
        assert!(told.contains(said), "{told}");
    }
    folder.write("empty.jsonl", "");
    let told = refused(&counted(&folder, &["empty.jsonl"]), 2);
    assert!(told.contains("it holds no answer"), "{told}");
}

/// Whoever counts may hold the key and no panel: what is not looked up in it is told.
#[test]
fn answers_are_counted_without_the_panel_which_is_told() {
    let folder = Folder::with(&[("mine.jsonl", &(known_days().join("\n") + "\n"))]);
    copy(&scene().join("out"), &folder.at("set"));
    let mut study: Value = serde_json::from_str(&folder.text("set/study.json")).unwrap();
    study["keys"]["panel"] = "gone.ktdp".into();
    folder.write("set/study.json", study.to_string());
    let arguments = ["probe", "--count", "set", "--answers", "mine.jsonl"];
    let found = quiet(folder.path(), &[&["--json"], &arguments[..]].concat());
    assert_ok(&found);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let why = found["not_looked_up"].as_str().unwrap();
    assert!(why.contains("gone.ktdp"), "{why}");
    let text = String::from_utf8(quiet(folder.path(), &arguments).stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Nor what their verdicts go by: whoever holds the folder may have changed it.
    assert!(text.contains("allowed, as this folder says it"), "{text}");
    assert!(found["terms"]["thresholds"]["top1"].is_number(), "{found}");
    assert!(
        text.contains("the panel does not have count as not found"),
        "{text}"
    );
}

/// What there is not was never looked for: a guess of it is a slip, and no miss.
#[test]
fn what_the_panel_does_not_have_is_named_by_its_line() {
    let (folder, first) = (Folder::new(), known_days().remove(0));
    let day = |number: usize, answer: Value| {
        json!({ "kind": "day", "number": number, "answer": answer }).to_string()
    };
    for (text, said) in [
        (
            day(0, json!({ "stocks": ["sz399999"] })),
            r#"line 1: the panel has no stock \"sz399999\""#,
        ),
        (
            [first, day(1, json!({ "place": 480 }))].join("\n"),
            "line 2: its place 480, counted from 0, is none of the panel's 480 trading days",
        ),
        (
            day(0, json!({ "sector": "Bnaks" })),
            r#"line 1: the panel has no sector \"Bnaks\""#,
        ),
        (
            day(0, json!({ "board": "main" })),
            r#"line 1: there is no board \"main\""#,
        ),
    ] {
        folder.write("mine.jsonl", text + "\n");
        let told = refused(&counted(&folder, &["mine.jsonl"]), 2);
        assert!(told.contains(said), "{told}");
    }
}
