//! `--probes`: sets of another harness.

use crate::certify::{CONFIG, certify, folder, scene};
use ktd_kit::{quiet, refused};
use serde_json::{Value, json};
use std::path::Path;

/// The probes of the scene, unpacked, with the key that whoever gives a set must give: stock and day.
fn unpack(to: &Path) {
    let from = scene().join("out");
    std::fs::create_dir_all(to.join("probes")).unwrap();
    std::fs::create_dir_all(to.join("private")).unwrap();
    for kind in ["day", "days", "episode", "linked", "anchored"] {
        let packed = std::fs::File::open(from.join(format!("probes/{kind}.jsonl.zst"))).unwrap();
        let text = zstd::decode_all(packed).unwrap();
        std::fs::write(to.join(format!("probes/{kind}.jsonl")), text).unwrap();
    }
    let gold = std::fs::read_to_string(from.join("private/gold.jsonl")).unwrap();
    let least: Vec<String> = gold.lines().map(least).collect();
    let least = least.join("\n") + "\n";
    std::fs::write(to.join("private/gold.jsonl"), least).unwrap();
}

/// A key line with nothing that the panel tells.
fn least(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap();
    let targets = line["targets"].as_array().unwrap().iter();
    let targets: Vec<_> = targets
        .map(|target| json!({ "stock": target["stock"], "day": target["day"] }))
        .collect();
    json!({ "kind": line["kind"], "number": line["number"], "targets": targets }).to_string()
}

#[test]
fn the_same_probes_given_are_judged_without_their_design() {
    let folder = folder(CONFIG);
    unpack(&folder.path().join("theirs"));
    let given = certify(folder.path(), &["--out", "out", "--probes", "theirs"]);
    let made = std::fs::read(scene().join("out/certificate.json")).unwrap();
    let made: serde_json::Value = serde_json::from_slice(&made).unwrap();
    // Who guesses recovers the same; all others are not told how probes of somebody else were drawn.
    let of_random = |certificate: &Value| -> Vec<Value> {
        let figures = certificate["certificate"]["figures"].as_array().unwrap().iter();
        figures
            .filter(|figure| figure["attacker"] == "random")
            .cloned()
            .collect()
    };
    assert!(!of_random(&made).is_empty());
    assert_eq!(of_random(&given), of_random(&made));
    assert_eq!(given["certificate"]["windows"], json!([]));
    assert_eq!(
        given["certificate"]["set"]["probe_set_sha256"],
        made["certificate"]["set"]["probe_set_sha256"]
    );
    assert_eq!(given["certificate"]["set"]["probes"], "given");
    // The certificate of a folder is the one in it.
    let verified = quiet(folder.path(), &["verify", "--certificate", "out"]);
    let text = String::from_utf8(verified.stdout).unwrap();
    for part in [
        "UNCHECKED  probes: they were given",
        "checked    keys: what the panel tells of them, made again",
        "controls: ",
        "not covered: decision modes other than open-research",
        "probes that were given, claimed to be blinded/banded, on panel ",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let open = given["certificate"]["not_covered"].to_string();
    assert!(
        open.contains("they were given") && open.contains("only claimed"),
        "{open}"
    );
    // They cannot pass for probes that this program made.
    let error = refused(&quiet(folder.path(), &["probe", "small.toml", "--out", "out"]), 2);
    assert!(error.contains("a study of other settings"), "{error}");
}

#[test]
fn what_is_wrong_with_a_given_set_is_named() {
    let folder = folder(CONFIG);
    unpack(&folder.path().join("theirs"));
    let day = std::fs::read_to_string(folder.path().join("theirs/probes/day.jsonl")).unwrap();
    let gold = std::fs::read_to_string(folder.path().join("theirs/private/gold.jsonl")).unwrap();
    let two = day.lines().nth(1).unwrap();
    for (file, text, part) in [
        (
            "probes/day.jsonl",
            day[..day.len() - 9].to_owned(),
            "day.jsonl: line 12: it is cut short",
        ),
        (
            "probes/day.jsonl",
            format!("{two}\n"),
            "day.jsonl: line 1: it is probe 1, not probe 0",
        ),
        (
            "probes/day.jsonl",
            "{}\n".to_owned(),
            "day.jsonl: line 1: missing field",
        ),
        (
            "probes/linked.jsonl",
            day.clone(),
            "a linked probe has 2 exhibits, not 1",
        ),
        (
            "private/gold.jsonl",
            String::new(),
            "gold.jsonl: line 1: day probe 0 has no line",
        ),
        (
            "private/gold.jsonl",
            gold.replacen("\"SH", "\"XX", 1),
            "gold.jsonl: line",
        ),
        (
            "private/gold.jsonl",
            gold.replacen("\"day\":\"20", "\"day\":\"19", 1),
            "is no trading day of the panel",
        ),
    ] {
        let theirs = folder.path().join("theirs");
        let before = std::fs::read(theirs.join(file)).unwrap();
        std::fs::write(theirs.join(file), text).unwrap();
        let error = refused(
            &quiet(
                folder.path(),
                &["probe", "small.toml", "--probes", "theirs", "--out", "o"],
            ),
            1,
        );
        assert!(error.contains(part), "{error}");
        std::fs::write(theirs.join(file), before).unwrap();
    }
    std::fs::remove_file(folder.path().join("theirs/private/gold.jsonl")).unwrap();
    let error = refused(
        &quiet(folder.path(), &["probe", "small.toml", "--probes", "theirs"]),
        2,
    );
    assert!(error.contains("the answer key is missing"), "{error}");
}
