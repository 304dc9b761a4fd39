//! `ktd probe`, `ktd certify` and `ktd verify --certificate`: the same bytes for the same keys, every flipped byte found,
//! planted weaknesses named, and clear answers to bad input.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod attempts;
mod changed;
mod forged;
mod given;
mod known;
mod language;
mod marks;
mod planted;

use ktd_kit::{Folder, MASK_KEY, OTHER_MASK_KEY, copy, files, quiet, refused};
use ktd_program::MASK_SOURCE_SHA256;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A small synthetic panel and few probes. Thresholds this wide refuse no mask: what is tested is the way.
pub(crate) const CONFIG: &str = r#"
name = "small"
seed = 4
synthetic = { seed = 3, names = 80, days = 480 }
mask_key_file = "mask.key"
mask = { level = "blinded", numeric = "banded" }
probes = { day = 12, days = 6, episode = 4, linked = 8, anchored = 6 }
days = 3
episode_steps = 8
stretches = 2
training = 6
control_probes = 100
thresholds = { top1 = 1.0, top5 = 1.0, date20 = 1.0, joint = 1.0, same = 1.0, sector = 1.0 }
"#;

/// A signing key as `openssl genpkey -algorithm ed25519` writes it (RFC 8410, section 10.3).
const SIGNING_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";

/// A directory with the files that a run needs.
pub(crate) fn folder(config: &str) -> Folder {
    Folder::with(&[
        ("small.toml", config),
        ("mask.key", MASK_KEY),
        ("key.pem", SIGNING_KEY),
    ])
}

/// What a command said in JSON, whether it certified or refused.
pub(crate) fn certify(folder: &Path, more: &[&str]) -> Value {
    let arguments = [&["--json", "certify", "small.toml", "--key", "key.pem"], more].concat();
    let output = quiet(folder, &arguments);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A finished certificate, made once for all tests, which only read it.
pub(crate) fn scene() -> &'static Path {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE
        .get_or_init(|| {
            let folder = folder(CONFIG);
            certify(folder.path(), &["--out", "out", "--threads", "3"]);
            folder
        })
        .path()
}

/// The names of every file below a directory, in order.
pub(crate) fn names(root: &Path) -> Vec<PathBuf> {
    files(root).into_keys().collect()
}

#[test]
fn threads_and_reruns_do_not_change_a_byte() {
    let folder = folder(CONFIG);
    certify(folder.path(), &["--out", "one", "--threads", "1"]);
    let (one, three) = (folder.path().join("one"), scene().join("out"));
    assert_eq!(names(&one), names(&three));
    for file in names(&one) {
        let (left, right) = (
            std::fs::read(one.join(&file)).unwrap(),
            std::fs::read(three.join(&file)).unwrap(),
        );
        assert!(left == right, "{}", file.display());
    }
    let before = std::fs::read(one.join("certificate.json")).unwrap();
    certify(folder.path(), &["--out", "one"]);
    assert!(before == std::fs::read(one.join("certificate.json")).unwrap());
}

#[test]
fn a_finished_set_is_only_counted_again() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    // Without its panel nothing can be made: the tables come from the files alone.
    let again = quiet(folder.path(), &["--json", "probe", "small.toml", "--out", "out"]);
    assert!(again.status.success(), "{again:?}");
    let found: Value = serde_json::from_slice(&again.stdout).unwrap();
    let signed: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("out/certificate.json")).unwrap()).unwrap();
    assert_eq!(found["figures"], signed["certificate"]["figures"]);
    // An answer that is gone is given again, and is the same.
    let answers = folder.path().join("out/answers/random.jsonl.zst");
    let before = std::fs::read(&answers).unwrap();
    std::fs::remove_file(&answers).unwrap();
    let csv = quiet(folder.path(), &["probe", "small.toml", "--out", "out", "--csv"]);
    assert!(csv.status.success(), "{csv:?}");
    assert!(before == std::fs::read(&answers).unwrap());
    let rows = String::from_utf8(csv.stdout).unwrap().lines().count();
    assert_eq!(rows, 1 + found["figures"].as_array().unwrap().len());
}

#[test]
fn every_probe_is_counted() {
    let signed: Value =
        serde_json::from_slice(&std::fs::read(scene().join("out/certificate.json")).unwrap()).unwrap();
    let certificate = &signed["certificate"];
    for figure in certificate["figures"].as_array().unwrap() {
        let kind = figure["kind"].as_str().unwrap();
        let put = certificate["set"]["counts"][kind].as_u64().unwrap();
        assert_eq!(figure["asked"].as_u64().unwrap(), put, "{figure}");
        assert!(figure["hits"].as_u64().unwrap() <= put);
    }
    // Fifteen attackers, eight measures of four kinds (the panel has sectors) and one of linked probes.
    assert_eq!(certificate["figures"].as_array().unwrap().len(), 15 * (4 * 8 + 1));
    assert_eq!(certificate["attackers"].as_array().unwrap().len(), 15);
    let text = std::fs::read_to_string(scene().join("out/private/gold.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 12 + 6 + 4 + 8 + 6);
}

#[test]
fn bad_input_gets_a_clear_answer() {
    let folder = folder(CONFIG);
    let path = folder.path();
    for (config, arguments, part) in [
        (CONFIG, &["certify", "small.toml"][..], "no key signs"),
        (
            CONFIG,
            &["certify", "small.toml", "--key", "mask.key"],
            "holds no Ed25519 key",
        ),
        (
            CONFIG,
            &["certify", "--key", "key.pem"],
            "no file says what is probed",
        ),
        (
            CONFIG,
            &["probe", "small.toml", "--probes", "absent"],
            "holds no probes",
        ),
    ] {
        std::fs::write(path.join("small.toml"), config).unwrap();
        let error = refused(&quiet(path, arguments), 2);
        assert!(error.contains(part) && error.contains("hint: "), "{error}");
    }
    for (from, to, part) in [
        (
            "numeric = \"banded\"",
            "numeric = \"blurred\"",
            "unknown numeric setting \"blurred\"",
        ),
        ("level = \"blinded\"", "level = \"bright\"", "nothing to certify"),
        ("stretches = 2", "stretches = 20", "are needed for 20 stretches"),
        ("training = 6", "trainings = 6", "unknown field `trainings`"),
        ("days = 480", "days = 200", "trading days"),
    ] {
        std::fs::write(path.join("small.toml"), CONFIG.replacen(from, to, 1)).unwrap();
        let error = refused(&quiet(path, &["certify", "small.toml", "--key", "key.pem"]), 2);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_directory_holds_one_set() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    for (from, to, part) in [
        ("seed = 3,", "seed = 4,", "panel differs"),
        ("days = 3\n", "days = 4\n", "plan differs"),
    ] {
        std::fs::write(folder.path().join("small.toml"), CONFIG.replacen(from, to, 1)).unwrap();
        let error = refused(&quiet(folder.path(), &["probe", "small.toml", "--out", "out"]), 2);
        assert!(
            error.contains("holds another probe set") && error.contains(part),
            "{error}"
        );
    }
    std::fs::write(folder.path().join("mask.key"), OTHER_MASK_KEY).unwrap();
    std::fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let error = refused(&quiet(folder.path(), &["probe", "small.toml", "--out", "out"]), 2);
    assert!(error.contains("mask differs"), "{error}");
    let path = folder.path().join("out/set.json");
    let record = std::fs::read_to_string(&path).unwrap();
    let other = record.replace(MASK_SOURCE_SHA256, &"0".repeat(64));
    std::fs::write(&path, other).unwrap();
    let error = refused(&quiet(folder.path(), &["probe", "small.toml", "--out", "out"]), 2);
    assert!(error.contains("program source differs"), "{error}");
}

#[test]
fn what_is_signed_was_answered_now() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    let root = folder.path().join("out");
    let read = |file: &str| std::fs::read(root.join(file)).unwrap();
    let before = read("certificate.json");
    // Answers of a weaker attacker, which recovered less, and controls of one that recovered more.
    std::fs::write(
        root.join("answers/combination.jsonl.zst"),
        read("answers/random.jsonl.zst"),
    )
    .unwrap();
    std::fs::write(
        root.join("controls/exact-day/answers/index-path.jsonl.zst"),
        read("controls/exact-day/answers/price-level.jsonl.zst"),
    )
    .unwrap();
    certify(folder.path(), &["--out", "out"]);
    assert!(before == read("certificate.json"));
    let gold = String::from_utf8(read("private/gold.jsonl")).unwrap();
    std::fs::write(
        root.join("private/gold.jsonl"),
        gold.replacen("\"place\":", "\"place\":1", 1),
    )
    .unwrap();
    let arguments = ["certify", "small.toml", "--key", "key.pem", "--out", "out"];
    let error = refused(&quiet(folder.path(), &arguments), 1);
    assert!(
        error.contains("gold.jsonl: its hash is not the one in set.json"),
        "{error}"
    );
}

#[test]
fn a_new_key_signs() {
    let folder = folder(CONFIG);
    let made = quiet(folder.path(), &["--json", "certify", "--new-key", "own.pem"]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(made["fingerprint"].as_str().unwrap().len(), 64);
    let arguments = [
        "--json",
        "certify",
        "small.toml",
        "--key",
        "own.pem",
        "--out",
        "out",
    ];
    let signed: Value = serde_json::from_slice(&quiet(folder.path(), &arguments).stdout).unwrap();
    assert_eq!(signed["signature"]["fingerprint"], made["fingerprint"]);
    let again = refused(&quiet(folder.path(), &["certify", "--new-key", "own.pem"]), 2);
    assert!(again.contains("own.pem exists"), "{again}");
}
