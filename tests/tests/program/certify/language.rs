//! Language models as attackers of a certificate: they count among the attackers, and must read what a control shows.

use crate::certify::forged::sign;
use crate::certify::{CONFIG, certify, folder};
use ktd_certify::attacker_record::Knowledge;
use ktd_certify::mark::Certificates;
use ktd_certify::signed::SignedCertificate;
use ktd_kit::quiet;
use serde_json::Value;
use std::path::Path;

const CHEATER: &str = "[[language.agents]]\nid = \"cheater\"\nbuiltin = \"cheater\"\n";

fn check(root: &Path, more: &[&str]) -> (bool, String) {
    let arguments = [&["verify", "--certificate", "out/certificate.json"], more].concat();
    let output = quiet(root, &arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_language_model_must_read_what_is_shown_and_counts_among_the_attackers() {
    let folder = folder(&format!("{CONFIG}\n{CHEATER}"));
    let root = folder.path();
    let signed = certify(root, &["--out", "out"]);
    let certificate = &signed["certificate"];
    let attackers = certificate["attackers"].as_array().unwrap();
    assert_eq!(attackers.len(), 16);
    assert_eq!(
        (
            &attackers[15]["name"],
            &attackers[15]["knows"],
            &attackers[15]["model"]
        ),
        (&"cheater".into(), &"language".into(), &"cheater".into())
    );
    let controls = certificate["controls"].as_array().unwrap();
    let own = controls
        .iter()
        .find(|control| control["attacker"] == "cheater")
        .unwrap();
    assert_eq!(
        (&own["control"], &own["hits"], &own["fired"]),
        (&"bright-day".into(), &own["asked"], &true.into())
    );
    // It reads codes and dates: under the mask there are none, and unanswered proves nothing.
    let refusals = certificate["refusals"].as_array().unwrap();
    assert!(!refusals.is_empty());
    for refusal in refusals {
        assert_eq!(
            (&refusal["reason"], &refusal["attacker"]),
            (&"unanswered".into(), &"cheater".into())
        );
    }
    // One attacker more widens the bounds of all.
    let scene = std::fs::read(crate::certify::scene().join("out/certificate.json")).unwrap();
    let scene: Value = serde_json::from_slice(&scene).unwrap();
    let high = |signed: &Value| {
        signed["certificate"]["figures"][0]["simultaneous"]["upper"]
            .as_f64()
            .unwrap()
    };
    assert!(high(&scene) < high(&signed));

    let (is_good, text) = check(root, &["--attack"]);
    assert!(is_good && text.contains("they are not asked again"), "{text}");
    // Called an attacker of the database it would owe no control.
    let path = root.join("out/certificate.json");
    let whole = std::fs::read(&path).unwrap();
    let mut forged = SignedCertificate::read(&path, None).unwrap().certificate;
    forged.attackers.last_mut().unwrap().knows = Knowledge::Database;
    forged.controls.retain(|control| control.attacker != "cheater");
    sign(forged, &path);
    let error = Certificates::read(std::slice::from_ref(&path), None).unwrap_err();
    assert!(
        error.to_string().contains("lists them as what they are not"),
        "{error}"
    );
    std::fs::write(&path, whole).unwrap();
    // What it was asked and what it said is bound.
    for file in [
        "controls/bright-day/answers/cheater.jsonl.zst",
        "attackers/probes/cheater/attacker.json",
        "attackers/probes/cheater/answers.jsonl",
        "attackers/bright-day/cheater/exchanges.jsonl.zst",
    ] {
        let path = root.join("out").join(file);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 4;
        std::fs::write(&path, flipped).unwrap();
        let (is_good, text) = check(root, &[]);
        assert!(!is_good && text.contains(file), "{text}");
        std::fs::write(&path, whole).unwrap();
    }
}
