//! An endpoint that nobody reaches: it is said at once, and the lost cells can be run again.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::program::json_of;
use ktd_kit::{Folder, assert_ok, refused};
use serde_json::Value;

/// An experiment of one agent whose endpoint refuses, and one that needs none.
fn scene() -> Folder {
    // Nothing listens on the first port, and only the system could make something listen there.
    let experiment = r#"
name = "lost"
synthetic = { seed = 5, names = 30, days = 330 }
masks = [{ level = "bright" }]
modes = ["fixed-candidate"]
agents = [
  { id = "random", builtin = "random" },
  { id = "far", model = "m", base_url = "http://127.0.0.1:1/v1" },
]
windows = [{ id = "w", last_days = 2 }]
retries = { attempts = 2, unanswered_hours = 0, first_wait_ms = 1, longest_wait_ms = 1 }
"#;
    Folder::with(&[("lost.toml", experiment)])
}

fn cells(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path().join("out/cells")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_lost_cell_is_run_again_where_it_is_asked_for() {
    let folder = scene();
    let run = ["--quiet", "run", "lost.toml", "--out", "out"];
    let told = refused(&folder.ktd(&run), 1);
    let notes = told
        .lines()
        .filter(|line| line.starts_with("agent far: cannot connect to "));
    assert_eq!(notes.count(), 1, "{told}");
    assert!(told.contains("(attempt 1 of 2), trying again in"), "{told}");
    assert!(told.contains("--retry-lost` runs again the 1 cells"), "{told}");

    // Without the flag it is finished, and nothing is asked.
    let told = refused(&folder.ktd(&run), 1);
    assert!(!told.contains("cannot connect"), "{told}");
    let (far, random) = (
        "far__w__bright-exact__fixed-candidate__s1",
        "random__w__bright-exact__fixed-candidate__s1",
    );
    assert_eq!(cells(&folder), [far, random]);

    // A finished study says what it lacks, and what makes it good.
    let status = json_of(folder.path(), &["status", "out"]);
    let of = |agent: usize, what: &str| status["agents"][agent].get(what).and_then(Value::as_u64);
    assert_eq!(
        (of(0, "steps_lost"), of(1, "steps_lost")),
        (None, of(1, "steps")),
        "{status}"
    );
    let again = status["retry_lost"].as_str().unwrap();
    assert!(again.ends_with("lost.toml --out out --retry-lost"), "{again}");

    let events = format!("out/cells/{random}/events.jsonl");
    let before = folder.read(&events);
    let told = refused(&folder.ktd(&[&run[..], &["--retry-lost"]].concat()), 1);
    assert!(told.contains("cannot connect"), "{told}");
    let told = refused(&folder.ktd(&[&run[..], &["--retry-lost"]].concat()), 1);
    assert!(told.contains("cannot connect"), "{told}");
    let lost = [format!("{far}.lost-1"), format!("{far}.lost-2")];
    assert_eq!(cells(&folder), [far, &lost[0], &lost[1], random]);
    let after = folder.read(&events);
    assert_eq!(before, after, "a cell with decisions in it stays");

    // No board counts the lost ones, neither as rows nor as trials.
    let board = folder.ktd(&["leaderboard", "out", "--json"]);
    assert_ok(&board);
    let board: serde_json::Value = serde_json::from_slice(&board.stdout).unwrap();
    assert_eq!(board.pointer("/tracks/0/trials").unwrap(), 2, "{board:#}");
}
