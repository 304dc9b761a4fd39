//! Certificates that say what was not done: signed well, and refused from what stands in them alone.

use crate::certify::{folder, scene};
use crate::viewer::Viewer;
use ktd_certify::attacker_record::Knowledge;
use ktd_certify::attempts::{AttemptLog, AttemptSubject};
use ktd_certify::certificate::Certificate;
use ktd_certify::commitment::{Commitment, SignedCommitment};
use ktd_certify::mark::Certificates;
use ktd_certify::paths::COMMITMENT;
use ktd_certify::signed::SignedCertificate;
use ktd_certify::verify::{Check, verify};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::json_bytes;
use ktd_kit::{assert_ok, copy, quiet, refused};
use ktd_masking::{Level, Numeric};
use ktd_probes::judge::{Refusal, Thresholds};
use ktd_probes::{Measure, ProbeKind};
use ktd_record::signing::SigningKey;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

pub(crate) fn honest() -> Certificate {
    let path = scene().join("out/certificate.json");
    SignedCertificate::read(&path, None).unwrap().certificate
}

/// Writes a certificate that follows from its own counts, signed by the scene's key.
pub(crate) fn sign(certificate: Certificate, path: &Path) {
    let mut certificate = certificate.judged_again().unwrap_or(certificate);
    if !certificate.attempts.are_possible(certificate.verdict) {
        let attempts = &mut certificate.attempts;
        std::mem::swap(&mut attempts.certified, &mut attempts.refused);
    }
    SignedCertificate::sign(certificate, &key())
        .unwrap()
        .write(path)
        .unwrap();
}

fn key() -> SigningKey {
    SigningKey::read(&scene().join("key.pem")).unwrap()
}

/// Lets the signer commit to what a certificate says, as if it had always been so, and signs it.
pub(crate) fn commit_and_sign(certificate: Certificate, root: &Path) {
    let mut certificate = certificate.judged_again().unwrap_or(certificate);
    let (folder, key) = (tempfile::tempdir().unwrap(), key());
    let log = AttemptLog::of_key(&folder.path().join("key.pem"), &key.public());
    let commitment = Commitment {
        set: certificate.set.clone(),
        confidence: certificate.confidence,
        thresholds: certificate.thresholds,
        attackers: certificate.attackers.clone(),
        log: log.read().unwrap().head(),
    };
    let signature = key.sign(&commitment).unwrap();
    let signed = SignedCommitment {
        commitment,
        signature,
    };
    let path = root.join(COMMITMENT);
    let bytes = json_bytes(&path, &signed).unwrap();
    let sha256 = sha256_hex(&bytes);
    std::fs::write(&path, bytes).unwrap();
    log.commit(&sha256, &certificate.set).unwrap();
    let lines = log.judge(&sha256, certificate.verdict).unwrap();
    std::fs::write(root.join("attempts.jsonl"), lines.text()).unwrap();
    certificate.files.insert(COMMITMENT.to_owned(), sha256);
    certificate.attempts = lines.count(&AttemptSubject::of(&certificate.set));
    sign(certificate, &root.join("certificate.json"));
}

/// What is said of a certificate without a file beside it.
fn alone(certificate: Certificate) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    sign(certificate, &path);
    Certificates::read(&[path], None)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// One change of an honest certificate, and what is said of it.
type Forgery = (fn(&mut Certificate), &'static str);

fn assert_refused(forgeries: &[Forgery]) {
    for (forge, part) in forgeries {
        let mut certificate = honest();
        forge(&mut certificate);
        let error = alone(certificate).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn an_honest_certificate_stands_alone() {
    alone(honest()).unwrap();
}

/// Who has nothing but the certificate asks for the nonce all the same, and is told of other sources.
#[test]
fn a_certificate_alone_is_held_to_its_nonce_and_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.json");
    let told = |certificate: Certificate, nonce: Option<&str>| {
        sign(certificate, &path);
        let check = Check {
            nonce: nonce.map(str::to_owned),
            ..Check::default()
        };
        verify(&path, &check)
            .map(|(_, verified)| verified.unchecked.join("; "))
            .map_err(|error| error.to_string())
    };
    let mut drawn = honest();
    drawn.set.plan.nonce = Some("5f2c99aa17".to_owned());
    told(drawn.clone(), Some("5f2c99aa17")).unwrap();
    // A folder that holds nothing else is the certificate.
    let alone = quiet(folder.path(), &["verify", "."]);
    assert!(String::from_utf8(alone.stdout).unwrap().contains("  says  "));
    for (certificate, nonce) in [(drawn, "5f2c99aa18"), (honest(), "5f2c99aa17")] {
        let error = told(certificate, Some(nonce)).unwrap_err();
        assert!(error.contains("its draw is not decided by the nonce"), "{error}");
    }
    let mut other = honest();
    other.set.source_sha256 = "0".repeat(64);
    let unchecked = told(other, None).unwrap();
    assert!(unchecked.contains("made by ktd"), "{unchecked}");
}

/// A signature that is none is found without making anything again.
#[test]
fn a_record_with_a_dead_signature_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("out");
    copy(&scene().join("out"), &root);
    let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let signed: serde_json::Value = serde_json::from_str(&text("certificate.json")).unwrap();
    let signature = signed["signature"]["value"].as_str().unwrap();
    let before = sha256_hex(text("certificate.json").as_bytes());
    let dead = text("certificate.json").replace(signature, &"0".repeat(signature.len()));
    let after = sha256_hex(dead.as_bytes());
    let lines = text("units.jsonl").replace(&before, &after);
    std::fs::write(root.join("certificate.json"), &dead).unwrap();
    // In the file alone, and in what its unit came to as well.
    for lines in [&lines, &lines.replace(signature, &"0".repeat(signature.len()))] {
        std::fs::write(root.join("units.jsonl"), lines).unwrap();
        let told = refused(&quiet(folder.path(), &["verify", "out"]), 1);
        assert!(told.contains("certificate"), "{told}");
    }
    // An honest one before it hides none: every certificate that is named is checked.
    let honest = folder.path().join("honest");
    std::fs::create_dir(&honest).unwrap();
    std::fs::copy(
        scene().join("out/certificate.json"),
        honest.join("certificate.json"),
    )
    .unwrap();
    for is_study in [true, false] {
        let output = quiet(folder.path(), &["verify", "honest", "out"]);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            told.contains(if is_study { "1 of 3 hold" } else { "1 of 2 hold" }),
            "{told}"
        );
        assert!(refused(&output, 1).contains("signature"));
        std::fs::remove_file(root.join("study.json")).ok();
    }
}

/// Whoever gives away what the certificate names and no more has it checked all the same.
#[test]
fn a_certificate_without_its_study_is_checked_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    copy(&scene().join("out"), &folder.path().join("out"));
    std::fs::remove_file(folder.path().join("out/study.json")).unwrap();
    let verified = quiet(folder.path(), &["verify", "--certificate", "out"]);
    let text = String::from_utf8(verified.stdout).unwrap();
    assert!(
        verified.status.success() && text.contains("UNCHECKED  probes and answers: study.json"),
        "{text}"
    );
    // What is asked for and cannot be done is no note.
    for more in ["--attack", "--panel=any.ktdp"] {
        let told = refused(&quiet(folder.path(), &["verify", "out", more]), 2);
        assert!(told.contains("study.json is missing"), "{told}");
    }
}

#[test]
fn another_masks_hash_is_refused() {
    const MASK: &str = "its mask's hash or scheme is not that of the mask it names";
    assert_refused(&[
        (|certificate| certificate.set.mask.hash = "0".repeat(64), MASK),
        (|certificate| certificate.set.plan.numeric = Numeric::Exact, MASK),
        (|certificate| certificate.set.mask.scheme += 1, MASK),
        (|certificate| certificate.set.plan.level = Level::StockBlind, MASK),
    ]);
}

#[test]
fn another_program_is_named() {
    assert_refused(&[
        (
            |certificate| certificate.set.ktd = "0.0.9".to_owned(),
            "made by ktd 0.0.9",
        ),
        (|certificate| certificate.set.format += 1, "it has format 9"),
        (
            |certificate| {
                certificate.set.source_sha256 = "0".repeat(64);
                certificate.set.mask.hash = "0".repeat(64);
            },
            "made by ktd",
        ),
    ]);
}

#[test]
fn probes_of_another_plan_are_refused() {
    const PROBES: &str = "its probes are not those of its plan";
    assert_refused(&[
        (
            |certificate| certificate.set.probe_set_sha256 = "0".repeat(64),
            PROBES,
        ),
        (|certificate| certificate.set.plan.probes.day += 1, PROBES),
        (
            |certificate| {
                certificate.set.counts.remove(&ProbeKind::Linked);
            },
            PROBES,
        ),
        (
            |certificate| {
                certificate.set.counts.insert(ProbeKind::Linked, 0);
            },
            PROBES,
        ),
        (
            |certificate| {
                certificate.set.files.pop_first();
            },
            PROBES,
        ),
        (
            |certificate| certificate.set.plan.training = usize::MAX,
            "`training` is",
        ),
        (
            |certificate| certificate.set.plan.probes.day = usize::MAX,
            "`probes.day` is",
        ),
        (
            |certificate| {
                certificate.set.plan.stretches = std::iter::once(std::ops::Range {
                    start: usize::MAX,
                    end: 0,
                })
                .collect();
            },
            "a stretch of 0 trading days",
        ),
    ]);
}

#[test]
fn attackers_are_what_they_are() {
    const ATTACKERS: &str =
        "it lacks attackers that every certificate has, or lists them as what they are not";
    assert_refused(&[
        (
            |certificate| certificate.attackers[1].knows = Knowledge::Language,
            ATTACKERS,
        ),
        (|certificate| certificate.attackers.swap(1, 2), ATTACKERS),
        (
            |certificate| {
                certificate.attackers.pop();
                let left: Vec<String> = certificate.attackers.iter().map(|who| who.name.clone()).collect();
                certificate
                    .figures
                    .retain(|figure| left.contains(&figure.attacker));
                certificate
                    .unanswered
                    .retain(|unanswered| left.contains(&unanswered.attacker));
            },
            ATTACKERS,
        ),
        (
            |certificate| more(certificate, "gpt-9", Knowledge::Database),
            ATTACKERS,
        ),
        (
            |certificate| more(certificate, "random", Knowledge::Language),
            ATTACKERS,
        ),
        (
            |certificate| more(certificate, "../x", Knowledge::Language),
            ATTACKERS,
        ),
        (
            |certificate| more(certificate, "gpt-9", Knowledge::Language),
            "it lacks controls that its attackers owe",
        ),
    ]);
}

/// One attacker more, which was asked what all were asked and recovered what `combination` did.
pub(crate) fn more(certificate: &mut Certificate, name: &str, knows: Knowledge) {
    let last = certificate.attackers.last().unwrap().clone();
    let own = |attacker: &str| attacker == last.name;
    let mut figures = certificate.figures.clone();
    figures.retain(|figure| own(&figure.attacker));
    for figure in &mut figures {
        name.clone_into(&mut figure.attacker);
    }
    certificate.figures.extend(figures);
    let mut windows = certificate.windows.clone();
    windows.retain(|rate| own(&rate.count.attacker));
    for rate in &mut windows {
        name.clone_into(&mut rate.count.attacker);
    }
    certificate.windows.extend(windows);
    let mut unanswered = certificate.unanswered.clone();
    unanswered.retain(|unanswered| own(&unanswered.attacker));
    for unanswered in &mut unanswered {
        name.clone_into(&mut unanswered.attacker);
    }
    certificate.unanswered.extend(unanswered);
    let mut attacker = last;
    name.clone_into(&mut attacker.name);
    attacker.knows = knows;
    certificate.attackers.push(attacker);
}

#[test]
fn windows_are_those_of_the_plan() {
    const WINDOWS: &str =
        "it lacks windows of kinds or attackers that were asked for days, or has others than its plan";
    assert_refused(&[
        (|certificate| certificate.windows.clear(), WINDOWS),
        (|certificate| certificate.windows[0].count.probed = 1_000, WINDOWS),
        (
            |certificate| certificate.windows[0].count.found = vec![1, 0],
            WINDOWS,
        ),
        (
            |certificate| certificate.windows[0].count.found = vec![usize::MAX],
            WINDOWS,
        ),
    ]);
}

#[test]
fn nothing_that_was_asked_is_left_out() {
    const FIGURES: &str = "it lacks figures of kinds, attackers or measures that were asked, or has others";
    assert_refused(&[
        (
            |certificate| {
                certificate
                    .figures
                    .retain(|figure| figure.kind != ProbeKind::Linked);
                certificate
                    .unanswered
                    .retain(|unanswered| unanswered.kind != ProbeKind::Linked);
            },
            FIGURES,
        ),
        (
            |certificate| {
                certificate
                    .figures
                    .retain(|figure| figure.measure != Measure::Joint);
            },
            FIGURES,
        ),
        (|certificate| certificate.figures[0].asked += 1, FIGURES),
        (|certificate| certificate.figures[0].chance = 2.0, FIGURES),
        (|certificate| certificate.unanswered[0].probes += 1, FIGURES),
        (
            |certificate| {
                certificate.controls.pop();
            },
            "it lacks controls",
        ),
        (
            |certificate| certificate.controls[0].asked += 1,
            "it lacks controls",
        ),
    ]);
}

#[test]
fn what_was_not_asked_is_told() {
    let mut certificate = honest();
    certificate
        .figures
        .retain(|figure| figure.measure != Measure::Sector);
    let told = certificate.judged_again().unwrap().not_covered.join("; ");
    assert!(
        told.contains("sectors: they were not asked of the kinds day, days, episode, anchored"),
        "{told}"
    );
    assert!(!honest().not_covered.join("; ").contains("sectors"));
    // A panel without sectors asks nobody about them; whoever asks one asks all.
    alone(certificate.clone()).unwrap();
    certificate = honest();
    certificate
        .figures
        .retain(|figure| figure.measure != Measure::Sector || figure.attacker == "random");
    alone(certificate).unwrap_err();
}

#[test]
fn no_file_is_left_out() {
    const FILES: &str = "it does not bind the files that its plan and attackers imply";
    assert_refused(&[
        (
            |certificate| {
                certificate.files.remove("answers/random.jsonl.zst");
            },
            FILES,
        ),
        (
            |certificate| {
                certificate.files.remove("private/gold.jsonl");
            },
            FILES,
        ),
        (
            |certificate| {
                certificate.files.insert("../x".to_owned(), "0".repeat(64));
            },
            FILES,
        ),
        (|certificate| certificate.set.gold_sha256 = "0".repeat(64), FILES),
    ]);
}

/// A copy of the scene's directory, with a certificate and a record of its set that were changed alike.
fn directory(change: fn(&mut Certificate)) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    copy(&scene().join("out"), folder.path());
    let mut certificate = honest();
    change(&mut certificate);
    let set = serde_json::to_vec(&certificate.set).unwrap();
    let hash: [u8; 32] = Sha256::digest(&set).into();
    std::fs::write(folder.path().join("set.json"), set).unwrap();
    certificate
        .files
        .insert("set.json".to_owned(), ktd_masking::hex(&hash));
    let path = folder.path().join("certificate.json");
    commit_and_sign(certificate, folder.path());
    (folder, path)
}

#[test]
fn other_sources_are_not_recomputed() {
    let (folder, path) = directory(|certificate| certificate.set.source_sha256 = "0".repeat(64));
    // Its bounds follow from its counts: it marks what was run under the same mask.
    Certificates::read(std::slice::from_ref(&path), None).unwrap();
    let error = verify(&path, &Check::default()).unwrap_err().to_string();
    assert!(
        error.contains("made by ktd") && error.contains(&"0".repeat(64)),
        "{error}"
    );
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    let (_, verified) = verify(&path, &Check::default()).unwrap();
    assert!(
        verified.unchecked.iter().any(|line| line.contains("made by ktd")),
        "{verified:?}"
    );
}

#[test]
fn a_record_of_another_set_is_refused() {
    let (folder, path) = directory(|_| {});
    verify(&path, &Check::default()).unwrap();
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    let mut certificate = SignedCertificate::read(&path, None).unwrap().certificate;
    certificate.set.plan.name = "other".to_owned();
    sign(certificate, &path);
    let error = verify(&path, &Check::default()).unwrap_err().to_string();
    assert!(
        error.contains("set.json: it is not the set of certificate.json"),
        "{error}"
    );
}

#[test]
fn what_is_asked_for_is_done_or_refused() {
    let arguments = |more: &'static str| ["verify", "--certificate", "certificate.json", more];
    let (real, _) = directory(|certificate| certificate.set.data.synthetic = None);
    let error = refused(&quiet(real.path(), &arguments("--attack")), 2);
    assert!(
        error.contains("the panel is missing") && error.contains("--panel"),
        "{error}"
    );
    let (public, _) = directory(|_| {});
    std::fs::remove_dir_all(public.path().join("private")).unwrap();
    for more in ["--attack", "--panel=any.ktdp"] {
        let error = refused(&quiet(public.path(), &arguments(more)), 2);
        assert!(
            error.contains("private/ is missing from the certificate's folder"),
            "{error}"
        );
    }
}

#[test]
fn a_key_that_is_none_and_a_file_that_is_no_certificate_are_named() {
    let folder = folder("");
    let root = folder.path();
    copy(&scene().join("out"), &root.join("out"));
    assert_ok(&quiet(root, &["certify", "--new-key", "other.pem"]));
    let verify = |certificate: &str, key: &str| {
        let arguments = ["verify", "--certificate", certificate, "--public-key", key];
        quiet(root, &arguments)
    };
    let output = verify("out/certificate.json", "mask.key");
    let error = refused(&output, 2);
    assert!(error.contains("mask.key: it holds no Ed25519 key"), "{error}");
    assert!(output.stdout.is_empty(), "{output:?}");
    // Who holds the private key may have signed: it is the owner's, and none to check with.
    let error = refused(&verify("out/certificate.json", "key.pem"), 2);
    assert!(
        error.contains("key.pem: it holds a private key") && error.contains("hint: name the public key"),
        "{error}"
    );
    let error = refused(&verify("out/certificate.json", "other.pem.pub"), 1);
    assert!(
        error.contains("hint: compare the fingerprint") && !error.contains("edited"),
        "{error}"
    );
    let error = refused(&verify("mask.key", "key.pem.pub"), 1);
    assert!(
        error.contains("it is not a signed certificate") && !error.contains("edited"),
        "{error}"
    );
}

#[test]
fn what_is_judged_by_is_always_printed() {
    let output = quiet(scene(), &["verify", "--certificate", "out/certificate.json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "certified under its own thresholds: blinded/banded on panel ",
        "thresholds: top1 1, top5 1, date20 1, joint 1, sector 1, same 1 above chance at confidence 0.95, joint within 20 days",
        "probes: 12 day, 6 days, 4 episode, 8 linked, 6 anchored",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Its page says so, too.
    let viewer = Viewer::of(scene(), &["out"]);
    let index = viewer.page("/");
    let address = index
        .split("href=\"certificate/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let page = viewer.page(&format!("/certificate/{address}"));
    assert!(
        page.contains("certified under its own thresholds: blinded/banded on panel "),
        "{page}"
    );
    // What an auditor asks, in that order, on this page and on the one beside the certificate.
    let own = std::fs::read_to_string(scene().join("out/index.html")).unwrap();
    for page in [page, own] {
        let places = [
            "certified under its own thresholds",
            "Against whom the mask holds",
            "Under whose thresholds</h2>",
            "drawn by its signer: no auditor&#39;s nonce decided it",
            "its signer&#39;s own",
            "a mask that gives away exactly what is allowed passes one draw with",
            "What was attacked, and by whom</h2>",
            ">guessing gives</th>",
            "Controls</h2>",
            "attacks on masks with a known weakness recover what they must",
            ">must be more than</th>",
            "What was not tried</h2>",
            "attackers with tools of their own",
        ]
        .map(|what| page.find(what).or_else(|| page.find(&what.replace("&#39;", "'"))));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {page}");
    }
}

#[test]
fn a_file_of_the_format_before_is_named_as_such() {
    const BEFORE: &str = "it has format 1, but this program reads format 8";
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    let root = folder.path().join("out");
    // Of another format nothing but its number is read: other fields are no fault of it.
    let old = |file: &str, text: String| std::fs::write(root.join(file), text).unwrap();
    old(
        "certificate.json",
        r#"{ "certificate": { "set": { "format": 1, "plan": 7 }, "figures": [0.5, 0.6] } }"#.to_owned(),
    );
    old(
        "set.json",
        r#"{ "format": 1, "stretches": [[260, 300]] }"#.to_owned(),
    );
    let error = Certificates::read(&[root.join("certificate.json")], None).unwrap_err();
    assert!(error.to_string().contains(BEFORE), "{error}");
    assert!(error.hint().contains("make the probes and the certificate again"));
    for later in ["study.json", "report.json"] {
        std::fs::remove_file(root.join(later)).unwrap();
    }
    let error = refused(&quiet(folder.path(), &["probe", "small.toml", "--out", "out"]), 2);
    assert!(error.contains("holds set.json and no study.json"), "{error}");
}

#[test]
fn a_refusal_is_summed_up_by_attacker() {
    let folder = tempfile::tempdir().unwrap();
    copy(scene(), folder.path());
    let path = folder.path().join("out/certificate.json");
    // Whoever has the keys makes the study again, which is judged by other thresholds.
    std::fs::remove_dir_all(folder.path().join("out/private")).unwrap();
    let mut strict = honest();
    strict.thresholds = Thresholds {
        top1: 0.0,
        top5: 0.0,
        date20: 0.0,
        joint: 0.0,
        same: 0.0,
        sector: 0.0,
    };
    commit_and_sign(strict, &folder.path().join("out"));
    let refusals = SignedCertificate::read(&path, None).unwrap().certificate.refusals;
    let lines = |more: &[&str]| -> Vec<String> {
        let arguments = [&["verify", "--certificate", "out/certificate.json"], more].concat();
        let output = quiet(folder.path(), &arguments);
        assert_ok(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect()
    };
    let every = lines(&["--reasons"]);
    let because = every.iter().filter(|line| line.starts_with("because ")).count();
    assert_eq!(because, refusals.len());
    let short = lines(&[]);
    let head = format!("for {} reasons (--reasons prints each):", refusals.len());
    assert!(short.contains(&head), "{short:?}");
    assert!(!short.iter().any(|line| line.starts_with("because ")));
    assert!(
        refusals.len() > 100 && short.len() + 100 < every.len(),
        "{short:?}"
    );
    // The thresholds that are printed pass.
    let passing = short
        .iter()
        .find_map(|line| line.strip_prefix("thresholds under which these would pass: "))
        .unwrap();
    let mut passed = honest();
    for part in passing.split(", ") {
        let (measure, value) = part.split_once(' ').unwrap();
        let value: f64 = value.parse().unwrap();
        let threshold = match measure {
            "top1" => &mut passed.thresholds.top1,
            "top5" => &mut passed.thresholds.top5,
            "date20" => &mut passed.thresholds.date20,
            "joint" => &mut passed.thresholds.joint,
            "same" => &mut passed.thresholds.same,
            "sector" => &mut passed.thresholds.sector,
            _ => panic!("{measure} has no threshold"),
        };
        *threshold = value;
    }
    let again = passed.judged_again().unwrap().refusals;
    let is_above = |refusal: &&Refusal| matches!(refusal, Refusal::AboveThreshold { .. });
    assert_eq!(again.iter().find(is_above), None);
}
