//! `ktd verify --certificate`: what was changed is found, and named.

use crate::certify::forged::honest;
use crate::certify::{folder, scene};
use ktd_certify::verify::{Check, verify};
use ktd_io::sha256::sha256_hex;
use ktd_kit::{assert_ok, copy, quiet, refused};
use std::path::Path;

fn check(root: &Path) -> Result<Vec<String>, String> {
    verify(&root.join("certificate.json"), &Check::default())
        .map(|(_, verified)| verified.checks)
        .map_err(|error| error.to_string())
}

#[test]
fn an_honest_certificate_is_made_again_byte_for_byte() {
    let arguments = [
        "verify",
        "--certificate",
        "out/certificate.json",
        "--public-key",
        "key.pem.pub",
        "--attack",
    ];
    let output = quiet(scene(), &arguments);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!text.contains("UNCHECKED"), "{text}");
    for part in [
        "signature: key",
        "bounds and verdict",
        "every share recomputed",
        "probes and keys: made again",
        "answers and controls: every attack of the database made again",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_flipped_byte_is_found_in_every_file() {
    const OFFSETS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    copy(&scene().join("out"), root);
    // What else the study wrote is compared by its replay: `kinds` has it.
    let bound = honest().files.into_keys();
    for file in bound.chain(["certificate.json".to_owned(), "attempts.jsonl".to_owned()]) {
        let file = Path::new(&file);
        let path = root.join(file);
        let whole = std::fs::read(&path).unwrap();
        let last = whole.len() - 1;
        // There are ten times as many files of controls, and all are read alike.
        let offsets = if file.starts_with("controls") { 2 } else { OFFSETS };
        for part in 0..=offsets {
            let place = last * part / offsets;
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (part % 8);
            std::fs::write(&path, &flipped).unwrap();
            let error = check(root).expect_err(&format!("{} byte {place}", file.display()));
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!(error.contains(name), "{}: {error}", file.display());
        }
        std::fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn without_private_files_the_rest_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    copy(&scene().join("out"), root);
    std::fs::remove_dir_all(root.join("private")).unwrap();
    let (_, verified) = verify(&root.join("certificate.json"), &Check::default()).unwrap();
    assert!(
        verified
            .unchecked
            .iter()
            .any(|line| line.contains("private/ is not here"))
    );
    std::fs::remove_file(root.join("answers/random.jsonl.zst")).unwrap();
    let error = check(root).unwrap_err();
    assert!(error.contains("random.jsonl.zst"), "{error}");
}

#[test]
fn a_verdict_that_does_not_follow_is_found_even_when_signed() {
    use ktd_certify::signed::SignedCertificate;
    use ktd_record::signing::SigningKey;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    copy(&scene().join("out"), root);
    let path = root.join("certificate.json");
    let key = SigningKey::read(&scene().join("key.pem")).unwrap();
    let honest = SignedCertificate::read(&path, None).unwrap().certificate;
    let sign = |certificate| {
        SignedCertificate::sign(certificate, &key)
            .unwrap()
            .write(&path)
            .unwrap();
    };

    let mut bound = honest.clone();
    bound.figures[0].simultaneous.upper = 0.0;
    sign(bound);
    assert!(check(root).unwrap_err().contains("but its files give"));

    let mut hits = honest.clone();
    let figure = &mut hits.figures[0];
    figure.hits = u64::from(figure.hits == 0);
    sign(hits);
    assert!(check(root).is_err());

    let mut thresholds = honest.clone();
    thresholds.thresholds.top1 = 0.0;
    sign(thresholds);
    assert!(check(root).unwrap_err().contains("but its files give"));

    sign(honest);
    check(root).unwrap();
}

#[test]
fn another_key_and_no_signature_are_refused() {
    let folder = folder("");
    let root = folder.path();
    copy(&scene().join("out"), &root.join("out"));
    assert_ok(&quiet(root, &["certify", "--new-key", "other.pem"]));
    let arguments = [
        "verify",
        "--certificate",
        "out/certificate.json",
        "--public-key",
        "other.pem.pub",
    ];
    let error = refused(&quiet(root, &arguments), 1);
    assert!(error.contains("not with the one expected"), "{error}");
    let path = root.join("out/certificate.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut unsigned: serde_json::Value = serde_json::from_str(&text).unwrap();
    unsigned.as_object_mut().unwrap().remove("signature");
    std::fs::write(&path, unsigned.to_string()).unwrap();
    let error = refused(
        &quiet(root, &["verify", "--certificate", "out/certificate.json"]),
        1,
    );
    assert!(error.contains("missing field `signature`"), "{error}");
}

#[test]
fn another_panel_is_named() {
    let folder = folder("");
    let root = folder.path();
    copy(&scene().join("out"), &root.join("out"));
    let made = quiet(
        root,
        &[
            "data",
            "synth",
            "--out",
            "other.ktdp",
            "--names",
            "80",
            "--days",
            "480",
            "--seed",
            "4",
        ],
    );
    assert!(made.status.success(), "{made:?}");
    let arguments = [
        "verify",
        "--certificate",
        "out/certificate.json",
        "--panel",
        "other.ktdp",
    ];
    let error = refused(&quiet(root, &arguments), 2);
    assert!(error.contains("but the certificate is for"), "{error}");
}

/// The last line of a chain is bound by no other: what is changed in it is told as its own, and not as a change of a file that still fits its signature.
#[test]
fn changed_lines_of_units_are_told_as_theirs() {
    let folder = tempfile::tempdir().unwrap();
    copy(&scene().join("out"), &folder.path().join("out"));
    let units = folder.path().join("out/units.jsonl");
    let text = std::fs::read_to_string(&units).unwrap();
    let certificate = sha256_hex(&std::fs::read(folder.path().join("out/certificate.json")).unwrap());
    for (from, to) in [
        (certificate.as_str(), "0".repeat(64).as_str()),
        ("\"confidence\":0.95", "\"confidence\":0.96"),
    ] {
        let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(last.contains(from), "{last}");
        std::fs::write(&units, format!("{before}\n{}\n", last.replacen(from, to, 1))).unwrap();
        let output = quiet(folder.path(), &["verify", "out"]);
        let said = refused(&output, 1);
        assert!(said.contains("units.jsonl"), "{said}");
        let text = String::from_utf8(output.stdout).unwrap();
        let signed =
            "certificate.json: DIFFERS: the files are those that were signed; the study beside them: ";
        assert!(text.contains(signed), "{text}");
    }
}
