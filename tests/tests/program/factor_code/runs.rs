//! Runs of a scripted model.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use super::scene::{BUNDLE, HOSTILE, experiment, has_boxes, model, model_while};
use ktd_kit::episode::{below, dice, reopen_exchanges};
use ktd_kit::{Folder, Vendor, assert_ok, quiet, refused};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a bundle comes to, byte by byte: all but exchanges and private files.
fn found(folder: &Folder) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = ktd_kit::files(&folder.at(BUNDLE)).into_iter();
    let is_public = |path: &PathBuf| {
        let text = path.to_string_lossy();
        !text.contains("exchanges") && !text.contains("private") && !text.contains("agent.json")
    };
    files.filter(|(path, _)| is_public(path)).collect()
}

/// The same without what it cost: a request whose reply was lost may have been paid for, and is counted.
fn unpaid(folder: &Folder) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = found(folder);
    files.retain(|path, _| !path.ends_with("spending.json"));
    files
}

fn events(folder: &Folder) -> Vec<Value> {
    let text = folder.text(&format!("{BUNDLE}/events.jsonl"));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
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
fn a_budget_stops_it_a_kill_stops_it_and_it_comes_to_the_same_bundle() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let whole = experiment(&vendor, "jobs = 1");
    assert_ok(&quiet(whole.path(), &RUN));
    assert_eq!(vendor.count(), 4);
    let events = events(&whole);
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
    let judged = again.text(&format!("{BUNDLE}/judged.jsonl"));
    assert_eq!(judged.lines().count(), 1, "{judged}");
    is_up.store(true, Ordering::Relaxed);
    let before = vendor.count();
    assert_ok(&quiet(again.path(), &RUN));
    assert_eq!(vendor.count() - before, 2);
    assert_eq!(unpaid(&again), unpaid(&whole));
    // a finished bundle is neither asked nor judged again
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
    reopen_exchanges(&again.at(BUNDLE));
    let open_part = again.at(BUNDLE).join("exchanges.jsonl");
    let exchanges = std::fs::read(&open_part).unwrap();
    let mut chance = dice(5, "where a run is killed");
    for _ in 0..2 {
        let cut = below(&mut chance, exchanges.len());
        let kept = exchanges.get(..cut).unwrap();
        std::fs::remove_file(again.at(BUNDLE).join("exchanges.jsonl.zst")).ok();
        std::fs::write(&open_part, kept).unwrap();
        for gone in ["summary.json", "events.jsonl", "spending.json"] {
            std::fs::remove_file(again.at(BUNDLE).join(gone)).unwrap();
        }
        again.write(&format!("{BUNDLE}/judged.jsonl"), "{\"place\":[0,");
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
    assert_ok(&quiet(folder.path(), &["replay", BUNDLE]));
    assert_eq!(vendor.count(), asked);

    let report = ["factor-code", "report", "results", "--out", "report/page.html"];
    assert_ok(&quiet(folder.path(), &report));
    let page = folder.text("report/page.html");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"));
    let source = folder.text(&format!("{BUNDLE}/sources/MOM-1-01-1.py"));
    assert!(source.contains(HOSTILE));
    assert!(!page.contains("src=\"http") && page.contains("Q synthetic"));
    let record: Value = serde_json::from_slice(&folder.read("report/page.json")).unwrap();
    let table = |id: &str| -> Value {
        let tables = record["tables"].as_array().unwrap();
        tables.iter().find(|table| table["id"] == id).unwrap().clone()
    };
    let funnel = table("T1_funnel");
    let all = funnel["rows"].as_array().unwrap().iter();
    let strict: Vec<&Value> = all.filter(|row| row[1] == "strict" && row[2] == "all").collect();
    assert_eq!(strict.len(), 1);
    // of two tasks one runs, and none is safe
    assert_eq!(
        (&strict[0][5], &strict[0][8]),
        (&Value::from(0.5), &Value::from(0.0))
    );
    assert_eq!(table("T1_ranks")["rows"][0][5], 1);
    assert_eq!(table("T3_causal")["rows"][0][2], "n/a (no task)");
    assert_eq!(table("T12_false_accepts")["rows"][0][2], 2);
    assert_eq!(table("T12_false_accepts")["rows"][0][3], 0);
    assert!(folder.text("report/page.md").contains("## T1."));
    assert!(
        folder
            .text("report/page_tables/T4_failures.csv")
            .contains("0.5,0.5,0,0,0")
    );

    // a changed verdict is seen
    let path = format!("{BUNDLE}/events.jsonl");
    let changed = folder.text(&path).replacen("\"refusal\"", "\"no_answer\"", 1);
    folder.write(&path, &changed);
    let summary_path = format!("{BUNDLE}/summary.json");
    assert!(refused(&quiet(folder.path(), &["verify", BUNDLE]), 1).contains("other events"));
    let summary = folder.text(&summary_path);
    let mut document: Value = serde_json::from_str(&summary).unwrap();
    document["events_sha256"] = Value::from(ktd_io::sha256::sha256_hex(changed.as_bytes()));
    folder.write(&summary_path, serde_json::to_vec(&document).unwrap());
    let output = quiet(folder.path(), &["verify", BUNDLE]);
    assert!(
        refused(&output, 1).contains("task REV-1-01 sample 1 round 1"),
        "{output:?}"
    );
    assert_eq!(vendor.count(), asked);
}

#[test]
fn a_dry_run_says_what_it_would_cost_and_asks_nobody() {
    let vendor = model();
    let folder = experiment(&vendor, "samples = 1\nstyles = ['original', 'cot']");
    let output = quiet(
        folder.path(),
        &["--json", "factor-code", "run", "code.toml", "--dry-run"],
    );
    assert_ok(&output);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let estimate = &document["estimates"][0];
    assert_eq!(
        (&estimate["requests"], &estimate["most_requests"]),
        (&Value::from(4), &Value::from(8))
    );
    assert_eq!(estimate["tokens_in"], 4_400);
    // 4 requests of 1,100 tokens at 1 dollar and 600 at 2 dollars a million
    assert_eq!(estimate["cost_picodollars"], 4_u64 * (1_100 + 1_200) * 1_000_000);
    assert_eq!(vendor.count(), 0);
    assert!(!folder.at("results").exists());
}
