//! `ktd leak check`: what a pipeline declares, as a stranger would check it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::Value;
use std::collections::BTreeSet;

const SMALL: &str = "name = \"small\"\nsynthetic = { seed = 3, names = 30, days = 1300 }\nhorizons = [5]\nmodels = [\"momentum\"]\n";

/// The rules that a manifest breaks, and the exit code.
fn checked(folder: &Folder, manifest: &str) -> (Option<i32>, BTreeSet<String>, Value) {
    let output = quiet(folder.path(), &["--json", "leak", "check", manifest]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = found["findings"].as_array().unwrap().iter();
    let rules = findings
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect();
    (output.status.code(), rules, found)
}

#[test]
fn a_run_writes_a_manifest_that_passes_and_six_that_fail_with_their_rule() {
    let folder = Folder::with(&[("small.toml", SMALL)]);
    assert_ok(&quiet(
        folder.path(),
        &["leak", "run", "small.toml", "--out", "out"],
    ));
    for (manifest, rule) in [
        ("manifest.toml", None),
        ("manifests/CLEAN_h5.toml", None),
        ("manifests/TEMP_CENTER_h5.toml", Some("R1")),
        ("manifests/EXEC_OPEN_h5.toml", Some("R3")),
        ("manifests/NORM_GLOBAL_h5.toml", Some("R7")),
        ("manifests/STRUCT_GRAPH_h5.toml", Some("R8")),
        ("manifests/EXEC_CLOSE_h5.toml", Some("R4")),
        ("manifests/LABEL_OVERLAP_h5.toml", Some("R6")),
    ] {
        let (code, rules, found) = checked(&folder, &format!("out/{manifest}"));
        assert_eq!(found["features"], 25);
        assert_eq!(rules, rule.into_iter().map(str::to_owned).collect(), "{manifest}");
        assert_eq!(code, Some(i32::from(rule.is_some())), "{manifest}");
        if let Some(finding) = found["findings"].as_array().unwrap().first() {
            let gains = finding["expected_gain"].as_array().unwrap();
            assert_eq!(gains.len(), 6, "a gain a model");
            assert!(finding["hint"].as_str().unwrap().len() > 10);
        }
    }
    // A terminal of usual width shows it, and the failure says what to do.
    let output = quiet(
        folder.path(),
        &["leak", "check", "out/manifests/EXEC_OPEN_h5.toml"],
    );
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let error = refused(&output, 1);
    assert!(
        error.contains("R3 (fill_before_knowledge)") && error.contains("hint: "),
        "{error}"
    );
}

#[test]
fn survivors_are_declared_as_such() {
    let text = format!("{SMALL}universe = {{ share = 0.5 }}\nprotocols = [\"EXEC_OPEN\"]\n");
    let folder = Folder::with(&[("share.toml", &text)]);
    assert_ok(&quiet(
        folder.path(),
        &["leak", "run", "share.toml", "--out", "out"],
    ));
    let (code, rules, _) = checked(&folder, "out/manifest.toml");
    assert_eq!((code, rules), (Some(1), BTreeSet::from(["R9".to_owned()])));
}

const MANIFEST: &str = "\
[protocol]
signal_at = \"close\"
fill_at = \"next_open\"
label = { price = \"open\", from_day = 1, horizon_days = 5 }
purge_days = 6

[[feature]]
name = \"momentum\"
expression = \"$close/Ref($close,20)-1\"
available_at = \"close\"
";

#[test]
fn what_is_no_manifest_is_refused_with_its_line() {
    let folder = Folder::with(&[("good.toml", MANIFEST)]);
    let (code, rules, _) = checked(&folder, "good.toml");
    assert_eq!((code, rules.len()), (Some(0), 0));
    let twice = format!(
        "{MANIFEST}\n[[feature]]\nname = \"momentum\"\ncommand = [\"a\"]\navailable_at = \"close\"\n"
    );
    for (text, parts) in [
        (
            MANIFEST.replace("purge_days = 6", "purge_days = -1"),
            ["line 5", "out of range"],
        ),
        (
            MANIFEST.replace("purge_days = 6", "purge_days = 6\nembargo = 3"),
            ["line 6", "unknown field"],
        ),
        (
            MANIFEST.replace("available_at = \"close\"", "available_at = \"three days later\""),
            ["line 10", "is no instant"],
        ),
        (twice, ["line 12", "two features have the name"]),
        (
            MANIFEST.replace("\"open\", from", "\"noon\", from"),
            ["line 4", "unknown variant"],
        ),
        (
            MANIFEST.replace("signal_at = \"close\"\n", ""),
            ["line 1", "missing field"],
        ),
        ("[protocol".to_owned(), ["line 1", "bad.toml"]),
    ] {
        folder.write("bad.toml", &text);
        let error = refused(&quiet(folder.path(), &["leak", "check", "bad.toml"]), 2);
        assert!(
            parts.iter().all(|part| error.contains(part)) && error.contains("hint: "),
            "{error}"
        );
    }
    let error = refused(&quiet(folder.path(), &["leak", "check", "nowhere.toml"]), 2);
    assert!(error.contains("nowhere.toml"), "{error}");
    // A lead in words is an expression that is refused, with its place.
    folder.write(
        "words.toml",
        MANIFEST.replace("Ref($close,20)", "Ref($close,minus three)"),
    );
    let (code, rules, found) = checked(&folder, "words.toml");
    assert_eq!((code, rules), (Some(1), BTreeSet::from(["R12".to_owned()])));
    assert!(found["findings"][0]["detail"].as_str().unwrap().contains("byte"));
}

#[test]
fn lines_of_source_are_hints_and_no_verdict() {
    let source = "import pandas\nx = close.rolling(5, center=True).mean()\ny = close.shift(-1)\n";
    let folder = Folder::with(&[("good.toml", MANIFEST), ("mine.py", source)]);
    let found = printed(&quiet(
        folder.path(),
        &["--json", "leak", "check", "good.toml", "--source", "mine.py"],
    ));
    let lines: Vec<u64> = found["source_hints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| hint["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3]);
}
