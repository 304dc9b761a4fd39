//! What the lines of `ktd verify` say first of certificates: a refusal, two logs of one signer, one that is not finished.

use crate::certify::attempts::TINY;
use crate::certify::{certify, folder};
use ktd_kit::{Folder, OTHER_MASK_KEY, assert_ok, quiet, refused};
use serde_json::Value;

fn told(folder: &Folder, arguments: &[&str]) -> String {
    let output = quiet(folder.path(), arguments);
    String::from_utf8(output.stdout).unwrap()
}

/// Its signature, files and counts hold, and nobody may show that as a pass.
#[test]
fn a_refusal_that_holds_is_no_ok() {
    let folder = folder(TINY);
    certify(folder.path(), &["--out", "out"]);
    let output = quiet(folder.path(), &["verify", "out", "--public-key", "key.pem.pub"]);
    assert_ok(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "out: REFUSED: it certifies nothing",
        "out/certificate.json: REFUSED: it certifies nothing",
        "2 of 2 hold, certificates each by themselves; 1 certificate REFUSED",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains(": ok"), "{text}");
    let document: Value =
        serde_json::from_slice(&quiet(folder.path(), &["--json", "verify", "out"]).stdout).unwrap();
    let certificate = &document["certificates"][0];
    assert_eq!(
        (&certificate["ok"], &certificate["verdict"]),
        (&true.into(), &"refused".into())
    );
}

/// Each certificate holds by itself: the count of those is no verdict on both.
#[test]
fn two_logs_of_one_key_are_told_beside_the_count_and_to_programs() {
    let folder = folder(TINY);
    certify(folder.path(), &["--out", "one"]);
    std::fs::copy(folder.at("key.pem"), folder.at("copy.pem")).unwrap();
    folder.write("mask.key", OTHER_MASK_KEY);
    let arguments = ["certify", "small.toml", "--key", "copy.pem", "--out", "two"];
    assert!(refused(&quiet(folder.path(), &arguments), 1).contains("is refused"));
    let both = ["one/certificate.json", "two/certificate.json"];
    let verify = [&["verify"][..], &both].concat();
    let output = quiet(folder.path(), &verify);
    assert!(refused(&output, 1).contains("kept two logs for one key"));
    let text = told(&folder, &verify);
    assert!(text.contains("certificates of one signer: DIFFERS"), "{text}");
    // What differs is the first line.
    assert!(
        text.starts_with("DIFFERS: certificates of one signer; "),
        "{text}"
    );
    assert!(
        text.contains("2 of 2 hold, certificates each by themselves")
            && text.contains("; TOGETHER they DIFFER: rely on no certificate of this signer"),
        "{text}"
    );
    let output = quiet(folder.path(), &[&["--json"], &verify[..]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let logs = &document["logs"];
    assert_eq!(logs["ok"], false, "{document}");
    assert!(
        logs["difference"].as_str().unwrap().contains("kept two logs"),
        "{logs}"
    );
    // Of one log nothing is told.
    let output = quiet(folder.path(), &["--json", "verify", both[0]]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["logs"], Value::Null);
}

#[test]
fn a_certificate_that_is_not_finished_is_told_with_what_finishes_it() {
    let folder = folder(TINY);
    let arguments = ["certify", "small.toml", "--key", "key.pem", "--out", "out"];
    let only = ["--nonce", "heads", "--commit-only"];
    assert_ok(&quiet(folder.path(), &[&arguments[..], &only].concat()));
    for named in [&["out"][..], &["--certificate", "out"]] {
        let verify = [&["verify"], named, &["--public-key", "key.pem.pub"]].concat();
        let error = refused(&quiet(folder.path(), &verify), 2);
        assert!(error.contains("out: its certificate is not finished"), "{error}");
        let command = format!(
            "to finish it: ktd certify {} --key KEY --nonce heads --out out",
            folder.at("small.toml").display()
        );
        assert!(error.contains(&command), "{error}");
    }
    // Probes that nobody committed to end without one.
    assert_ok(&quiet(folder.path(), &["probe", "small.toml", "--out", "set"]));
    let verify = ["verify", "set", "--public-key", "key.pem.pub"];
    let error = refused(&quiet(folder.path(), &verify), 2);
    assert!(
        error.contains("set: it holds probes") && error.contains("nobody certifies them"),
        "{error}"
    );
}

#[test]
fn a_plan_without_the_nonce_says_what_is_missing() {
    let folder = folder(TINY);
    let signed = certify(folder.path(), &["--out", "out", "--nonce", "heads"]);
    assert_eq!(signed["certificate"]["set"]["plan"]["nonce"], "heads");
    let hash = quiet(folder.path(), &["--json", "certify", "small.toml", "--plan-hash"]);
    let hash: Value = serde_json::from_slice(&hash.stdout).unwrap();
    let hash = hash["plan_sha256"].as_str().unwrap();
    let text = told(&folder, &["verify", "--certificate", "out", "--plan-hash", hash]);
    for line in [
        format!("checked    plan: its hash is {hash}"),
        "CLAIMED    draw: decided by the nonce \"heads\"".to_owned(),
        "name yours with --nonce".to_owned(),
    ] {
        assert!(text.contains(&line), "{text}");
    }
    assert!(!text.contains("and --plan-hash"), "{text}");
}
