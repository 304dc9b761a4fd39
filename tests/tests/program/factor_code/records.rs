//! Records of strangers: what they may claim, and what a replay makes of it.

use super::scene::{STUDY, UNIT, experiment, model, model_while};
use ktd_kit::{Folder, Vendor, assert_ok, has_boxes, quiet, refused};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const RUN: [&str; 3] = ["factor-code", "run", "code.toml"];

/// An experiment of the task that is judged without a box: its answers are a refusal and a cut one.
fn one_task(vendor: &Vendor) -> Folder {
    let folder = experiment(vendor, "");
    let text = folder.text("code.toml").replace("'MOM-1-01', ", "");
    folder.write("code.toml", text);
    folder
}

#[test]
fn a_record_claims_no_other_model_no_other_spending_and_no_other_verdict() {
    if !has_boxes() {
        return;
    }
    let is_up = Arc::new(AtomicBool::new(false));
    let vendor = model_while(&is_up);
    let folder = experiment(&vendor, "");
    // a verdict is forged before anything hangs on it: the record is whole, and only the box says otherwise
    let said = refused(&quiet(folder.path(), &RUN), 2);
    assert!(said.contains("times in a row"), "{said}");
    let works = format!("{UNIT}/private/works.jsonl");
    let forged = folder.text(&works).replacen("\"ValueError\"", "\"TypeError\"", 1);
    assert_ne!(forged, folder.text(&works));
    folder.write(&works, forged);
    is_up.store(true, Ordering::Relaxed);
    assert_ok(&quiet(folder.path(), &RUN));
    assert_ok(&quiet(folder.path(), &["verify", STUDY]));
    let said = refused(&quiet(folder.path(), &["replay", STUDY, "--deep"]), 1);
    assert!(
        said.contains("the work judge") && said.contains("class differs"),
        "{said}"
    );

    for (file, from, to) in [
        ("agent.json", "\"m\"", "\"another\""),
        ("header.json", "\"bwrap\"", "\"none\""),
        ("spending.json", "\"reported\": 4", "\"reported\": 3"),
    ] {
        let path = format!("{UNIT}/{file}");
        let kept = folder.text(&path);
        assert!(kept.contains(from), "{kept}");
        folder.write(&path, kept.replace(from, to));
        let output = quiet(folder.path(), &["verify", STUDY]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(file), "{said}");
        folder.write(&path, kept);
    }
}

/// What a file names no more was paid from its budget all the same.
#[test]
fn another_file_of_the_same_name_has_no_new_budget() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = one_task(&vendor);
    let text = folder.text("code.toml");
    let with = |text: &str, budget: &str| {
        let keys = format!("budget = {{ experiment = '{budget}' }}\n\n[[agents]]");
        folder.write("code.toml", text.replacen("[[agents]]", &keys, 1));
    };
    with(&text, "1");
    assert_ok(&quiet(folder.path(), &RUN));
    let spending: Value = serde_json::from_slice(&folder.read(&format!("{UNIT}/spending.json"))).unwrap();
    // Two replies of 100 and 20 tokens, at 1 and 2 dollars a million.
    assert_eq!(spending["cost"]["paid_picodollars"], 280_000_000);
    let asked = vendor.count();
    with(&text.replace("'writer'", "'another'"), "0.00028");
    let said = refused(&quiet(folder.path(), &RUN), 3);
    assert!(
        said.contains("has no room") && said.contains("are spent"),
        "{said}"
    );
    assert_eq!(vendor.count(), asked);
}

/// A file of tasks of one's own is part of the record: it is made again where the file is gone, and refused where its copy was
/// changed.
#[test]
fn own_tasks_are_kept_and_a_replay_needs_nothing_else() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = one_task(&vendor);
    let task = serde_json::json!({
        "id": "MINE-1", "category": "momentum", "level": 1, "name": "alpha_mine", "prompt": "The close.", "fx": "C", "warmup": 0,
    });
    folder.write("mine.jsonl", format!("{task}\n"));
    let text = folder.text("code.toml");
    folder.write("code.toml", text.replace("['REV-1-01']", "'mine.jsonl'"));
    assert_ok(&quiet(folder.path(), &RUN));
    std::fs::remove_file(folder.at("mine.jsonl")).unwrap();
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
    let study: Value = serde_json::from_slice(&folder.read(&format!("{STUDY}/study.json"))).unwrap();
    let kept = study["inputs"]["mine.jsonl"].as_str().unwrap();
    folder.write(&format!("{STUDY}/inputs/{kept}"), "{}\n");
    let said = refused(&quiet(folder.path(), &["replay", STUDY]), 1);
    assert!(said.contains("mine.jsonl was changed"), "{said}");
}
