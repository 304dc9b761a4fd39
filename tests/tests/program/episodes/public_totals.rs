//! The public files of a bundle hold no measured total that the model was not shown: a path of net asset values dates an
//! episode, and a traded value names a stock. Whoever has the private part reads everything as before.

use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::ledger_mark::mark_of;
use ktd_bundle::recorded_step::RecordedStep;
use ktd_bundle::summary_file::read_summary;
use ktd_episode::verify::verify;
use ktd_kit::episode::{OnPanel, experiment, key, market, prepare, run, runtime};
use ktd_kit::this_program;
use ktd_masking::{Level, Numeric};
use ktd_record::chain::LogReader;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const PUBLIC: [&str; 4] = [
    "header.json",
    "events.jsonl",
    "exchanges.jsonl.zst",
    "summary.json",
];

/// Names of the account's totals, wherever in a document they stand.
const TOTALS: [&str; 16] = [
    "mark",
    "nav_fen",
    "cash_fen",
    "fees_fen",
    "traded_value_fen",
    "hhi_billionths",
    "final_nav_fen",
    "total_return",
    "sharpe_ratio",
    "max_drawdown",
    "turnover",
    "hhi",
    "fee_drag",
    "orders_filled",
    "orders_rejected",
    "delistings",
];

fn grid() -> String {
    let mut masks = String::new();
    for level in Level::ALL {
        for numeric in Numeric::ALL {
            write!(
                masks,
                "{{ level = \"{}\", numeric = \"{}\" }},",
                level.label(),
                numeric.label()
            )
            .unwrap();
        }
    }
    format!(
        "masks = [{masks}]\nmodes = [\"open-research\"]\nagents = [{{ id = \"momentum\", builtin = \"momentum\" }}]"
    )
}

fn text(bundle: &Path, file: &str) -> String {
    let bytes = std::fs::read(bundle.join(file)).unwrap();
    let bytes = if std::path::Path::new(file)
        .extension()
        .is_some_and(|end| end == "zst")
    {
        zstd::decode_all(bytes.as_slice()).unwrap()
    } else {
        bytes
    };
    String::from_utf8(bytes).unwrap()
}

fn ledger(bundle: &Path) -> Vec<LedgerLine> {
    let path = BundlePaths::new(bundle).ledger();
    LogReader::open(&path).unwrap().bodies().unwrap()
}

/// Every key of a document.
fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                into.insert(key.clone());
                keys(member, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
        _ => {}
    }
}

/// Whether a text holds a number that is no part of a longer one.
fn holds(text: &str, number: &str) -> bool {
    let is_part = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(number).any(|(at, _)| {
        let after = &text[at + number.len()..];
        !is_part(text[..at].chars().next_back()) && !is_part(after.chars().next())
    })
}

/// Exact totals of an account in fen, as far as they are long enough not to be met by chance.
fn totals(bundle: &Path) -> BTreeSet<i64> {
    const SHORTEST_FEN: i64 = 100_000;
    let initial = 100_000_000;
    ledger(bundle)
        .iter()
        .flat_map(|line| {
            let mark = mark_of(line);
            [mark.nav_fen, mark.cash_fen, mark.traded_value_fen, mark.fees_fen]
        })
        .filter(|fen| SHORTEST_FEN <= *fen && *fen != initial)
        .collect()
}

#[test]
fn a_masked_bundle_tells_no_total_that_its_rung_does_not_show() {
    let config = experiment(5, &grid());
    let prepared = prepare(&config, market(11), key(7));
    let folder = tempfile::tempdir().unwrap();
    let cells = run(&config, &prepared, folder.path());
    assert_eq!(cells.len(), Level::ALL.len() * Numeric::ALL.len());
    for (cell, bundle) in cells {
        if cell.mask.level == Level::Bright {
            continue;
        }
        let totals = totals(&bundle);
        assert!(
            5 < totals.len(),
            "{}: it trades too little to say anything",
            cell.id
        );
        for file in PUBLIC {
            let text = text(&bundle, file);
            for fen in &totals {
                assert!(
                    !holds(&text, &fen.to_string()),
                    "{}: {file} holds {fen} fen",
                    cell.id
                );
                // At the first rung the model is shown money to the fen, in yuan.
                let yuan = format!("{}.{:02}", fen / 100, fen % 100);
                let yuan = yuan.trim_end_matches('0').trim_end_matches('.');
                let is_shown = cell.mask.numeric == Numeric::Exact;
                assert!(
                    is_shown || !holds(&text, yuan),
                    "{}: {file} holds {yuan} yuan",
                    cell.id
                );
            }
        }
        let mut named = BTreeSet::new();
        for line in text(&bundle, "events.jsonl").lines() {
            keys(&serde_json::from_str(line).unwrap(), &mut named);
        }
        let summary: Value = serde_json::from_str(&text(&bundle, "summary.json")).unwrap();
        keys(&summary, &mut named);
        for total in TOTALS {
            assert!(!named.contains(total), "{}: `{total}` is public", cell.id);
        }
        let metrics: Vec<&String> = summary["metrics"].as_object().unwrap().keys().collect();
        assert_eq!(
            metrics,
            [
                "abstention",
                "days",
                "parse_failure",
                "parse_failure_strict",
                "rule_breach"
            ]
        );
    }
}

/// A bundle of one cell at this level.
fn scene(level: &str) -> OnPanel {
    let rest = format!(
        "masks = [{{ level = \"{level}\" }}]\nmodes = [\"fixed-candidate\"]\n\
         agents = [{{ id = \"random\", builtin = \"random\" }}]"
    );
    OnPanel::new(5, 3, &rest)
}

/// A copy of a bundle without its private part.
fn published(scene: &OnPanel) -> PathBuf {
    let copy = scene.at("published");
    std::fs::create_dir(&copy).unwrap();
    for file in PUBLIC {
        std::fs::copy(scene.bundle.join(file), copy.join(file)).unwrap();
    }
    copy
}

#[test]
fn the_private_part_gives_every_reader_the_exact_account() {
    for level in ["bright", "blinded"] {
        let scene = scene(level);
        let paths = BundlePaths::new(&scene.bundle);
        let ledger = ledger(&scene.bundle);
        let last = ledger.last().unwrap();
        let account = read_summary(&paths).unwrap().account.unwrap();
        assert_eq!(account.final_nav_fen, last.nav_fen);
        assert!(0 < account.orders_filled, "{level}");
        let opened = OpenedBundle::read(BundleRef::read(&scene.bundle).unwrap()).unwrap();
        let episode = FinishedEpisode::read(opened, &mut ()).unwrap();
        assert_eq!(episode.summary.account, Some(account));
        let steps = RecordedStep::all(&paths).unwrap();
        for (step, line) in steps.iter().zip(&ledger) {
            assert_eq!(step.mark.unwrap().nav_fen, line.nav_fen);
        }
        assert_eq!(steps[0].nav_before_fen, Some(100_000_000));
        assert_eq!(steps[1].nav_before_fen, Some(ledger[0].nav_fen));
    }
}

#[test]
fn without_the_private_part_a_reader_says_what_it_cannot_know() {
    for (level, is_told) in [("bright", true), ("blinded", false)] {
        let scene = scene(level);
        let copy = published(&scene);
        let paths = BundlePaths::new(&copy);
        assert_eq!(
            read_summary(&paths).unwrap().account.is_some(),
            is_told,
            "{level}"
        );
        let steps = RecordedStep::all(&paths).unwrap();
        assert!(steps.iter().all(|step| step.mark.is_some() == is_told), "{level}");
        assert!(steps.iter().all(|step| !step.holdings.is_null()), "{level}");
        let verified = runtime().block_on(verify(&copy, None, &this_program())).unwrap();
        let [unchecked] = verified.unchecked.as_slice() else {
            panic!("{verified:?}");
        };
        assert_eq!(
            unchecked.contains("the account's metrics"),
            !is_told,
            "{unchecked}"
        );
    }
}

/// A reader is strict: totals where the mask does not show them are no bundle that this program wrote.
#[test]
fn a_summary_that_tells_what_its_mask_hides_is_damage() {
    let scene = scene("blinded");
    let copy = published(&scene);
    let path = copy.join("summary.json");
    let mut summary: Value = serde_json::from_str(&text(&copy, "summary.json")).unwrap();
    let private: Value = serde_json::from_str(&text(&scene.bundle, "private/summary.json")).unwrap();
    summary["account"] = private["account"].clone();
    std::fs::write(&path, format!("{summary:#}\n")).unwrap();
    let error = runtime()
        .block_on(verify(&copy, None, &this_program()))
        .unwrap_err();
    assert!(error.to_string().contains("summary.json"), "{error}");
}
