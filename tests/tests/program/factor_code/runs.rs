//! Runs of a scripted model.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use super::scene::{HOSTILE, STUDY, UNIT, events, experiment, found, model, model_while, table};
use ktd_kit::episode::{below, dice, reopen_exchanges};
use ktd_kit::program::printed;
use ktd_kit::{Folder, Vendor, assert_ok, has_boxes, quiet, refused};
use ktd_study::StudySecret;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a unit comes to, byte by byte: all but who was asked, and what that cost: a request whose reply was lost may have been
/// paid for, and is counted.
fn unpaid(folder: &Folder) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = ktd_kit::files(&folder.at(UNIT));
    let told = ["header.json", "events.jsonl", "works.jsonl.zst"];
    files.retain(|path, _| path.starts_with("sources") || told.iter().any(|name| path.ends_with(name)));
    let mut found = found(folder, UNIT);
    for cost in ["spending", "spent_in_rounds"] {
        found[cost].take();
    }
    files.insert("found".into(), found.to_string().into_bytes());
    files
}

/// How many requests sent a text, in whatever order the endpoint got those of a round.
fn requests_with(vendor: &Vendor, text: &str) -> usize {
    let requests = vendor.requests().into_iter();
    let bodies = requests.map(|request| String::from_utf8(request.body).unwrap());
    bodies.filter(|body| body.contains(text)).count()
}

/// How many replies stand whole in exchanges.
fn answered(exchanges: &[u8]) -> usize {
    let lines = exchanges.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter(|line| line.ends_with(b"\n"));
    whole
        .filter(|line| String::from_utf8_lossy(line).contains("\"reply\":{\"status\":200"))
        .count()
}

const RUN: [&str; 3] = ["factor-code", "run", "code.toml"];

#[test]
fn a_budget_stops_it_a_kill_stops_it_and_it_comes_to_the_same() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let whole = experiment(&vendor, "jobs = 1");
    assert_ok(&quiet(whole.path(), &RUN));
    assert_eq!(vendor.count(), 4);
    let events = events(&whole, UNIT);
    let passes: Vec<(&str, u64, &str)> = events
        .iter()
        .map(|event| {
            (
                event["task"].as_str().unwrap(),
                event["round"].as_u64().unwrap(),
                event["strict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        passes,
        [
            ("MOM-1-01", 1, "nothing"),
            ("MOM-1-01", 2, "Pass@1"),
            ("REV-1-01", 1, "nothing"),
            ("REV-1-01", 2, "nothing"),
        ]
    );
    assert_eq!(events[2]["verdict"]["execution"]["no_source"], "refusal");
    assert_eq!(events[3]["verdict"]["execution"]["no_source"], "truncated");
    let feedback = events[0]["feedback"].as_str().unwrap();
    assert!(
        feedback.contains("ValueError") && feedback.contains("PATH"),
        "{feedback}"
    );
    assert!(!feedback.contains("somebody"), "{feedback}");
    assert_eq!(requests_with(&vendor, "did not run to a usable result"), 1);

    // a budget without room for one request, one with room for one, then one with room
    let is_up = Arc::new(AtomicBool::new(false));
    let vendor = model_while(&is_up);
    let again = experiment(&vendor, "jobs = 4\nbudget = { experiment = '0.0001' }");
    let text = again.text("code.toml");
    one_call_at_most(&again, &vendor);
    again.write("code.toml", text.replace("'0.0001'", "'1'"));
    // an endpoint that fails in the second round: the verdicts of the first are kept
    let failed = refused(&quiet(again.path(), &RUN), 2);
    assert!(failed.contains("times in a row"), "{failed}");
    let judged = again.text(&format!("{UNIT}/private/works.jsonl"));
    assert_eq!(judged.lines().count(), 1, "{judged}");
    is_up.store(true, Ordering::Relaxed);
    let before = vendor.count();
    assert_ok(&quiet(again.path(), &RUN));
    assert_eq!(vendor.count() - before, 2);
    assert_eq!(unpaid(&again), unpaid(&whole));
    // a finished unit is neither asked nor judged again
    assert_ok(&quiet(again.path(), &RUN));
    assert_eq!(vendor.count() - before, 2);

    killed_anywhere_it_asks_the_rest(&again, &vendor, &unpaid(&whole));
}

/// Runs under budgets with room for no request, and for one, whose bill leaves too little for another.
fn one_call_at_most(again: &Folder, vendor: &Vendor) {
    let said = refused(&quiet(again.path(), &RUN), 3);
    assert!(said.contains("has no room"), "{said}");
    assert_eq!(vendor.count(), 0);
    let (_, call) = said.split_once("the next call may cost $").unwrap();
    let one_call: String = call
        .chars()
        .take_while(|letter| letter.is_ascii_digit() || *letter == '.')
        .collect();
    let text = again.text("code.toml");
    again.write(
        "code.toml",
        text.replace("0.0001", one_call.trim_end_matches('.')),
    );
    for _ in 0..2 {
        let said = refused(&quiet(again.path(), &RUN), 3);
        assert!(said.contains("has no room"), "{said}");
        assert_eq!(vendor.count(), 1);
    }
}

/// Cuts the record of a finished run where a kill would have, and runs again: what stands whole in it is not asked again.
fn killed_anywhere_it_asks_the_rest(again: &Folder, vendor: &Vendor, whole: &BTreeMap<PathBuf, Vec<u8>>) {
    reopen_exchanges(&again.at(UNIT));
    let open_part = again.at(UNIT).join("exchanges.jsonl");
    let exchanges = std::fs::read(&open_part).unwrap();
    let mut chance = dice(5, "where a run is killed");
    for _ in 0..2 {
        let cut = below(&mut chance, exchanges.len());
        let kept = exchanges.get(..cut).unwrap();
        std::fs::remove_file(again.at(UNIT).join("exchanges.jsonl.zst")).ok();
        std::fs::write(&open_part, kept).unwrap();
        for gone in ["result.json", "events.jsonl", "spending.json", "works.jsonl.zst"] {
            std::fs::remove_file(again.at(UNIT).join(gone)).unwrap();
        }
        again.write(&format!("{UNIT}/private/works.jsonl"), "{\"work\":\"ju");
        let before = vendor.count();
        assert_ok(&quiet(again.path(), &RUN));
        assert_eq!(&unpaid(again), whole, "cut at byte {cut}");
        assert_eq!(vendor.count() - before, 4 - answered(kept), "cut at byte {cut}");
    }
}

#[test]
fn the_record_alone_gives_every_verdict_and_the_report() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = experiment(&vendor, "");
    assert_ok(&quiet(folder.path(), &RUN));
    let asked = vendor.count();
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
    assert_ok(&quiet(folder.path(), &["verify", STUDY, "--deep"]));
    assert_eq!(vendor.count(), asked);

    std::fs::remove_file(folder.at(&format!("{STUDY}/T4_failures.csv"))).unwrap();
    assert_ok(&quiet(folder.path(), &["report", STUDY]));
    let page = folder.text(&format!("{STUDY}/index.html"));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"));
    let source = folder.text(&format!("{UNIT}/sources/MOM-1-01-1.py"));
    assert!(source.contains(HOSTILE));
    assert!(!page.contains("src=\"http") && page.contains("Q synthetic"));
    let all = table(&folder, "T1_funnel").into_iter();
    let strict: Vec<_> = all.filter(|row| row[1] == "strict" && row[2] == "all").collect();
    assert_eq!(strict.len(), 1);
    // of two tasks none runs at once; one does after feedback, and looks ahead
    assert_eq!((strict[0][5].as_str(), strict[0][8].as_str()), ("0", "0"));
    assert_eq!(table(&folder, "T1_ranks")[0][7], "1");
    assert_eq!(table(&folder, "T3_causal")[0][2], "");
    let why = table(&folder, "T3_causal")[0].last().cloned().unwrap_or_default();
    assert!(why.contains(": no task"), "{why}");
    assert_eq!(table(&folder, "T12_false_accepts")[0][2..], ["2", "0"]);
    // two requests a round, of 100 and 20 tokens each
    assert_eq!(table(&folder, "T9_help")[1][5..8], ["2", "200", "40"]);
    assert_eq!(
        table(&folder, "T11_money")[0][1..5],
        ["4", "400", "80", "0.00056"]
    );
    assert!(folder.text(&format!("{STUDY}/report.md")).contains("## T1."));
    assert!(
        folder
            .text(&format!("{STUDY}/T4_failures.csv"))
            .contains("2,1,0,0,0,0,0,0")
    );

    // a changed verdict is seen
    let path = format!("{UNIT}/events.jsonl");
    folder.write(
        &path,
        folder.text(&path).replacen("\"refusal\"", "\"no_answer\"", 1),
    );
    for command in ["replay", "verify", "report"] {
        let said = refused(&quiet(folder.path(), &[command, STUDY]), 1);
        assert!(said.contains("writer__original__s1/events.jsonl"), "{said}");
    }
    assert_eq!(vendor.count(), asked);
}

#[test]
fn a_plan_says_what_it_would_cost_and_asks_nobody() {
    let vendor = model();
    let folder = experiment(&vendor, "samples = 1\nstyles = ['original', 'cot']");
    let document = printed(&quiet(folder.path(), &["--json", "plan", "code.toml"]));
    let asked = document["asked"].as_array().unwrap();
    assert_eq!(asked.len(), 2, "a row a style");
    for style in asked {
        assert_eq!(
            (&style["usual"]["requests"], &style["most"]["requests"]),
            (&json!(2), &json!(4))
        );
        assert_eq!(style["usual"]["tokens_in"], 2_200);
        // 2 requests of 1,100 tokens at 1 dollar and 600 at 2 dollars a million
        assert_eq!(
            style["usual"]["cost_picodollars"],
            2_u64 * (1_100 + 1_200) * 1_000_000
        );
    }
    assert_eq!(vendor.count(), 0);
    assert!(!folder.at("results").exists());
}

/// The secret is committed to before anybody is asked, opened with the results, and a replay draws the same from it; planted
/// programs say what the gates of the run are worth.
#[test]
fn a_run_commits_to_its_secret_opens_it_and_measures_its_gates() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = experiment(&vendor, "");
    let text = folder
        .text("code.toml")
        .replace("controls = 0\nsecret_file = 'gate.key'", "controls = 1");
    folder.write("code.toml", text.replace("rounds = 2", "rounds = 1"));
    assert_ok(&quiet(folder.path(), &RUN));
    let study: Value = serde_json::from_slice(&folder.read(&format!("{STUDY}/study.json"))).unwrap();
    let opened: Value = serde_json::from_slice(&folder.read(&format!("{STUDY}/secret.json"))).unwrap();
    assert_eq!(study["decides"]["gate_commitment"], opened["commitment"]);
    let secret = opened["secret"].as_str().unwrap();
    assert!(!study.to_string().contains(secret));
    let gates: Vec<Vec<String>> = table(&folder, "T13_gates");
    let found: Vec<&[String]> = gates.iter().map(|row| &row[1..4]).collect();
    assert_eq!(
        found,
        [["1", "1", "0"], ["1", "0", "0"], ["1", "1", "0"], ["1", "0", "0"]]
    );
    // who gets the folder has no `private/`
    std::fs::remove_dir_all(folder.at(&format!("{STUDY}/private"))).unwrap();
    assert_ok(&quiet(folder.path(), &["replay", STUDY, "--base", "."]));
    // Another secret is seen, with the commitment of the true one or its own.
    let text = folder.text(&format!("{STUDY}/secret.json"));
    let other = StudySecret::parse(&"5e".repeat(32)).unwrap();
    let changed = text.replace(secret, &other.reveal());
    let forged = changed.replace(opened["commitment"].as_str().unwrap(), &other.commitment());
    for (text, told) in [
        (changed, "not the secret that the study wrote"),
        (forged, "gate_commitment"),
    ] {
        folder.write(&format!("{STUDY}/secret.json"), text);
        let said = refused(&quiet(folder.path(), &["replay", STUDY, "--base", "."]), 1);
        assert!(said.contains(told), "{said}");
    }
}
