//! `ktd probe` with language models.

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
    let record = folder.path().join("out/units/probes.cheater/exchanges.jsonl.zst");
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
