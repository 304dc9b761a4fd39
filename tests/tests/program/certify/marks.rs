//! Bundles and boards say whether their mask is certified, against whom, and up to which bound.

use crate::certify::forged::{honest, more, sign};
use crate::certify::{PUBLIC_KEY, SIGNING_KEY, scene};
use ktd_bundle::BundlePaths;
use ktd_bundle::open::read_header;
use ktd_certify::KindCounts;
use ktd_certify::attacker_record::Knowledge;
use ktd_certify::certificate::Certificate;
use ktd_certify::mark::Certificates;
use ktd_certify::models_asked::ModelAsked;
use ktd_certify::set_record::{Origin, probe_set_sha256};
use ktd_certify::signed::SignedCertificate;
use ktd_env::Fen;
use ktd_env::exchange::Rules;
use ktd_experiment::mask_hash::mask_hash;
use ktd_experiment::recorded_rules::RecordedRules;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::json_bytes;
use ktd_kit::episode::relabel;
use ktd_kit::{copy, quiet, refused};
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::judge::{CertificateVerdict, ControlSet};
use ktd_probes::judge::{CertificationMark, CertificationStatus};
use ktd_probes::judge::{ControlRate, Thresholds};
use ktd_probes::{Measure, ProbeKind};
use ktd_record::signing::{PublicKey, SigningKey};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Episodes under the mask of the scene's certificate, under another, and one that is longer than what was probed.
const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 3, names = 80, days = 480 }
masks = [{ level = "blinded", numeric = "banded" }]
modes = ["open-research", "fixed-candidate"]
agents = [{ id = "momentum", builtin = "momentum" }, { id = "hold", builtin = "hold" }]
mask_key_file = "mask.key"
windows = { draw = 1, days = 8, from = "2023-03-01", until = "2023-10-20" }
"#;

/// The drawn windows of eight and of nine days, as their draws are called.
const SHORT: &str = "d01-f02b96";
const LONG: &str = "d01-5131a8";

/// The experiment's results beside certificates that say more or less of them.
fn runs() -> &'static Path {
    static RUNS: OnceLock<TempDir> = OnceLock::new();
    RUNS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("try.toml"), EXPERIMENT).unwrap();
        std::fs::write(root.join("key.pem"), SIGNING_KEY).unwrap();
        std::fs::write(root.join("key.pem.pub"), PUBLIC_KEY).unwrap();
        std::fs::write(root.join("mask.key"), ktd_kit::MASK_KEY).unwrap();
        std::fs::write(root.join("long.toml"), EXPERIMENT.replace("days = 8", "days = 9")).unwrap();
        let listed = EXPERIMENT
            .lines()
            .map(|line| match line.split_once("windows = ") {
                Some(_) => "windows = [{ id = \"listed\", last_days = 8 }]",
                None => line,
            });
        std::fs::write(root.join("listed.toml"), listed.collect::<Vec<_>>().join("\n")).unwrap();
        // Exact numbers tell the days, so that no banded window of their experiment is closed.
        let exact = EXPERIMENT.replace(", numeric = \"banded\"", "");
        std::fs::write(root.join("exact.toml"), exact).unwrap();
        for (file, out) in [
            ("try.toml", "out"),
            ("exact.toml", "out"),
            ("long.toml", "out/longer"),
            ("listed.toml", "listed"),
        ] {
            let run = quiet(root, &["run", file, "--out", out]);
            assert!(run.status.success(), "{run:?}");
        }
        copy(&scene().join("out"), &root.join("cert"));
        write(root, "own.json", |certificate| {
            many(certificate);
            certificate.thresholds.top1 = 1.0;
        });
        write(root, "good.json", many);
        write(root, "other.json", |certificate| {
            many(certificate);
            certificate.set.plan.tools.max_candidates += 1;
        });
        write(root, "rich.json", |certificate| {
            many(certificate);
            let rules = &mut certificate.set.plan.rules;
            *rules = RecordedRules::of(&Rules {
                initial_cash: Fen(10_000_000_000),
                ..rules.rules().unwrap()
            });
        });
        write(root, "busy.json", |certificate| {
            many(certificate);
            certificate.set.plan.session.max_tool_calls = 5_000;
        });
        write(root, "given.json", |certificate| {
            many(certificate);
            certificate.set.probes = Origin::Given;
        });
        write(root, "days.json", |certificate| {
            many(certificate);
            only_days(certificate);
        });
        write(root, "models.json", models_only);
        write(root, "refused.json", |certificate| {
            many(certificate);
            certificate.thresholds.top1 = 0.0;
        });
        folder
    })
    .path()
}

/// The honest certificate, changed.
fn write(root: &Path, name: &str, change: impl Fn(&mut Certificate)) {
    let mut certificate = honest();
    change(&mut certificate);
    sign(certificate, &root.join(name));
}

/// As if so many probes had been put and nobody had found anything but in the controls: bounds are tight enough for the
/// defaults.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of these probes fits both"
)]
fn many(certificate: &mut Certificate) {
    const PROBES: u32 = 50_000;
    certificate.thresholds = Thresholds::default();
    certificate.set.plan.probes = KindCounts {
        day: PROBES as usize,
        days: PROBES as usize,
        episode: PROBES as usize,
        linked: PROBES as usize,
        anchored: PROBES as usize,
        ..KindCounts::all(0)
    };
    for count in certificate.set.counts.values_mut() {
        *count = PROBES as usize;
    }
    for unanswered in &mut certificate.unanswered {
        unanswered.probes = u64::from(PROBES);
    }
    for figure in &mut certificate.figures {
        figure.asked = u64::from(PROBES);
        figure.hits = (figure.chance * f64::from(PROBES)).round() as u64;
    }
    // As many stretches as bound the share of those that may be known.
    let stretch = |place: usize| 260 + 12 * place..270 + 12 * place;
    certificate.set.plan.stretches = (0..60).map(stretch).collect();
    certificate.set.plan.training_stretches = (60..80).map(stretch).collect();
    for rate in &mut certificate.windows {
        (rate.count.probed, rate.count.found) = (60, Vec::new());
    }
    for control in &mut certificate.controls {
        control.hits = control.asked;
    }
}

/// As if a language model had been asked as well and recovered nothing, while an attacker of the database read everything.
fn models_only(certificate: &mut Certificate) {
    many(certificate);
    more(certificate, "m", Knowledge::Language);
    certificate.attackers.last_mut().unwrap().model = Some("vendor/m-1".to_owned());
    let own = certificate
        .unanswered
        .iter()
        .filter(|count| count.attacker == "m");
    let probes = own.map(|count| count.probes).sum();
    certificate.models.push(ModelAsked {
        agent: "m".to_owned(),
        model: "vendor/m-1".to_owned(),
        served: vec!["m-1-002".to_owned()],
        first_reply: Some("2026-01-02T10:20:30Z".to_owned()),
        last_reply: Some("2026-02-03T04:05:06Z".to_owned()),
        probes,
        answered: probes,
    });
    for figure in &mut certificate.figures {
        if figure.attacker == "combination" && figure.measure == Measure::Top5 {
            figure.hits = figure.asked;
        }
    }
    certificate.controls.push(ControlRate {
        attacker: "m".to_owned(),
        control: ControlSet::BrightDay,
        measure: Measure::Top1,
        asked: 100,
        hits: 100,
        chance: 0.0,
        ..certificate.controls[0].clone()
    });
    for set in ["probes", "bright-day"] {
        for record in [
            "header.json",
            "agent.json",
            "exchanges.jsonl.zst",
            "guesses.jsonl",
            "answers.jsonl.zst",
        ] {
            let name = format!("units/{set}.m/{record}");
            certificate.files.insert(name, "0".repeat(64));
        }
    }
    for name in [
        "controls/bright-day/probes/day.jsonl.zst",
        "private/bright-day.gold.jsonl",
    ] {
        certificate.files.insert(name.to_owned(), "0".repeat(64));
    }
}

/// As if single days alone had been put.
fn only_days(certificate: &mut Certificate) {
    let set = &mut certificate.set;
    set.counts.retain(|kind, _| *kind == ProbeKind::Day);
    set.plan.probes = KindCounts {
        day: set.plan.probes.day,
        ..KindCounts::all(0)
    };
    let is_left = |file: &String| !file.starts_with("probes/") || file == "probes/day.jsonl.zst";
    set.files.retain(|file, _| is_left(file));
    set.probe_set_sha256 = probe_set_sha256(&set.files);
    certificate.files.retain(|file, _| is_left(file));
    certificate.figures.retain(|figure| figure.kind == ProbeKind::Day);
    certificate
        .windows
        .retain(|rate| rate.count.kind == ProbeKind::Day);
    certificate
        .unanswered
        .retain(|unanswered| unanswered.kind == ProbeKind::Day);
}

fn board(certificates: &[&str]) -> Value {
    board_with(certificates, (!certificates.is_empty()).then_some("key.pem.pub"))
}

fn board_with(certificates: &[&str], key: Option<&str>) -> Value {
    let mut arguments = vec![
        "--json",
        "leaderboard",
        "out",
        "--real",
        "--replicates",
        "100",
        "--portfolios",
        "50",
    ];
    for certificate in certificates {
        arguments.extend(["--certificate", certificate]);
    }
    if let Some(key) = key {
        arguments.extend(["--public-key", key]);
    }
    let output = quiet(runs(), &arguments);
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn standing(board: &Value, window: &str, numeric: &str) -> String {
    standing_in(board, (window, numeric), "open-research")
}

fn standing_in(board: &Value, (window, numeric): (&str, &str), mode: &str) -> String {
    let tracks = board["tracks"].as_array().unwrap();
    let track = tracks
        .iter()
        .find(|track| track["window"] == window && track["numeric"] == numeric && track["mode"] == mode)
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
    assert_eq!(standing(&unmarked, SHORT, "banded"), "not_certified");
    let marked = board(&["good.json"]);
    assert_eq!(standing(&marked, SHORT, "banded"), "certified");
    assert_eq!(standing(&marked, LONG, "banded"), "shorter_episodes");
    // Whoever reads the file knows the days of a window that it names.
    let header = read_header(&BundlePaths::new(
        &runs().join("listed/cells/momentum__listed__blinded-banded__open-research__s1"),
    ));
    let key = PublicKey::read(&runs().join("key.pem.pub")).unwrap();
    let good = Certificates::read(&[runs().join("good.json")], Some(&key)).unwrap();
    let mark = good.mark(&header.unwrap());
    assert_eq!(mark.standing, CertificationStatus::PublicWindow);
    assert!(!mark.to_string().contains("against database"), "{mark}");
    assert_eq!(standing(&marked, SHORT, "exact"), "not_certified");
    assert_eq!(
        standing_in(&marked, (SHORT, "banded"), "fixed-candidate"),
        "other_mode"
    );
    for (certificate, expected) in [
        ("other.json", "other_tools"),
        // A yuan or a hundred million, 20 calls or 5,000.
        ("rich.json", "other_rules"),
        ("busy.json", "other_session"),
        ("own.json", "own_thresholds"),
        ("given.json", "given_probes"),
        // One step was tried, whatever an episode of the plan has.
        ("days.json", "shorter_episodes"),
        ("refused.json", "refused"),
    ] {
        assert_eq!(standing(&board(&[certificate]), SHORT, "banded"), expected);
    }
}

#[test]
fn the_order_of_certificates_does_not_count() {
    for (named, expected) in [
        (["days.json", "good.json"], "certified"),
        (["own.json", "good.json"], "certified"),
        (["own.json", "days.json"], "own_thresholds"),
        (["given.json", "own.json"], "own_thresholds"),
        // Whoever names a refusal is not certified.
        (["good.json", "refused.json"], "refused"),
    ] {
        let [first, second] = named;
        for named in [[first, second], [second, first]] {
            assert_eq!(standing(&board(&named), SHORT, "banded"), expected, "{named:?}");
        }
    }
}

#[test]
fn a_refusal_is_not_hidden_among_episodes() {
    let header = |numeric: &str| {
        let name = format!("out/cells/momentum__d01-f02b96__blinded-{numeric}__open-research__s1");
        read_header(&BundlePaths::new(&runs().join(name))).unwrap()
    };
    let (refused, unknown) = (header("banded"), header("exact"));
    let certificates = Certificates::read(&[runs().join("refused.json")], None).unwrap();
    for headers in [
        [&refused, &unknown, &unknown],
        [&unknown, &refused, &unknown],
        [&unknown, &unknown, &refused],
    ] {
        let mark = CertificationMark::of_row(headers.map(|header| certificates.mark(header)));
        assert_eq!(mark.standing, CertificationStatus::Refused);
    }
    let good = Certificates::read(&[runs().join("good.json")], None).unwrap();
    let mark = CertificationMark::of_row([&refused, &unknown].map(|header| good.mark(header)));
    assert_eq!(mark.standing, CertificationStatus::NotCertified);
}

#[test]
fn a_certificate_of_models_alone_says_so() {
    let header = read_header(&BundlePaths::new(
        &runs().join("out/cells/momentum__d01-f02b96__blinded-banded__open-research__s1"),
    ))
    .unwrap();
    let key = PublicKey::read(&runs().join("key.pem.pub")).unwrap();
    let read = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|name| runs().join(name)).collect();
        Certificates::read(&paths, Some(&key)).unwrap().mark(&header)
    };
    let mark = read(&["models.json"]);
    assert_eq!(mark.standing, CertificationStatus::ModelsOnly);
    let text = mark.to_string();
    for part in [
        "certified against the language models asked, not against the price database: against model, not against database",
        "15 database and 1 language attackers asked 2026-01-02..2026-02-03, ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Its bounds are those of the models: the database recovers everything.
    assert!(mark.by.unwrap().top5_excess.unwrap() < 0.05);
    // It refuses the database, and no other certificate hides that.
    let names = ["good.json", "models.json"];
    assert_eq!(read(&names).standing, CertificationStatus::ModelsOnly);
    // Whose it is comes first.
    let unknown = Certificates::read(&[runs().join("models.json")], None).unwrap();
    assert_eq!(
        unknown.mark(&header).standing,
        CertificationStatus::SignerNotChecked
    );
}

#[test]
fn a_board_takes_certificates_of_one_signer() {
    let other = quiet(runs(), &["certify", "--new-key", "other.pem"]);
    assert!(other.status.success(), "{other:?}");
    let with = |key: &str| {
        let arguments = [
            "leaderboard",
            "out",
            "--real",
            "--certificate",
            "good.json",
            "--public-key",
            key,
        ];
        let draws = ["--replicates", "100", "--portfolios", "50"];
        quiet(runs(), &[&arguments[..], &draws].concat())
    };
    assert!(with("key.pem.pub").status.success());
    let error = refused(&with("other.pem.pub"), 1);
    assert!(error.contains("not with the one expected"), "{error}");
}

/// Anyone can relabel a certificate, or make one, and sign it with a key of their own.
#[test]
fn a_mark_of_nobody_known_says_so_everywhere() {
    const SAYS: &str = "signer not checked";
    let unknown = board_with(&["good.json"], None);
    assert_eq!(standing(&unknown, SHORT, "banded"), "signer_not_checked");
    assert_eq!(
        standing(&board_with(&["own.json"], None), SHORT, "banded"),
        "signer_not_checked"
    );
    // What is not certified is not, whoever says so.
    for (certificate, expected) in [("refused.json", "refused"), ("rich.json", "other_rules")] {
        let board = board_with(&[certificate], None);
        assert_eq!(standing(&board, SHORT, "banded"), expected);
        assert!(board.to_string().contains("\"signer_checked\":false"));
    }
    assert!(
        !board(&["good.json"])
            .to_string()
            .contains("\"signer_checked\":false")
    );
    let arguments = [
        &BOARD[..],
        &["--certificate", "good.json", "--out", "private/unknown", "--wide"],
    ]
    .concat();
    let output = quiet(runs(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let csv = "private/unknown/tables/ranking_d01-f02b96_blinded-banded_open-research.csv";
    let read = |file: &str| std::fs::read_to_string(runs().join(file)).unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    for text in [table, read(csv), read("private/unknown/index.html")] {
        assert!(text.contains(SAYS) && !text.contains("certified,"), "{text}");
    }
    let bundle = "out/cells/momentum__d01-f02b96__blinded-banded__open-research__s1";
    let output = quiet(
        runs(),
        &["verify", bundle, "--certificate", "cert/certificate.json"],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!("  mask       {SAYS}")), "{text}");
}

/// An episode at true prices that claims to be a banded one is not ranked, let alone marked.
#[test]
fn a_relabelled_bundle_is_on_no_board() {
    let folder = tempfile::tempdir().unwrap();
    let (from, bundle) = (
        runs().join("out/cells/momentum__d01-f02b96__blinded-exact__open-research__s1"),
        folder.path().join("momentum"),
    );
    copy(&from, &bundle);
    let mask = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Banded,
    };
    relabel(&bundle, |header| {
        header.mask.numeric = mask.numeric;
        header.mask.hash = Some(mask_hash(mask));
    });
    let bundle = bundle.to_str().unwrap();
    for command in ["verify", "leaderboard", "attribute"] {
        let error = refused(&quiet(runs(), &[command, bundle]), 1);
        assert!(
            error.contains("opens with the text of another mask"),
            "{command}: {error}"
        );
    }
}

/// A certificate that claims another rung, with every hash computed and signed anew, is refused by its own probes.
#[test]
fn a_relabelled_certificate_is_refused_by_its_probes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    copy(&scene().join("out"), root);
    let mut certificate = honest();
    let mask = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Ranked,
    };
    certificate.set.plan.numeric = mask.numeric;
    certificate.set.mask.hash = mask_hash(mask);
    let set = json_bytes(&root.join("set.json"), &certificate.set).unwrap();
    certificate.files.insert("set.json".to_owned(), sha256_hex(&set));
    std::fs::write(root.join("set.json"), set).unwrap();
    let path = root.join("certificate.json");
    sign(certificate, &path);
    let path = path.to_str().unwrap();
    for arguments in [
        vec!["verify", "--certificate", path],
        vec!["leaderboard", "out", "--certificate", path],
    ] {
        let error = refused(&quiet(runs(), &arguments), 1);
        assert!(error.contains("but it claims the mask blinded/ranked"), "{error}");
    }
}

/// A board's command without its certificates.
const BOARD: [&str; 13] = [
    "leaderboard",
    "out",
    "--real",
    "--replicates",
    "100",
    "--portfolios",
    "50",
    "--table",
    "ranking",
    "--window",
    SHORT,
    "--mask",
    "blinded",
];

#[test]
fn table_csv_and_page_name_attackers_bounds_and_key() {
    let arguments = [
        "leaderboard",
        "out",
        "--real",
        "--certificate",
        "own.json",
        "--public-key",
        "key.pem.pub",
        "--out",
        "private/board",
        "--replicates",
        "100",
        "--portfolios",
        "50",
        "--table",
        "ranking",
        "--window",
        SHORT,
        "--mask",
        "blinded",
    ];
    let output = quiet(runs(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let fingerprint = SigningKey::read(&runs().join("key.pem"))
        .unwrap()
        .public()
        .fingerprint();
    let key = &fingerprint[..16];
    let page = std::fs::read_to_string(runs().join("private/board/index.html")).unwrap();
    let csv = std::fs::read_dir(runs().join("private/board/tables"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name().unwrap().to_str().unwrap()
                == "ranking_d01-f02b96_blinded-banded_open-research.csv"
        })
        .unwrap();
    let csv = std::fs::read_to_string(csv).unwrap();
    for text in [&page, &csv] {
        for part in [
            "15 database and 0 language attackers",
            "under its own thresholds: top1 1, top5 0.05",
            "top5 up to chance +",
            "joint up to chance +",
            "no probes of asked",
            // It lies there without its log.
            "attempts by its own words, drawn by its signer, key ",
            key,
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_bundle_shows_its_certificate() {
    let bundle = "out/cells/momentum__d01-f02b96__blinded-banded__open-research__s1";
    let output = quiet(
        runs(),
        &[
            "verify",
            bundle,
            "--certificate",
            "cert/certificate.json",
            "--public-key",
            "key.pem.pub",
        ],
    );
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!text.contains("by its own words"), "{text}");
    assert!(
        text.contains(
            "  mask       certified under its own thresholds: against database and database-and-stocks, 15 database and 0 language attackers"
        ),
        "{text}"
    );
    let other = "out/cells/momentum__d01-f02b96__blinded-exact__open-research__s1";
    let output = quiet(
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

/// What a mark says of the draw: by its signer, or by a nonce, which cannot have drawn probes that were given.
#[test]
fn a_mark_says_who_drew() {
    let header = read_header(&BundlePaths::new(
        &runs().join("out/cells/momentum__d01-f02b96__blinded-banded__open-research__s1"),
    ))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mark_of = |probes: Origin, nonce: Option<&str>| {
        write(folder.path(), "drawn.json", |certificate| {
            certificate.set.probes = probes;
            certificate.set.plan.nonce = nonce.map(str::to_owned);
        });
        let certificates = Certificates::read(&[folder.path().join("drawn.json")], None).unwrap();
        certificates.mark(&header).to_string()
    };
    let by_signer = ", drawn by its signer, key";
    assert!(mark_of(Origin::Made, None).contains(by_signer));
    assert!(mark_of(Origin::Given, Some("heads")).contains(by_signer));
    let by_nonce = mark_of(Origin::Made, Some("heads"));
    assert!(
        by_nonce.contains(", drawn by the nonce \"heads\" as its signer says, key"),
        "{by_nonce}"
    );
}

#[test]
fn a_certificate_that_does_not_follow_marks_nothing() {
    let key = SigningKey::read(&runs().join("key.pem")).unwrap();
    let mut lie = SignedCertificate::read(&runs().join("refused.json"), None)
        .unwrap()
        .certificate;
    lie.verdict = CertificateVerdict::Certified;
    lie.refusals.clear();
    let path = runs().join("lie.json");
    SignedCertificate::sign(lie, &key).unwrap().write(&path).unwrap();
    let error = refused(
        &quiet(runs(), &["leaderboard", "out", "--certificate", "lie.json"]),
        1,
    );
    assert!(
        error.contains("lie.json") && error.contains("but its files give"),
        "{error}"
    );
}
