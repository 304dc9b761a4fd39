//! A program of somebody's own writes the functions, over JSON lines.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use super::scene::{STUDY, events, folder_of};
use ktd_kit::{Folder, assert_ok, has_boxes, quiet, refused};
use serde_json::{Value, json};

const UNIT: &str = "results/x/units/mine__original__s1";
const RUN: [&str; 3] = ["factor-code", "run", "code.toml"];

/// Answers every question with a function that looks ahead.
const SCRIPT: &str = r#"while read -r line; do
printf '%s\n' "$line" >> heard
case $line in
  *'"type":"end"'*) exit 0 ;;
esac
name=${line##*Function name: }
name=${name%%\"*}
printf '%s\n' '{"type":"say","text":"def '"$name"'(df):\n    return df.day_close.shift(-1)\n","usage":{"prompt_tokens":100,"completion_tokens":7}}'
done
"#;

fn scene() -> Folder {
    let agent = "[[agents]]\nid = 'mine'\ncommand = ['sh', 'agent.sh']\nunboxed = true\n";
    let folder = folder_of(agent, "");
    folder.write("agent.sh", SCRIPT);
    folder
}

fn heard(folder: &Folder) -> Vec<Value> {
    let text = folder.text("heard");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_program_writes_functions_and_its_record_replays_without_it() {
    if !has_boxes() {
        return;
    }
    let folder = scene();
    assert_ok(&quiet(folder.path(), &RUN));
    let heard = heard(&folder);
    let steps: Vec<&Value> = heard.iter().map(|line| &line["step"]).collect();
    assert_eq!(steps, [&json!(1), &json!(2), &json!(1), &json!(2), &Value::Null]);
    assert_eq!(
        (&heard[0]["protocol"], &heard[0]["tools"]),
        (&json!(1), &json!([]))
    );
    assert_eq!(heard[4], json!({"type": "end", "ended": null}));
    for (line, function) in heard[..4]
        .iter()
        .zip(["roc_10", "reversion", "roc_10", "reversion"])
    {
        assert_eq!((&line["phase"], &line["whole"]), (&json!("code"), &json!(true)));
        // each task has standing instructions of its own
        assert!(line["system"].as_str().unwrap().contains(function), "{line}");
    }
    let last = heard[2]["messages"].as_array().unwrap();
    let roles: Vec<&Value> = last.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert!(
        last[2]["content"]
            .as_str()
            .unwrap()
            .contains("changed when later rows were")
    );

    let events = events(&folder, UNIT);
    assert_eq!(events.len(), 4);
    assert!(events.iter().all(|event| event["strict"] == "Pass@1"));
    let spending: Value = serde_json::from_slice(&folder.read(&format!("{UNIT}/spending.json"))).unwrap();
    assert!(spending.to_string().contains("28"), "{spending}");

    // neither a second run nor a replay needs it
    std::fs::remove_file(folder.at("agent.sh")).unwrap();
    assert_ok(&quiet(folder.path(), &RUN));
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
    assert_ok(&quiet(folder.path(), &["verify", STUDY]));
    assert_ok(&quiet(folder.path(), &["report", STUDY]));
}

#[test]
fn a_program_that_dies_is_a_fault_of_the_infrastructure_and_the_run_continues() {
    if !has_boxes() {
        return;
    }
    let folder = scene();
    folder.write("agent.sh", "exit 3\n");
    let failed = refused(&quiet(folder.path(), &RUN), 2);
    assert!(
        failed.contains("does not run: it ended with exit code 3"),
        "{failed}"
    );
    folder.write("agent.sh", SCRIPT);
    assert_ok(&quiet(folder.path(), &RUN));
    assert_eq!(folder.text(&format!("{UNIT}/events.jsonl")).lines().count(), 4);
}

#[test]
fn an_agent_that_cannot_answer_is_refused_before_anything_runs() {
    for (agent, part) in [
        ("command = ['./absent.sh']", "there is no program \"./absent.sh\""),
        (
            "command = ['sh', 'agent.sh']\npass_env = ['KTD_TEST_ABSENT']",
            "KTD_TEST_ABSENT is not set",
        ),
        ("external = 'mcp'", "is not a language model"),
    ] {
        if !agent.starts_with("external") && !has_boxes() {
            continue;
        }
        let folder = folder_of(&format!("[[agents]]\nid = 'mine'\n{agent}\n"), "");
        let said = refused(&quiet(folder.path(), &RUN), 2);
        assert!(said.contains(part), "{agent}: {said}");
        assert!(!folder.at(&format!("{UNIT}/events.jsonl")).exists());
    }
}
