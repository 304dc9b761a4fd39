//! Records of strangers: what they may claim, and what a replay makes of it.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use super::scene::{BUNDLE, experiment, has_boxes, model};
use ktd_kit::{Folder, Vendor, assert_ok, quiet, refused};
use serde_json::{Value, json};

/// An experiment of the task that is judged without a box: its answers are a refusal and a cut one.
fn one_task(vendor: &Vendor) -> Folder {
    let folder = experiment(vendor, "");
    let text = folder.text("code.toml").replace("'MOM-1-01', ", "");
    folder.write("code.toml", text);
    folder
}

/// Changes a value of a document of the bundle.
fn change(folder: &Folder, file: &str, pointer: &str, value: Value) {
    let path = format!("{BUNDLE}/{file}");
    let mut document: Value = serde_json::from_slice(&folder.read(&path)).unwrap();
    *document.pointer_mut(pointer).unwrap() = value;
    folder.write(&path, serde_json::to_vec(&document).unwrap());
}

#[test]
fn a_record_claims_no_other_model_no_other_spending_and_no_place_without_a_box() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = one_task(&vendor);
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    let verify = || quiet(folder.path(), &["verify", BUNDLE]);
    assert_ok(&verify());
    let kept = ["header.json", "spending.json"].map(|file| (file, folder.read(&format!("{BUNDLE}/{file}"))));
    for (file, pointer, value, part) in [
        (
            "header.json",
            "/model",
            json!("another"),
            "`model` is not that of",
        ),
        (
            "header.json",
            "/temperature",
            json!(0.5),
            "`temperature` is not that of",
        ),
        (
            "header.json",
            "/agent",
            json!("another"),
            "`agent` is not that of",
        ),
        (
            "spending.json",
            "/tokens/visible_output",
            json!(1),
            "its tokens or requests",
        ),
        (
            "spending.json",
            "/sends/reported",
            json!(1),
            "its tokens or requests",
        ),
    ] {
        change(&folder, file, pointer, value);
        let said = refused(&verify(), 1);
        assert!(said.contains(part), "{pointer}: {said}");
        for (file, bytes) in &kept {
            folder.write(&format!("{BUNDLE}/{file}"), bytes);
        }
    }
    // Its programs are run in the box whatever it says, and the difference is said.
    change(&folder, "header.json", "/sandbox/isolation", json!("none"));
    change(&folder, "header.json", "/sandbox/filters", Value::Null);
    let output = quiet(folder.path(), &["--json", "replay", BUNDLE]);
    assert_ok(&output);
    let replayed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        replayed["another_box"]
            .as_str()
            .unwrap()
            .contains("are not those"),
        "{replayed}"
    );
}

/// A bundle that cannot be read is named in the report, which is made of the others.
#[test]
fn a_report_leaves_out_what_it_cannot_read_and_its_page_has_a_name_of_its_own() {
    if !has_boxes() {
        return;
    }
    let vendor = model();
    let folder = one_task(&vendor);
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    ktd_kit::copy(
        &folder.at(BUNDLE),
        &folder.at("results/x/cells/broken__original__s1"),
    );
    folder.write("results/x/cells/broken__original__s1/events.jsonl", "{");
    let report = |out: &str| quiet(folder.path(), &["factor-code", "report", "results", "--out", out]);
    let said = refused(&report("page.md"), 2);
    assert!(said.contains("ends with .html"), "{said}");
    assert_ok(&report("page.html"));
    let record: Value = serde_json::from_slice(&folder.read("page.json")).unwrap();
    assert_eq!(record["bundles"].as_array().unwrap().len(), 1);
    let left_out = record["left_out"]["broken__original__s1"].as_str().unwrap();
    assert!(left_out.contains("events.jsonl"), "{left_out}");
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
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));
    let spending: Value = serde_json::from_slice(&folder.read(&format!("{BUNDLE}/spending.json"))).unwrap();
    // Two replies of 100 and 20 tokens, at 1 and 2 dollars a million.
    assert_eq!(spending["cost"]["paid_picodollars"], 280_000_000);
    let asked = vendor.count();
    with(&text.replace("'writer'", "'another'"), "0.00028");
    let said = refused(&quiet(folder.path(), &["factor-code", "run", "code.toml"]), 3);
    assert!(
        said.contains("has no room") && said.contains("are spent"),
        "{said}"
    );
    assert_eq!(vendor.count(), asked);
}
