//! `ktd replay --branch`: another agent from a step on, in a bundle of its own that verifies, replays and continues.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::{Folder, Need, Recorded, assert_ok, command, quiet};
use std::path::Path;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 20, days = 200 }
masks = [{ level = "blinded" }]
modes = ["fixed-candidate"]
agents = [
    { id = "momentum", builtin = "momentum" },
    { id = "other", builtin = "equal-weight" },
]
windows = [{ id = "w", last_days = 4 }]
"#;

const BUNDLE: &str = "out/cells/momentum__w__blinded-exact__fixed-candidate__s1";

/// A directory with a finished experiment.
fn scene() -> Folder {
    let folder = Folder::with(&[("try.toml", EXPERIMENT)]);
    assert_ok(&quiet(folder.path(), &["run", "try.toml", "--out", "out"]));
    folder
}

fn branch<'a>(step: &'a str, out: &'a str, who: &[&'a str]) -> Vec<&'a str> {
    [&["replay", BUNDLE, "--branch", step, "--out", out], who].concat()
}

fn agent(folder: &Path, bundle: &str) -> String {
    let text = std::fs::read_to_string(folder.join(bundle).join("header.json")).unwrap();
    let header: serde_json::Value = serde_json::from_str(&text).unwrap();
    let id = header.pointer("/agent/id").unwrap();
    id.as_str().unwrap().to_owned()
}

#[test]
fn the_same_a_named_and_a_built_in_agent_go_on() {
    let folder = scene();
    for (out, who, id) in [
        ("same", &[][..], "momentum"),
        ("named", &["--agent", "try.toml:other"], "other"),
        ("builtin", &["--builtin", "hold"], "hold"),
    ] {
        let output = quiet(folder.path(), &branch("3", out, who));
        assert_ok(&output);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            told.contains(id) && told.contains("steps before 3 are those of momentum__w"),
            "{told}"
        );
        assert_eq!(agent(folder.path(), out), id);
        assert_ok(&quiet(folder.path(), &["verify", out]));
        assert_ok(&quiet(folder.path(), &["replay", out]));
        // Finished, it is what it is.
        assert_ok(&quiet(folder.path(), &branch("3", out, who)));
    }
}

#[test]
fn a_killed_branch_is_continued_by_the_same_command() {
    if !Need::CrashPoints.is_met() {
        return;
    }
    let folder = scene();
    let read = |out: &str, file: &str| std::fs::read(folder.path().join(out).join(file)).unwrap();
    let sends = |out: &str| Recorded::read(&folder.at(out).join("exchanges.jsonl.zst")).unwrap();
    let hold = ["--builtin", "hold"];
    assert_ok(&quiet(folder.path(), &branch("2", "whole", &hold)));
    let whole = sends("whole");
    for (place, crash) in ["intent:1", "sent:2", "outcome:1", "step:1"]
        .into_iter()
        .enumerate()
    {
        let out = format!("killed-{place}");
        let arguments = branch("2", &out, &hold);
        let killed = command(folder.path(), &arguments)
            .env("KTD_CRASH", crash)
            .output()
            .unwrap();
        assert!(killed.status.code().is_none(), "{crash}: {killed:?}");
        assert_ok(&quiet(folder.path(), &arguments));
        for file in ["header.json", "events.jsonl", "private/ledger.jsonl"] {
            assert!(read(&out, file) == read("whole", file), "{crash}: {file} differs");
        }
        let verified = quiet(folder.path(), &["verify", &out]);
        assert_ok(&verified);
        let told = String::from_utf8_lossy(&verified.stdout).into_owned();
        let is_unknown = ["intent", "sent"].iter().any(|point| crash.starts_with(point));
        assert_eq!(
            told.contains("with unknown outcome"),
            is_unknown,
            "{crash}: {told}"
        );
        // Nothing that was answered is asked for again.
        let now = sends(&out);
        assert!(now.answered().eq(whole.answered()), "{crash}: other exchanges");
        assert_eq!(
            now.sends().count() - whole.sends().count(),
            usize::from(is_unknown),
            "{crash}"
        );
    }
}

#[test]
fn what_does_not_fit_is_bad_input() {
    let folder = scene();
    for (arguments, part) in [
        (branch("0", "x", &[]), "4 steps are recorded"),
        (branch("5", "x", &[]), "4 steps are recorded"),
        (branch("2", "x", &["--builtin", "nobody"]), "no built-in agent"),
        (branch("2", "x", &["--agent", "try.toml"]), "EXPERIMENT.toml:ID"),
        (
            branch("2", "x", &["--agent", "try.toml:nobody"]),
            "momentum, other",
        ),
        (branch("2", "x", &["--agent", "none.toml:a"]), "none.toml"),
        (
            branch("2", "x", &["--agent", "try.toml:other", "--builtin", "hold"]),
            "cannot be used with",
        ),
        (branch("2", "x", &["--step", "2"]), "cannot be used with"),
        (vec!["replay", BUNDLE, "--branch", "2"], "--out"),
        (branch("2", BUNDLE, &[]), "holds another bundle"),
    ] {
        let output = quiet(folder.path(), &arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{arguments:?}: {told}");
        assert!(!folder.path().join("x").exists(), "{arguments:?} left something");
    }
    // Without its private part nobody knows which names and days to show.
    std::fs::remove_dir_all(folder.path().join(BUNDLE).join("private")).unwrap();
    let output = quiet(folder.path(), &branch("2", "x", &[]));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && told.contains("no private part"),
        "{told}"
    );
}
