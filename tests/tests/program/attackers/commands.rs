//! `ktd probe` with language models, and `ktd probe batch`.

use crate::attackers::batches::openai_requests;
use ktd_kit::quiet;
use serde_json::Value;
use std::path::Path;

const FILE: &str = r#"
name = "small"
output = "out"
synthetic = { seed = 11, names = 30, days = 400 }
mask = { level = "bright", numeric = "exact" }
probes = { day = 3, days = 0, episode = 0, linked = 2, anchored = 0 }
days = 2
episode_steps = 3
stretches = 2
training = 3
"#;

const CHEATER: &str = "[[language.agents]]\nid = \"cheater\"\nbuiltin = \"cheater\"\n";
const MODEL: &str =
    "[[language.agents]]\nid = \"m\"\nmodel = \"m-1\"\nvendor = \"openai\"\nwire = \"chat-completions\"\n";

/// Runs `ktd` in a folder: its exit code, and what it printed.
fn ktd(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let output = quiet(folder, &[&["--json"], arguments].concat());
    let printed = if output.stdout.is_empty() {
        output.stderr
    } else {
        output.stdout
    };
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&printed).unwrap(),
    )
}

#[test]
fn the_cheater_stands_in_the_table_of_attackers_and_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), format!("{FILE}\n{CHEATER}")).unwrap();
    let (code, first) = ktd(folder.path(), &["probe", "small.toml"]);
    assert_eq!(code, 0, "{first:#}");
    let share = |kind: &str, measure: &str| {
        let figures = first["figures"].as_array().unwrap().iter();
        let mut own = figures.filter(|figure| {
            figure["attacker"] == "cheater" && figure["kind"] == kind && figure["measure"] == measure
        });
        let figure = own
            .next()
            .unwrap_or_else(|| panic!("no {kind} {measure} in {first:#}"));
        (figure["hits"].clone(), figure["asked"].clone())
    };
    assert_eq!(share("day", "top1"), (3.into(), 3.into()));
    assert_eq!(share("day", "date5"), (3.into(), 3.into()));
    assert_eq!(share("linked", "same"), (2.into(), 2.into()));
    let record = folder
        .path()
        .join("out/attackers/probes/cheater/exchanges.jsonl.zst");
    let bytes = std::fs::metadata(&record).unwrap().len();
    let (_, again) = ktd(folder.path(), &["probe", "small.toml"]);
    assert_eq!(again["figures"], first["figures"]);
    assert_eq!(std::fs::metadata(&record).unwrap().len(), bytes);
    let (code, refused) = ktd(
        folder.path(),
        &["probe", "small.toml", "--probes", "out", "--out", "other"],
    );
    assert_eq!(
        (
            code,
            refused["error"].as_str().unwrap().contains("language models")
        ),
        (2, true),
        "{refused:#}"
    );
}

#[test]
fn a_batch_is_written_and_read_by_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("small.toml"), format!("{FILE}\n{MODEL}\n{CHEATER}")).unwrap();
    let write = [
        "probe",
        "batch",
        "write",
        "small.toml",
        "--agent",
        "m",
        "--out",
        "batch.jsonl",
    ];
    let (code, written) = ktd(folder.path(), &write);
    assert_eq!((code, &written["requests"]), (0, &5.into()), "{written:#}");
    let requests = openai_requests(&std::fs::read_to_string(path("batch.jsonl")).unwrap());
    let ids: Vec<&str> = requests.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["day-0", "day-1", "day-2", "linked-0", "linked-1"]);
    let row = r#"{"custom_id":"day-1","response":null,"error":{"code":"batch_expired"}}"#;
    std::fs::write(path("results.jsonl"), row).unwrap();
    let read = [
        "probe",
        "batch",
        "read",
        "small.toml",
        "--agent",
        "m",
        "results.jsonl",
    ];
    let (code, told) = ktd(folder.path(), &read);
    assert_eq!(
        (code, &told["recorded"], &told["answered"]),
        (0, &1.into(), &0.into()),
        "{told:#}"
    );
    assert_eq!(told["missing"].as_array().unwrap().len(), 4);
    assert_eq!(told["unanswered"]["batch_row"], 1);
    let (_, written) = ktd(folder.path(), &write);
    assert_eq!(
        (&written["requests"], &written["recorded"]),
        (&4.into(), &1.into())
    );
    for (agent, part) in [("x", "no attacker \"x\""), ("cheater", "no batch interface")] {
        let write = [
            "probe",
            "batch",
            "write",
            "small.toml",
            "--agent",
            agent,
            "--out",
            "batch.jsonl",
        ];
        let (code, failure) = ktd(folder.path(), &write);
        assert_eq!(code, 2);
        assert!(failure["error"].as_str().unwrap().contains(part), "{failure:#}");
    }
}
