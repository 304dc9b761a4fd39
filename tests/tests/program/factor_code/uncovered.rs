//! A task that the infrastructure lost: it counts for nothing, and its bundle has no rank.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use super::scene::{BUNDLE, experiment, first_answer, has_boxes, model, model_while};
use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const RUN: [&str; 3] = ["factor-code", "run", "code.toml"];

fn events(folder: &Folder) -> Vec<Value> {
    let text = folder.text(&format!("{BUNDLE}/events.jsonl"));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Makes a finished bundle one that claims that the first answer was lost.
fn lose_the_first_verdict(folder: &Folder) {
    let event = events(folder)[0].clone();
    let reply = first_answer("alpha_momentum_roc_10");
    let lost = json!({
        "task": event["task"], "sample": 1, "round": 1, "source_sha256": null, "published": null, "strict": null,
        "verdict": null, "lost": "nobody_knows",
    });
    let line = json!({
        "place": [0, 1, 1], "reply_sha256": ktd_io::sha256::sha256_hex(reply.as_bytes()), "event": lost,
    });
    folder.write(&format!("{BUNDLE}/judged.jsonl"), format!("{line}\n"));
    for gone in ["summary.json", "events.jsonl"] {
        std::fs::remove_file(folder.at(&format!("{BUNDLE}/{gone}"))).unwrap();
    }
}

#[test]
fn a_lost_task_is_uncovered_and_its_bundle_has_no_rank() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = experiment(&vendor, "");
    assert_ok(&quiet(folder.path(), &RUN));
    lose_the_first_verdict(&folder);
    let asked = vendor.count();
    assert_ok(&quiet(folder.path(), &RUN));
    assert_eq!(vendor.count(), asked);
    // the lost task has no second round
    let lost: Vec<(Value, Value)> = events(&folder)
        .iter()
        .map(|event| (event["task"].clone(), event["lost"].clone()))
        .collect();
    let other = || (json!("REV-1-01"), Value::Null);
    assert_eq!(
        lost,
        [(json!("MOM-1-01"), json!("nobody_knows")), other(), other()]
    );
    let summary: Value = serde_json::from_slice(&folder.read(&format!("{BUNDLE}/summary.json"))).unwrap();
    assert_eq!((&summary["tasks"], &summary["uncovered"]), (&json!(2), &json!(1)));
    assert_eq!(summary["pass_at"][0]["tasks"], 1);

    let report = ["factor-code", "report", "results", "--out", "page.html"];
    assert_ok(&quiet(folder.path(), &report));
    let record: Value = serde_json::from_slice(&folder.read("page.json")).unwrap();
    let tables = record["tables"].as_array().unwrap();
    let rows = |id: &str| tables.iter().find(|table| table["id"] == id).unwrap()["rows"].clone();
    assert_eq!(rows("T1_ranks")[0][5], "n/a (1 of 2 tasks are uncovered)");
    let funnel = rows("T1_funnel");
    let all = funnel
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row[1] == "strict" && row[2] == "all")
        .unwrap();
    // one task with a verdict, one without: a share of one task
    assert_eq!((&all[3], &all[4], &all[5]), (&json!(1), &json!(1), &json!(0.0)));
    assert_eq!(rows("T6_thresholds")[0][5], 0);

    // that it was lost is a claim, which a replay does not believe: the answer is in the record
    for command in ["replay", "verify"] {
        let said = refused(&quiet(folder.path(), &[command, BUNDLE]), 1);
        assert!(said.contains("task MOM-1-01 sample 1 round 1"), "{said}");
    }
}

#[test]
fn a_bundle_that_waits_for_its_endpoint_is_left_out_of_a_report_with_a_word() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = experiment(&vendor, "");
    assert_ok(&quiet(folder.path(), &RUN));
    let down = model_while(&Arc::new(AtomicBool::new(false)));
    let other = folder
        .text("code.toml")
        .replace(&vendor.base_url(), &down.base_url());
    folder.write("code.toml", other.replace("'writer'", "'waiting'"));
    assert!(refused(&quiet(folder.path(), &RUN), 2).contains("failed 2 times in a row"));
    assert!(
        !folder
            .at("results/x/cells/waiting__original__s1/summary.json")
            .exists()
    );
    let report = ["factor-code", "report", "results", "--out", "page.html"];
    assert_ok(&quiet(folder.path(), &report));
    let record: Value = serde_json::from_slice(&folder.read("page.json")).unwrap();
    assert_eq!(record["bundles"].as_array().unwrap().len(), 1);
    assert_eq!(
        record["left_out"]["waiting__original__s1"],
        "the bundle is not finished"
    );
}
