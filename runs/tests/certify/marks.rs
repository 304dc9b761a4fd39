//! Bundles and boards say whether their mask is certified, against whom, and up to which bound.

use crate::{SIGNING_KEY, copy, ktd, refused, scene};
use ktd_runs::certify::signed::SignedCertificate;
use ktd_runs::certify::signing::SigningKey;
use ktd_runs::certify::verdict::Verdict;
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Episodes under the mask of the scene's certificate, under another, and one that is longer than what was probed.
const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 3, names = 80, days = 480 }
masks = [{ level = "blinded", numeric = "banded" }, { level = "blinded" }]
modes = ["open-research"]
agents = [{ id = "momentum", builtin = "momentum" }, { id = "hold", builtin = "hold" }]
windows = [{ id = "short", last_days = 8 }, { id = "long", last_days = 9 }]
"#;

/// The experiment's results beside three certificates: one that certifies, the same refused, and one with other limits.
fn runs() -> &'static Path {
    static RUNS: OnceLock<TempDir> = OnceLock::new();
    RUNS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("try.toml"), EXPERIMENT).unwrap();
        std::fs::write(root.join("key.pem"), SIGNING_KEY).unwrap();
        let run = ktd(root, &["run", "try.toml", "--out", "out"]);
        assert!(run.status.success(), "{run:?}");
        copy(&scene().join("out"), &root.join("cert"));
        let key = SigningKey::read(&root.join("key.pem")).unwrap();
        let honest = SignedCertificate::read(&root.join("cert/certificate.json"), None)
            .unwrap()
            .certificate;
        assert_eq!(honest.verdict, Verdict::Certified, "{:?}", honest.refusals);
        let mut other = honest.clone();
        other.set.plan.tools.max_candidates += 1;
        let sign = |certificate, name: &str| {
            let signed = SignedCertificate::sign(certificate, &key).unwrap();
            signed.write(&root.join(name)).unwrap();
        };
        sign(other, "other.json");
        let mut tight = honest;
        tight.thresholds.top1 = 0.0;
        let refused = again(tight);
        assert_eq!(refused.verdict, Verdict::Refused);
        sign(refused, "refused.json");
        folder
    })
    .path()
}

/// The certificate that follows from the same counts under its own thresholds.
fn again(
    certificate: ktd_runs::certify::certificate::Certificate,
) -> ktd_runs::certify::certificate::Certificate {
    certificate.judged_again().unwrap()
}

fn board(certificates: &[&str]) -> Value {
    let mut arguments = vec![
        "--json",
        "leaderboard",
        "out",
        "--replicates",
        "100",
        "--portfolios",
        "50",
    ];
    for certificate in certificates {
        arguments.extend(["--certificate", certificate]);
    }
    let output = ktd(runs(), &arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn standing(board: &Value, window: &str, numeric: &str) -> String {
    let tracks = board["tracks"].as_array().unwrap();
    let track = tracks
        .iter()
        .find(|track| track["window"] == window && track["numeric"] == numeric)
        .unwrap();
    let leaders = track["leaders"].as_array().unwrap();
    let momentum = leaders
        .iter()
        .find(|leader| leader["agent"] == "momentum")
        .unwrap();
    momentum["mask"]["standing"].as_str().unwrap().to_owned()
}

#[test]
fn rows_say_whether_their_mask_is_certified() {
    let unmarked = board(&[]);
    assert_eq!(standing(&unmarked, "short", "banded"), "not_certified");
    let marked = board(&["cert/certificate.json"]);
    assert_eq!(standing(&marked, "short", "banded"), "certified");
    assert_eq!(standing(&marked, "long", "banded"), "shorter_episodes");
    assert_eq!(standing(&marked, "short", "exact"), "not_certified");
    assert_eq!(
        standing(&board(&["other.json"]), "short", "banded"),
        "not_certified"
    );
    // Whoever names both is not certified.
    let both = board(&["cert/certificate.json", "refused.json"]);
    assert_eq!(standing(&both, "short", "banded"), "refused");
}

#[test]
fn table_csv_and_page_name_attackers_bounds_and_key() {
    let arguments = [
        "leaderboard",
        "out",
        "--certificate",
        "cert/certificate.json",
        "--out",
        "board",
        "--replicates",
        "100",
        "--portfolios",
        "50",
        "--table",
        "ranking",
        "--window",
        "short",
        "--mask",
        "blinded",
    ];
    let output = ktd(runs(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let fingerprint = SigningKey::read(&runs().join("key.pem"))
        .unwrap()
        .public()
        .fingerprint();
    let key = &fingerprint[..16];
    let page = std::fs::read_to_string(runs().join("board/index.html")).unwrap();
    let csv = std::fs::read_dir(runs().join("board/tables"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name().unwrap().to_str().unwrap() == "ranking_short_blinded-banded_open-research.csv"
        })
        .unwrap();
    let csv = std::fs::read_to_string(csv).unwrap();
    for text in [&page, &csv] {
        for part in [
            "10 database and 0 language attackers",
            "top5 up to chance +",
            "joint up to chance +",
            key,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_bundle_shows_its_certificate() {
    let bundle = "out/cells/momentum__short__blinded-banded__open-research__s1";
    let output = ktd(
        runs(),
        &["verify", bundle, "--certificate", "cert/certificate.json"],
    );
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.contains("  mask       certified: 10 database and 0 language attackers"),
        "{text}"
    );
    let other = "out/cells/momentum__short__blinded-exact__open-research__s1";
    let output = ktd(
        runs(),
        &[
            "--json",
            "verify",
            other,
            "--certificate",
            "cert/certificate.json",
        ],
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["bundles"][0]["mask"]["standing"], "not_certified");
    assert_eq!(document["certificate"]["verdict"], "certified");
}

#[test]
fn a_certificate_that_does_not_follow_marks_nothing() {
    let key = SigningKey::read(&runs().join("key.pem")).unwrap();
    let mut lie = SignedCertificate::read(&runs().join("refused.json"), None)
        .unwrap()
        .certificate;
    lie.verdict = Verdict::Certified;
    lie.refusals.clear();
    let path = runs().join("lie.json");
    SignedCertificate::sign(lie, &key).unwrap().write(&path).unwrap();
    let error = refused(
        &ktd(runs(), &["leaderboard", "out", "--certificate", "lie.json"]),
        1,
    );
    assert!(
        error.contains("lie.json") && error.contains("but its files give"),
        "{error}"
    );
}
