//! The demo at first sight: twelve lines that fit, those that the README shows, and true.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::{Folder, assert_ok, workspace_root};
use serde_json::Value;
use std::process::Output;

fn demo(folder: &Folder, arguments: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = folder.ktd(&[&["--quiet", "demo"], arguments].concat());
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// The story as the README shows it, which another machine told.
fn shown_in_the_readme() -> String {
    let readme = std::fs::read_to_string(workspace_root().join("README.md")).unwrap();
    let lines = readme
        .lines()
        .skip_while(|line| !line.starts_with("    Memory or skill?"));
    let block = lines.map_while(|line| line.strip_prefix("    "));
    block.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_demo_tells_in_twelve_lines_what_the_readme_shows() {
    let one = Folder::new();
    let told = demo(&one, &[]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[..9].join("\n"),
        shown_in_the_readme(),
        "two machines, the same bytes"
    );
    assert_eq!(lines.len(), 12, "{told}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{told}");
    let agents: Vec<&str> = lines[2..8]
        .iter()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(agents[..2], ["cheater", "momentum"], "{told}");
    // The schema-breaker throws dice, and may end on either side of 0.
    for (agent, why) in [("hold", "never traded"), ("schema-breaker", "are unreadable")] {
        let is_last = |line: &&str| line.starts_with(agent) && line.contains(why);
        assert!(
            agents[4..].contains(&agent) && lines[6..8].iter().any(is_last),
            "{told}"
        );
    }
    assert!(told.contains("public demo key"), "{told}");
    assert!(
        lines[8].starts_with("mask blinded/banded-5, attacked: certified against database"),
        "{told}"
    );

    assert_eq!(lines[11], "look: ktd view results/demo", "{told}");

    // The next command that it names works, from the same directory.
    let next = lines[10].strip_prefix("next: ktd ").unwrap();
    assert_ok(&one.ktd(&next.split(' ').collect::<Vec<_>>()));

    // What is finished is read again: the same story with its figures for programs, and every run in a table that fits.
    let document: Value = serde_json::from_str(&demo(&one, &["--json"])).unwrap();
    let story = document["story"]["agents"].as_array().unwrap();
    let of = |agent: &str| story.iter().find(|row| row["agent"] == agent).unwrap();
    assert_eq!(of("momentum")["bright"], of("momentum")["blinded"]);
    assert!(0.5 < of("cheater")["bright"].as_f64().unwrap());
    assert_eq!(of("cheater")["blinded"], 0.0);
    assert_eq!(document["cells"].as_array().unwrap().len(), 54);
    let tables = demo(&one, &["--tables"]);
    assert!(tables.lines().all(|line| line.chars().count() <= 100), "{tables}");
    let heads = tables.lines().find(|line| line.contains("drawdown")).unwrap();
    for head in [
        "agent",
        "mask",
        "mode",
        "return",
        "Sharpe",
        "parse fail",
        "faults",
        "coverage",
    ] {
        assert!(heads.contains(head), "{head}: {heads}");
    }
    assert!(tables.contains("not shown: turnover"), "{tables}");
    let again = "All 54 runs: ktd demo --tables";
    assert!(told.contains(again) && !tables.contains(again), "{tables}");
    let wide = demo(&one, &["--wide"]);
    assert!(
        wide.contains("model faults") && wide.contains("tokens/step"),
        "{wide}"
    );
    assert!(!wide.contains("not shown"), "{wide}");
}
