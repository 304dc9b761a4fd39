//! `ktd probe`, `ktd certify` and `ktd verify --certificate`: the same bytes for the same keys, every flipped byte found,
//! planted weaknesses named, and clear answers to bad input.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

mod another_build;
mod attempts;
mod changed;
mod forged;
mod given;
mod known;
mod language;
mod marks;
mod own_answers;
mod planted;
mod verdicts;

use ktd_io::lock::FileLock;
use ktd_io::sha256::sha256_hex;
use ktd_kit::{Folder, MASK_KEY, OTHER_MASK_KEY, assert_ok, copy, files, quiet, refused};
use ktd_record::chain::{Log, NO_GENESIS};
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
block_probes = 10
thresholds = { top1 = 1.0, top5 = 1.0, date20 = 1.0, joint = 1.0, same = 1.0, sector = 1.0 }
"#;

/// A signing key as `openssl genpkey -algorithm ed25519` writes it (RFC 8410, section 10.3).
const SIGNING_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";

/// Its public part.
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

/// A directory with the files that a run needs.
pub(crate) fn folder(config: &str) -> Folder {
    Folder::with(&[
        ("small.toml", config),
        ("mask.key", MASK_KEY),
        ("key.pem", SIGNING_KEY),
        ("key.pem.pub", PUBLIC_KEY),
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

/// A certificate goes on by its own command, which reads a file without `kind`, and with a key.
#[test]
fn no_set_is_signed_in_a_folder_that_another_process_writes() {
    let folder = folder(CONFIG);
    let out = folder.at("out");
    let _held = FileLock::of_folder(&out).unwrap();
    for more in [&[][..], &["--commit-only"]] {
        let signing = [
            &["certify", "small.toml", "--key", "key.pem", "--out", "out"],
            more,
        ]
        .concat();
        let told = refused(&quiet(folder.path(), &signing), 2);
        assert!(told.contains("another process is writing it"), "{told}");
        let found: Vec<_> = files(&out).into_keys().collect();
        assert_eq!(found, [Path::new("lock")], "{more:?}");
    }
}

#[test]
fn the_status_of_a_certificate_names_what_goes_on_with_it() {
    let copied = folder(CONFIG);
    copy(&scene().join("out"), &copied.at("out"));
    std::fs::remove_file(copied.at("out/report.json")).unwrap();
    let base = scene().join("small.toml");
    let next = || {
        let status = quiet(copied.path(), &["--json", "status", "out"]);
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        status["next"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        next(),
        format!("ktd certify {} --key KEY --out out", base.display())
    );
    // So does the nonce that no file names, also where a person has to choose the file.
    let study = copied.text("out/study.json");
    copied.write(
        "out/study.json",
        study.replacen("\"nonce\": null", "\"nonce\": \"heads\"", 1),
    );
    copied.write("twin.toml", CONFIG);
    copied.write(
        "out/private/base.json",
        serde_json::json!(copied.path()).to_string(),
    );
    let command = "ktd certify FILE --key KEY --nonce heads --out out, where FILE is one of these";
    assert!(next().starts_with(command), "{}", next());
    for gone in ["twin.toml", "small.toml"] {
        std::fs::remove_file(copied.at(gone)).unwrap();
    }
    let command = "ktd certify FILE --key KEY --nonce heads --out out, where FILE is that of the study";
    assert!(next().starts_with(command), "{}", next());
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
        // Where the file lies is the owner's business.
        assert!(left == right || file.ends_with("base.json"), "{}", file.display());
    }
    let before = std::fs::read(one.join("certificate.json")).unwrap();
    // Nor do blocks, which workers share.
    assert_eq!(names(&one.join("answers/blocks")).len(), 4);
    let whole = self::folder(&CONFIG.replace("block_probes = 10\n", ""));
    certify(whole.path(), &["--out", "one"]);
    assert_eq!(names(&whole.at("one/answers/blocks")).len(), 1);
    for file in ["certificate.json", "answers/combination.jsonl.zst"] {
        let left = std::fs::read(whole.at("one").join(file)).unwrap();
        assert!(left == std::fs::read(one.join(file)).unwrap(), "{file}");
    }
    certify(folder.path(), &["--out", "one"]);
    assert!(before == std::fs::read(one.join("certificate.json")).unwrap());
    // The study is made again from its record, quick and whole.
    for more in [&[][..], &["--deep"]] {
        assert_ok(&quiet(folder.path(), &[&["replay", "one"], more].concat()));
    }
}

/// A block in which all attackers answer what the first does.
fn of_the_first(block: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(zstd::decode_all(block).unwrap()).unwrap();
    let weak = text.lines().map(|line| {
        let answers: Vec<Value> = serde_json::from_str(line).unwrap();
        serde_json::to_string(&vec![&answers[0]; answers.len()]).unwrap() + "\n"
    });
    zstd::encode_all(weak.collect::<String>().as_bytes(), 3).unwrap()
}

/// Whoever hands on a folder may write its record anew, every hash of it right: answers of the weakest attacker for those of all.
#[test]
fn what_is_signed_was_answered_now() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    let root = folder.path().join("out");
    let before = std::fs::read(root.join("certificate.json")).unwrap();
    let weak = std::fs::read(root.join("answers/random.jsonl.zst")).unwrap();
    let path = root.join("units.jsonl");
    let record = std::fs::read_to_string(&path).unwrap();
    let mut log = Log::kept_by_caller(&path, NO_GENESIS);
    let mut forged = String::new();
    for line in record.lines() {
        let mut body = serde_json::from_str::<Value>(line).unwrap()["body"].take();
        if body["id"] == "verdict" {
            continue;
        }
        if body["id"].as_str().unwrap().starts_with("answers.") {
            let file = body["files"].as_object().unwrap().keys().next().unwrap().clone();
            let bytes = of_the_first(&std::fs::read(root.join(&file)).unwrap());
            std::fs::write(root.join(&file), &bytes).unwrap();
            body["files"][&file] = sha256_hex(&bytes).into();
            body["found"]["sha256"] = sha256_hex(&bytes).into();
        }
        if body["id"] == "answers" {
            for (file, sha256) in body["files"].as_object_mut().unwrap() {
                std::fs::write(root.join(file), &weak).unwrap();
                *sha256 = sha256_hex(&weak).into();
            }
            for figure in body["found"]["recovered"].as_array_mut().unwrap() {
                figure["hits"] = 0.into();
            }
        }
        forged.push_str(&log.append(&body).unwrap());
        forged.push('\n');
    }
    std::fs::write(&path, forged).unwrap();
    for file in ["certificate.json", "report.json"] {
        std::fs::remove_file(root.join(file)).unwrap();
    }
    certify(folder.path(), &["--out", "out"]);
    assert!(before == std::fs::read(root.join("certificate.json")).unwrap());
    let answers = "answers/combination.jsonl.zst";
    let whole = std::fs::read(scene().join("out").join(answers)).unwrap();
    assert!(weak != whole && whole == std::fs::read(root.join(answers)).unwrap());
}

#[test]
fn what_is_gone_or_changed_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    let root = folder.path().join("out");
    let read = |file: &str| std::fs::read(root.join(file)).unwrap();
    let before = read("certificate.json");
    std::fs::remove_file(root.join("answers/random.jsonl.zst")).unwrap();
    // Answers of a weaker attacker, controls of one that recovered more, another key.
    for (file, other) in [
        ("answers/combination.jsonl.zst", "answers/price-level.jsonl.zst"),
        (
            "controls/exact-day/answers/index-path.jsonl.zst",
            "controls/exact-day/answers/price-level.jsonl.zst",
        ),
        ("private/gold.jsonl", "private/exact-day.gold.jsonl"),
    ] {
        std::fs::write(root.join(file), read(other)).unwrap();
    }
    let signed = certify(folder.path(), &["--out", "out"]);
    assert!(before == read("certificate.json"));
    for file in names(&scene().join("out")) {
        let is_same = std::fs::read(scene().join("out").join(&file)).unwrap()
            == std::fs::read(root.join(&file)).unwrap();
        assert!(is_same || file.ends_with("base.json"), "{}", file.display());
    }
    let rows = String::from_utf8(read("figures.csv")).unwrap().lines().count();
    assert_eq!(
        rows,
        1 + signed["certificate"]["figures"].as_array().unwrap().len()
    );
    // Probes alone recover the same.
    let probed = quiet(
        folder.path(),
        &["--json", "probe", "small.toml", "--out", "probed"],
    );
    let probed: Value = serde_json::from_slice(&probed.stdout).unwrap();
    assert_eq!(probed["figures"], signed["certificate"]["figures"]);
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
    let again = || {
        refused(
            &quiet(
                folder.path(),
                &["certify", "small.toml", "--key", "key.pem", "--out", "out"],
            ),
            2,
        )
    };
    for (from, to, told) in [
        ("seed = 3,", "seed = 4,", "`decides.panel_blake3` was "),
        ("days = 3\n", "days = 4\n", "`decides.plan.days` was 3 and is 4"),
    ] {
        std::fs::write(folder.path().join("small.toml"), CONFIG.replacen(from, to, 1)).unwrap();
        let error = again();
        assert!(
            error.contains("a study of other settings") && error.contains(told),
            "{error}"
        );
    }
    std::fs::write(folder.path().join("mask.key"), OTHER_MASK_KEY).unwrap();
    std::fs::write(folder.path().join("small.toml"), CONFIG).unwrap();
    let error = again();
    assert!(error.contains("a study of other settings"), "{error}");
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
