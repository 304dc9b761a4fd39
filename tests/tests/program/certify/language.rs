//! Language models as attackers of a certificate: they count among the attackers, and must read what a control shows.

use crate::certify::attempts::TINY;
use crate::certify::forged::sign;
use crate::certify::{CONFIG, certify, folder};
use ktd_certify::attacker_record::Knowledge;
use ktd_certify::mark::Certificates;
use ktd_certify::signed::SignedCertificate;
use ktd_kit::vendor::{Then, reply};
use ktd_kit::{Vendor, assert_ok, quiet, refused};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    // A language model more widens no bound of the database.
    let scene = std::fs::read(crate::certify::scene().join("out/certificate.json")).unwrap();
    let scene: Value = serde_json::from_slice(&scene).unwrap();
    let bounds = |signed: &Value| signed["certificate"]["figures"][0]["simultaneous"].clone();
    assert_eq!(bounds(&scene), bounds(&signed));

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
        "units/bright-day.cheater/answers.jsonl.zst",
        "units/probes.cheater/agent.json",
        "units/probes.cheater/guesses.jsonl",
        "units/bright-day.cheater/exchanges.jsonl.zst",
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

/// A model on loopback that guesses nothing, and whose version and clock change after its first reply.
fn forgetful() -> Vendor {
    let replies = AtomicUsize::new(0);
    Vendor::new(move |_, stream| {
        let (model, date) = match replies.fetch_add(1, Ordering::Relaxed) {
            0 => ("m-2026-01", "Fri, 02 Jan 2026 10:20:30 GMT"),
            _ => ("m-2026-02", "Tue, 03 Feb 2026 04:05:06 GMT"),
        };
        let guess = json!({ "stocks": [], "date": "2023-01-03", "confidence": 0.1 }).to_string();
        let call = json!({ "id": "c", "type": "function", "function": { "name": "submit_action", "arguments": guess } });
        let body = json!({
            "id": "r", "object": "chat.completion", "created": 1_700_000_000, "model": model,
            "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "tool_calls": [call],
            } }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        });
        let headers = format!("content-type: application/json\r\ndate: {date}\r\n");
        stream.write_all(&reply("200 OK", &headers, body.to_string().as_bytes()))?;
        Ok(Then::Keep)
    })
}

#[test]
fn a_certificate_says_which_models_were_asked_and_when() {
    let vendor = forgetful();
    let agent = format!(
        "[[language.agents]]\nid = \"m\"\nmodel = \"m-1\"\nbase_url = \"{}\"\n",
        vendor.base_url()
    );
    let folder = folder(&format!("{TINY}{agent}"));
    let root = folder.path();
    let signed = certify(root, &["--out", "out"]);
    let model = &signed["certificate"]["models"][0];
    assert_eq!(
        (
            &model["agent"],
            &model["served"],
            &model["first_reply"],
            &model["last_reply"]
        ),
        (
            &"m".into(),
            &json!(["m-2026-01", "m-2026-02"]),
            &"2026-01-02T10:20:30Z".into(),
            &"2026-02-03T04:05:06Z".into()
        )
    );
    assert_eq!((&model["probes"], &model["answered"]), (&4.into(), &4.into()));
    let verified = quiet(root, &["verify", "--certificate", "out/certificate.json"]);
    assert_ok(&verified);
    let text = String::from_utf8(verified.stdout).unwrap();
    for part in [
        "answered as m-2026-01 and m-2026-02), 2026-01-02T10:20:30Z to 2026-02-03T04:05:06Z, 4 of 4 answered",
        "holds for these models as they answered then, and for no other",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Whom it names, and when, follows from its exchanges, whoever signs.
    let path = root.join("out/certificate.json");
    let honest = SignedCertificate::read(&path, None).unwrap().certificate;
    let mut forged = honest.clone();
    forged.models[0].served = vec!["m-2027".to_owned()];
    sign(forged, &path);
    let error = refused(
        &quiet(root, &["verify", "--certificate", "out/certificate.json"]),
        1,
    );
    assert!(
        error.contains("its exchanges name other models or other times"),
        "{error}"
    );
    let mut forged = honest.clone();
    forged.models[0].answered -= 1;
    sign(forged, &path);
    let error = refused(
        &quiet(root, &["verify", "--certificate", "out/certificate.json"]),
        1,
    );
    assert!(error.contains("whether it was asked and answered"), "{error}");
    let mut forged = honest;
    forged.models.clear();
    sign(forged, &path);
    let error = refused(
        &quiet(root, &["verify", "--certificate", "out/certificate.json"]),
        1,
    );
    assert!(error.contains("whether it was asked and answered"), "{error}");
}
