//! What cannot be read, and what is read all the same.

use super::*;

/// A copy of one bundle that may be damaged.
fn copied(folder: &Path) -> PathBuf {
    let bundle = folder.join("bundle");
    copy(&cell("blinded"), &bundle);
    bundle
}

#[test]
fn a_damaged_bundle_is_named() {
    for (file, code) in [
        ("events.jsonl", 1),
        ("header.json", 1),
        ("exchanges.jsonl.zst", 1),
        ("summary.json", 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let bundle = copied(folder.path());
        let path = bundle.join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let said = refused(&quiet(folder.path(), &["reasons", "bundle"]), code);
        assert!(said.contains(file), "{said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&quiet(folder.path(), &["reasons", "."]), 2);
    assert!(said.contains("holds no bundle"), "{said}");
}

#[test]
fn a_published_bundle_is_read_without_its_private_part() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = copied(folder.path());
    let whole = report(folder.path(), &["bundle"]);
    std::fs::remove_dir_all(bundle.join("private")).unwrap();
    let public = report(folder.path(), &["bundle"]);
    assert_eq!(
        (&whole["rows"], &whole["hits"]),
        (&public["rows"], &public["hits"])
    );
}

#[test]
fn what_is_left_out_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = copied(folder.path());
    copy(&cell("bright"), &folder.path().join("open"));
    std::fs::remove_file(folder.path().join("open/summary.json")).unwrap();
    let branch = [
        "replay",
        bundle.to_str().unwrap(),
        "--branch",
        "2",
        "--builtin",
        "hold",
        "--out",
        "branch",
    ];
    assert_ok(&quiet(folder.path(), &branch));
    let report = report(folder.path(), &["."]);
    assert_eq!(report["rows"].as_array().unwrap().len(), 1);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("1 episodes have not ended") && notes.contains("branches are left out"),
        "{notes}"
    );
    let said = refused(&quiet(folder.path(), &["reasons", "branch"]), 2);
    assert!(said.contains("no finished episode to read"), "{said}");
}

#[test]
fn an_episode_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    copied(folder.path());
    let own = cell("blinded");
    let said = refused(
        &quiet(folder.path(), &["reasons", "bundle", own.to_str().unwrap()]),
        2,
    );
    assert!(said.contains("are both seed 1 of \"mine\""), "{said}");
}

#[test]
fn without_its_panel_companies_are_not_known_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let synth = [
        "data",
        "synth",
        "--names",
        "20",
        "--days",
        "330",
        "--seed",
        "5",
        "--out",
        "panel.ktdp",
    ];
    assert_ok(&quiet(folder.path(), &synth));
    let experiment = EXPERIMENT
        .replace(
            "synthetic = { seed = 5, names = 20, days = 330 }",
            "panel = \"panel.ktdp\"",
        )
        .replace(", { id = \"quiet\", builtin = \"hold\" }", "");
    run(folder.path(), &experiment);
    let notes = |report: &Value| report["notes"].to_string();
    assert_eq!(notes(&report(folder.path(), &["out"])), "[]");
    std::fs::rename(folder.path().join("panel.ktdp"), folder.path().join("moved.ktdp")).unwrap();
    let without = report(folder.path(), &["out"]);
    assert!(
        notes(&without).contains("were not looked for in 4 episodes") && notes(&without).contains("--panel")
    );
    assert_eq!(
        notes(&report(folder.path(), &["out", "--panel", "moved.ktdp"])),
        "[]"
    );
    let other = [
        "data",
        "synth",
        "--names",
        "21",
        "--days",
        "330",
        "--seed",
        "5",
        "--out",
        "other.ktdp",
    ];
    assert_ok(&quiet(folder.path(), &other));
    let said = refused(
        &quiet(folder.path(), &["reasons", "out", "--panel", "other.ktdp"]),
        2,
    );
    assert!(said.contains("the bundle was made on"), "{said}");
}
