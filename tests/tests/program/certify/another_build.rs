//! A study of probes that another build of the program made is checked under the name of its own, and what that build ran over is named.

use crate::certify::attempts::TINY;
use crate::certify::folder;
use ktd_io::sha256::sha256_hex;
use ktd_kit::{Folder, assert_ok, quiet, refused, this_program};
use ktd_record::chain::{Log, NO_GENESIS};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::path::Path;

#[derive(serde::Deserialize)]
struct Line {
    body: Box<RawValue>,
}

/// The hash of a unit, as a study of the header in `study` has it.
fn unit_sha256(study: &Value, id: &str) -> String {
    let unit = match id.strip_prefix("answers.") {
        Some(block) => {
            json!({"unit": "answer_block", "block": block.parse::<usize>().unwrap(), "of_block": 2000})
        }
        None => json!({ "unit": id }),
    };
    let decided = json!({
        "kind": study["kind"],
        "format": study["format"],
        "program": study["program"]["source_sha256"],
        "decides": study["decides"],
        "unit": unit,
    });
    sha256_hex(decided.to_string().as_bytes())
}

/// Writes the record as a program of other sources would have.
fn made_by_another_build(folder: &Folder) {
    let set = sha256_hex(&folder.read("out/set.json"));
    let study: Value = serde_json::from_str(&folder.text("out/study.json")).unwrap();
    let of_masks = study["decides"]["source_sha256"].as_str().unwrap();
    let renamed = |text: String| {
        text.replace(of_masks, &"c".repeat(64))
            .replace(&this_program().source_sha256, &"b".repeat(64))
    };
    for file in ["out/study.json", "out/set.json", "out/report.json"] {
        folder.write(file, renamed(folder.text(file)));
    }
    let study: Value = serde_json::from_str(&folder.text("out/study.json")).unwrap();
    let set_now = sha256_hex(&folder.read("out/set.json"));
    let mut log = Log::kept_by_caller(Path::new("units.jsonl"), NO_GENESIS);
    let mut units = String::new();
    for line in renamed(folder.text("out/units.jsonl"))
        .replace(&set, &set_now)
        .lines()
    {
        let Line { body } = serde_json::from_str(line).unwrap();
        let unit: Value = serde_json::from_str(body.get()).unwrap();
        let now = unit_sha256(&study, unit["id"].as_str().unwrap());
        let body = body.get().replace(unit["sha256"].as_str().unwrap(), &now);
        let body = RawValue::from_string(body).unwrap();
        units += &(log.append(&body).unwrap() + "\n");
    }
    folder.write("out/units.jsonl", units);
    let plan = folder.text("out/plan.jsonl");
    let plan = plan.lines().map(|line| {
        let unit: Value = serde_json::from_str(line).unwrap();
        let now = unit_sha256(&study, unit["id"].as_str().unwrap());
        line.replace(unit["sha256"].as_str().unwrap(), &now) + "\n"
    });
    folder.write("out/plan.jsonl", plan.collect::<String>());
    assert_ok(&quiet(folder.path(), &["report", "out"]));
}

#[test]
fn a_study_of_another_build_is_checked_and_what_it_ran_over_is_named() {
    let folder = folder(TINY);
    let ktd = |arguments: &[&str]| quiet(folder.path(), arguments);
    assert_ok(&ktd(&["probe", "small.toml", "--out", "out"]));
    made_by_another_build(&folder);
    for more in [&[][..], &["--deep"]] {
        let verified = ktd(&[&["verify", "out"], more].concat());
        assert_ok(&verified);
        let text = String::from_utf8(verified.stdout).unwrap();
        assert!(
            text.contains("CLAIMED    it was made by another program (sources bbbbbbbbbbbb)"),
            "{text}"
        );
    }
    let study = folder.text("out/study.json");
    folder.write(
        "out/study.json",
        study.replacen("\"confidence\": 0.95", "\"confidence\": 0.5", 1),
    );
    let changed = "what the study ran over is another now: `confidence` was 0.5 and is 0.95";
    let said = refused(&ktd(&["verify", "out"]), 2);
    assert!(
        said.contains("it was made by another program") && said.contains(changed),
        "{said}"
    );
    folder.write(
        "out/study.json",
        folder
            .text("out/study.json")
            .replace(&"b".repeat(64), &this_program().source_sha256),
    );
    let said = refused(&ktd(&["verify", "out"]), 1);
    assert!(said.contains(changed), "{said}");
}
