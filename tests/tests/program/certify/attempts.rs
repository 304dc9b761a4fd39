//! Committed before it is attacked: what was changed afterwards is found, and every attempt is counted, whatever became of it.

use crate::certify::forged::{honest, sign};
use crate::certify::{certify, folder, scene};
use ktd_certify::attempts::{AttemptEvent, AttemptLog};
use ktd_certify::certificate::Certificate;
use ktd_certify::mark::Certificates;
use ktd_certify::verify::{Check, verify};
use ktd_kit::{OTHER_MASK_KEY, assert_ok, command, copy, quiet, refused};
use ktd_probes::judge::CertificateVerdict;
use ktd_record::chain::{Log, NO_GENESIS};
use ktd_record::signing::SigningKey;
use serde_json::{Value, json};
use std::path::Path;

/// Few probes of one kind: attackers that are this blind certify nothing.
pub(crate) const TINY: &str = r#"
name = "tiny"
synthetic = { seed = 3, names = 40, days = 400 }
mask_key_file = "mask.key"
mask = { level = "blinded", numeric = "banded" }
probes = { day = 4 }
days = 2
episode_steps = 4
stretches = 2
training = 2
control_probes = 2
"#;

fn check(root: &Path, nonce: Option<&str>) -> Result<Vec<String>, String> {
    let check = Check {
        nonce: nonce.map(str::to_owned),
        ..Check::default()
    };
    verify(&root.join("certificate.json"), &check)
        .map(|(_, verified)| verified.checks)
        .map_err(|error| error.to_string())
}

/// The scene's directory with its certificate changed and signed again by its own signer.
fn changed(change: impl Fn(&mut Certificate)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&scene().join("out"), folder.path());
    let mut certificate = honest();
    change(&mut certificate);
    sign(certificate, &folder.path().join("certificate.json"));
    folder
}

#[test]
fn what_was_changed_after_the_commitment_is_refused() {
    let folder = changed(|certificate| certificate.thresholds.top1 = 0.9);
    let error = check(folder.path(), None).unwrap_err();
    assert!(
        error.contains("its thresholds are not those of commitment.json"),
        "{error}"
    );
    let folder = changed(|certificate| certificate.confidence = 0.9);
    let error = check(folder.path(), None).unwrap_err();
    assert!(error.contains("its confidence"), "{error}");

    // Another set of probes in place of the one that was committed to, with every hash as it must be.
    let folder = changed(|_| {});
    let root = folder.path();
    let mut certificate = honest();
    certificate.set.plan.seed += 1;
    let set = serde_json::to_vec(&certificate.set).unwrap();
    let hash = ktd_io::sha256::sha256_hex(&set);
    std::fs::write(root.join("set.json"), set).unwrap();
    certificate.files.insert("set.json".to_owned(), hash);
    sign(certificate, &root.join("certificate.json"));
    let error = check(root, None).unwrap_err();
    assert!(
        error.contains("its probes are not those of commitment.json"),
        "{error}"
    );

    let folder = changed(|_| {});
    std::fs::remove_file(folder.path().join("commitment.json")).unwrap();
    let error = check(folder.path(), None).unwrap_err();
    assert!(error.contains("commitment.json"), "{error}");
}

#[test]
fn an_edited_count_is_refused() {
    let folder = changed(|certificate| certificate.attempts.attempts += 1);
    let error = check(folder.path(), None).unwrap_err();
    assert!(error.contains("its attempts do not add up"), "{error}");
    let folder = changed(|certificate| {
        certificate.attempts.attempts += 1;
        certificate.attempts.unjudged += 1;
    });
    let error = check(folder.path(), None).unwrap_err();
    assert!(error.contains("it counts 2 to certify this rung"), "{error}");
    // Without the log its own words are all that there is, and verify says so.
    std::fs::remove_file(folder.path().join("attempts.jsonl")).unwrap();
    let path = folder.path().join("certificate.json");
    let (_, verified) = verify(&path, &Check::default()).unwrap();
    assert!(
        verified
            .unchecked
            .iter()
            .any(|line| line.contains("attempts.jsonl is not here")),
        "{verified:?}"
    );
}

#[test]
fn attempts_are_counted_whatever_became_of_them() {
    let folder = folder(TINY);
    let root = folder.path();
    let refused_first = certify(root, &["--out", "one"]);
    assert_eq!(refused_first["certificate"]["verdict"], "refused");
    // With another mask key it is another attempt, and the first is counted.
    std::fs::write(root.join("mask.key"), OTHER_MASK_KEY).unwrap();
    let second = certify(root, &["--out", "two"]);
    let counts = |signed: &Value| {
        let attempts = &signed["certificate"]["attempts"];
        ["attempts", "refused", "certified", "unjudged"].map(|name| attempts[name].as_u64().unwrap())
    };
    assert_eq!(
        (counts(&refused_first), counts(&second)),
        ([1, 1, 0, 0], [2, 2, 0, 0])
    );
    assert_ok(&quiet(root, &["verify", "--certificate", "two/certificate.json"]));
    // What the counted attempts are worth: with so few probes nothing passes, however often it is drawn.
    let report: Value =
        serde_json::from_slice(&std::fs::read(root.join("two/report.json")).unwrap()).unwrap();
    let odds = &report["pass_odds"];
    assert_eq!(
        (&odds["attempts"], &odds["asked"], &odds["any_attempt"]),
        (&json!(2), &json!(4), &json!(0.0)),
        "{report}"
    );
    let verify = ["--json", "verify", "--certificate", "two/certificate.json"];
    let verified: Value = serde_json::from_slice(&quiet(root, &verify).stdout).unwrap();
    assert_eq!(verified["certificate"]["pass_odds"], *odds);

    // Killed between commitment and verdict it is an attempt without one; carried on, it is the same attempt.
    std::fs::write(root.join("small.toml"), format!("{TINY}seed = 2\n")).unwrap();
    let arguments = ["certify", "small.toml", "--key", "key.pem", "--out", "three"];
    let killed = command(root, &arguments)
        .env("KTD_CRASH", "committed:1")
        .output()
        .unwrap();
    assert!(
        !killed.status.success() && killed.status.code().is_none(),
        "{killed:?}"
    );
    assert!(root.join("three/commitment.json").exists());
    assert!(!root.join("three/answers").exists());
    let fourth = certify(root, &["--out", "four"]);
    assert_eq!(counts(&fourth), [4, 3, 0, 1]);
    let third = certify(root, &["--out", "three"]);
    assert_eq!(counts(&third), [4, 4, 0, 0]);
    // A rung of another kind begins at one.
    std::fs::write(root.join("small.toml"), TINY.replace("banded", "ranked")).unwrap();
    assert_eq!(counts(&certify(root, &["--out", "ranked"])), [1, 1, 0, 0]);

    // A line that was taken out of the log is missed before anything is signed.
    let log = root.join("key.pem.attempts.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let without: Vec<&str> = text.lines().skip(1).collect();
    std::fs::write(&log, without.join("\n") + "\n").unwrap();
    let error = refused(
        &quiet(
            root,
            &["certify", "small.toml", "--key", "key.pem", "--out", "five"],
        ),
        1,
    );
    assert!(error.contains("key.pem.attempts.jsonl"), "{error}");
    // So is one that was taken out of a certificate's copy.
    let copied = std::fs::read_to_string(root.join("two/attempts.jsonl")).unwrap();
    let first: Vec<&str> = copied.lines().take(2).collect();
    std::fs::write(root.join("two/attempts.jsonl"), first.join("\n") + "\n").unwrap();
    let error = refused(
        &quiet(root, &["verify", "--certificate", "two/certificate.json"]),
        1,
    );
    assert!(
        error.contains("it counts 2") && error.contains("has 1"),
        "{error}"
    );
}

#[test]
fn a_refusal_stays_counted_when_another_verdict_follows() {
    let folder = tempfile::tempdir().unwrap();
    let key = SigningKey::read(&scene().join("key.pem")).unwrap();
    let log = AttemptLog::of_key(&folder.path().join("key.pem"), &key.public());
    let set = honest().set;
    let subject = ktd_certify::attempts::AttemptSubject::of(&set);
    let counts = |lines: &ktd_certify::attempts::AttemptLines| {
        let counts = lines.count(&subject);
        (counts.attempts, counts.refused, counts.certified, counts.unjudged)
    };
    log.commit("a", &set).unwrap();
    log.commit("a", &set).unwrap();
    log.commit("b", &set).unwrap();
    log.judge("a", CertificateVerdict::Refused).unwrap();
    assert_eq!(counts(&log.read().unwrap()), (2, 1, 0, 1));
    let first = log.judge("b", CertificateVerdict::Certified).unwrap();
    log.judge("a", CertificateVerdict::Certified).unwrap();
    assert_eq!(counts(&log.read().unwrap()), (2, 1, 1, 0));
    // A verdict that the log has already is none of a new attempt, and gives the same copy.
    let again = log.judge("b", CertificateVerdict::Certified).unwrap();
    assert_eq!(first.text(), again.text());
    assert!(again.text().lines().count() < log.read().unwrap().text().lines().count());
    assert!(
        serde_json::from_value::<AttemptEvent>(json!({ "event": "forgotten", "commitment": "a" })).is_err()
    );
}

/// One log a key: neither a log that another key began, nor one that no key did, is counted.
#[test]
fn a_log_is_its_keys_alone() {
    let folder = folder(TINY);
    let root = folder.path();
    let log = root.join("key.pem.attempts.jsonl");
    let again = |key: &str| {
        let arguments = [
            "certify",
            "small.toml",
            "--key",
            key,
            "--out",
            "two",
            "--commit-only",
        ];
        quiet(root, &arguments)
    };
    certify(root, &["--out", "one"]);
    assert_ok(&quiet(root, &["certify", "--new-key", "other.pem"]));
    std::fs::copy(&log, root.join("other.pem.attempts.jsonl")).unwrap();
    let error = refused(&again("other.pem"), 1);
    for part in [
        "other.pem.attempts.jsonl: its first line does not follow from the signing key",
        "hint: each signing key has one log",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert!(!root.join("two").exists());
    // The same events as an earlier version chained them: from nothing.
    let whole = std::fs::read_to_string(&log).unwrap();
    let mut earlier = Log::kept_by_caller(&log, NO_GENESIS);
    let lines = whole.lines().map(|line| {
        let body = serde_json::from_str::<Value>(line).unwrap()["body"].take();
        earlier.append(&body).unwrap() + "\n"
    });
    let earlier: String = lines.collect();
    std::fs::write(&log, &earlier).unwrap();
    let error = refused(&again("key.pem"), 1);
    assert!(
        error.contains("key.pem.attempts.jsonl: it is a log of an earlier version")
            && error.contains("certificates of that version are refused as well"),
        "{error}"
    );
    // Nor is it as the copy beside a certificate.
    std::fs::write(root.join("one/attempts.jsonl"), earlier).unwrap();
    let error = check(&root.join("one"), None).unwrap_err();
    assert!(
        error.contains("one/attempts.jsonl: it is a log of an earlier version"),
        "{error}"
    );
    // No option and no key of a file names another log.
    std::fs::write(&log, whole).unwrap();
    let named = [
        "certify",
        "small.toml",
        "--key",
        "key.pem",
        "--attempts",
        "other.jsonl",
    ];
    assert!(refused(&quiet(root, &named), 2).contains("--attempts"));
    std::fs::write(
        root.join("small.toml"),
        format!("attempts = \"other.jsonl\"\n{TINY}"),
    )
    .unwrap();
    assert!(refused(&again("key.pem"), 2).contains("unknown field `attempts`"));
}

/// Whoever copies a key file begins a second log: certificates of both, given together, tell.
#[test]
fn two_logs_of_one_key_are_found() {
    let folder = folder(TINY);
    let root = folder.path();
    let read = |names: &[&str]| {
        let paths = names.iter().map(|name| root.join(name).join("certificate.json"));
        Certificates::read(&paths.collect::<Vec<_>>(), None).map_err(|error| error.to_string())
    };
    certify(root, &["--out", "one"]);
    std::fs::write(root.join("mask.key"), OTHER_MASK_KEY).unwrap();
    certify(root, &["--out", "two"]);
    // Logs of one key, each up to its own verdict.
    for names in [["one", "two"], ["two", "one"], ["one", "one"]] {
        read(&names).unwrap();
    }
    std::fs::copy(root.join("key.pem"), root.join("copy.pem")).unwrap();
    let arguments = ["certify", "small.toml", "--key", "copy.pem", "--out", "three"];
    let made = quiet(root, &arguments);
    assert!(root.join("three/certificate.json").exists(), "{made:?}");
    // Each alone is as its log says.
    read(&["three"]).unwrap();
    for names in [&["one", "three"][..], &["three", "two"], &["one", "two", "three"]] {
        let error = read(names).unwrap_err();
        assert!(error.contains("kept two logs for one key"), "{error}");
    }
    // An edited copy marks nothing, and without one the attempts are its own words.
    let copy = root.join("two/attempts.jsonl");
    let whole = std::fs::read_to_string(&copy).unwrap();
    let first: Vec<&str> = whole.lines().take(2).collect();
    std::fs::write(&copy, first.join("\n") + "\n").unwrap();
    let error = read(&["two"]).unwrap_err();
    assert!(
        error.contains("it counts 2") && error.contains("has 1"),
        "{error}"
    );
    std::fs::remove_file(&copy).unwrap();
    read(&["one", "two", "three"]).unwrap_err();
    read(&["one", "two"]).unwrap();
}

#[test]
fn nobody_is_asked_before_the_commitment() {
    let folder = folder(TINY);
    let root = folder.path();
    assert_ok(&quiet(root, &["probe", "small.toml", "--out", "out"]));
    let arguments = ["certify", "small.toml", "--key", "key.pem", "--out", "out"];
    let error = refused(&quiet(root, &arguments), 2);
    assert!(error.contains("a study of other settings"), "{error}");
    assert!(!root.join("key.pem.attempts.jsonl").exists());
    // What was committed to stands: other thresholds, another signer and another nonce need another directory.
    let only = [&arguments[..5], &["first", "--commit-only"]].concat();
    assert_ok(&quiet(root, &only));
    assert!(!root.join("first/answers").exists());
    std::fs::write(
        root.join("small.toml"),
        format!("{TINY}thresholds = {{ top1 = 0.2, top5 = 0.05, date20 = 0.05, joint = 0.015, same = 0.05, sector = 0.05 }}\n"),
    )
    .unwrap();
    let error = refused(&quiet(root, &[&arguments[..5], &["first"]].concat()), 2);
    assert!(error.contains("a study of other settings"), "{error}");
    assert_ok(&quiet(root, &["certify", "--new-key", "other.pem"]));
    let error = refused(
        &quiet(
            root,
            &["certify", "small.toml", "--key", "other.pem", "--out", "first"],
        ),
        2,
    );
    assert!(error.contains("a study of other settings"), "{error}");
    // A commitment that is gone is not made anew over answers.
    std::fs::write(root.join("small.toml"), TINY).unwrap();
    certify(root, &["--out", "whole"]);
    std::fs::remove_file(root.join("whole/commitment.json")).unwrap();
    let error = refused(&quiet(root, &[&arguments[..5], &["whole"]].concat()), 2);
    assert!(
        error.contains("these probes were attacked before they were committed to"),
        "{error}"
    );
}

/// Who knows the nonce may try other seeds with it: they are other plans than the one that was given away before.
#[test]
fn a_seed_that_was_chosen_after_the_nonce_is_another_plan() {
    let folder = folder(TINY);
    let root = folder.path();
    let plan = |file: &str| {
        let hash = quiet(root, &["--json", "certify", file, "--plan-hash"]);
        let hash: Value = serde_json::from_slice(&hash.stdout).unwrap();
        hash["plan_sha256"].as_str().unwrap().to_owned()
    };
    let given = plan("small.toml");
    folder.write("lucky.toml", format!("seed = 5\n{TINY}"));
    assert_ne!(given, plan("lucky.toml"));
    certify(root, &["--out", "one", "--nonce", "heads"]);
    let verify = |hash: &str| {
        quiet(
            root,
            &[
                "verify",
                "--certificate",
                "one",
                "--nonce",
                "heads",
                "--plan-hash",
                hash,
            ],
        )
    };
    let held = verify(&given);
    assert_ok(&held);
    let said = String::from_utf8(held.stdout).unwrap();
    assert!(
        said.contains(&format!("the plan {given}, which leave no other probes to try")),
        "{said}"
    );
    let error = refused(&verify(&plan("lucky.toml")), 1);
    assert!(
        error.contains(&format!("the hash of its plan is {given}")),
        "{error}"
    );
    // The nonce alone leaves the plan to its signer's word.
    let alone = quiet(root, &["verify", "--certificate", "one", "--nonce", "heads"]);
    let said = String::from_utf8(alone.stdout).unwrap();
    assert!(
        said.contains("CLAIMED    plan: decided before that nonce"),
        "{said}"
    );
    folder.write("keyless.toml", TINY.replace("mask_key_file = \"mask.key\"\n", ""));
    let error = refused(&quiet(root, &["certify", "keyless.toml", "--plan-hash"]), 2);
    assert!(error.contains("--new-mask-key"), "{error}");
}

#[test]
fn an_auditors_nonce_decides_the_draw() {
    let folder = folder(TINY);
    let root = folder.path();
    let hash = |signed: &Value| signed["certificate"]["set"]["probe_set_sha256"].clone();
    let one = certify(root, &["--out", "one", "--nonce", "heads"]);
    let two = certify(root, &["--out", "two", "--nonce", "tails"]);
    assert_ne!(hash(&one), hash(&two));
    // Who drew stands in the text of the command, of its report and of the check, and on the page.
    certify(root, &["--out", "own"]);
    for (folder, nonce, says) in [
        ("own", &[][..], "draw: drawn by its signer: no auditor"),
        (
            "one",
            &["--nonce", "heads"],
            "draw: decided by the nonce \"heads\"",
        ),
    ] {
        let certificate = format!("{folder}/certificate.json");
        let again = ["certify", "small.toml", "--key", "key.pem", "--out", folder];
        for text in [
            &[&again[..], nonce].concat()[..],
            &["verify", "--certificate", &certificate],
            &["report", folder],
        ] {
            let said = String::from_utf8(quiet(root, text).stdout).unwrap();
            assert!(said.contains(says), "{text:?}: {said}");
        }
    }
    let page = std::fs::read_to_string(root.join("own/index.html")).unwrap();
    assert!(page.contains("drawn by its signer") && page.contains("a mask that gives away exactly"));
    let page = std::fs::read_to_string(root.join("one/index.html")).unwrap();
    assert!(page.contains("decided by the nonce &quot;heads&quot;"), "{page}");
    assert_eq!(one["certificate"]["set"]["plan"]["nonce"], "heads");
    check(&root.join("one"), Some("heads")).unwrap();
    // Whoever signs may write a nonce beside any probes: it counts where they are made again from it.
    let arguments = ["verify", "--certificate", "one", "--nonce", "heads"];
    let said = || String::from_utf8(quiet(root, &arguments).stdout).unwrap();
    assert!(
        said().contains("checked    draw: decided by the nonce \"heads\""),
        "{}",
        said()
    );
    copy(&root.join("one"), &root.join("whole"));
    std::fs::remove_dir_all(root.join("one/private")).unwrap();
    let error = refused(&quiet(root, &arguments), 2);
    assert!(
        error.contains("its signer may write it beside any probes"),
        "{error}"
    );
    let alone = String::from_utf8(quiet(root, &arguments[..3]).stdout).unwrap();
    let unchecked = "UNCHECKED  draw: recorded as decided by the nonce \"heads\"";
    assert!(
        alone.contains(unchecked) && !alone.contains("checked    draw"),
        "{alone}"
    );
    let error = check(&root.join("whole"), Some("tails")).unwrap_err();
    assert!(error.contains("its draw is not decided by the nonce"), "{error}");
    let error = check(&scene().join("out"), Some("heads")).unwrap_err();
    assert!(error.contains("its draw is not decided by the nonce"), "{error}");
    for wrong in ["", "two words"] {
        let arguments = ["certify", "small.toml", "--key", "key.pem", "--nonce", wrong];
        let error = refused(&quiet(root, &arguments), 2);
        assert!(error.contains("is invalid"), "{error}");
    }
}
