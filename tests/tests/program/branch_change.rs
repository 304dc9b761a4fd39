//! A branch that changes one thing, and the difference of the two books: `ktd replay --branch` and `ktd diff`.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok, quiet, refused};
use serde_json::Value;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
masks = [{ level = "blinded" }]
modes = ["open-research"]
agents = [{ id = "momentum", builtin = "momentum" }]
windows = [{ id = "w", last_days = 4 }]
"#;

const BUNDLE: &str = "out/cells/momentum__w__blinded-exact__open-research__s1";

fn scene() -> Folder {
    let folder = Folder::with(&[("try.toml", EXPERIMENT)]);
    assert_ok(&quiet(folder.path(), &["run", "try.toml", "--out", "out"]));
    folder
}

fn branch(folder: &Folder, step: &str, out: &str, change: &[&str]) {
    let arguments = [&["replay", BUNDLE, "--branch", step, "--out", out], change].concat();
    assert_ok(&quiet(folder.path(), &arguments));
    assert_ok(&quiet(folder.path(), &["verify", out]));
    assert_ok(&quiet(folder.path(), &["replay", out]));
    // Finished, it is what it is.
    assert_ok(&quiet(folder.path(), &arguments));
}

fn diff(folder: &Folder, other: &str) -> Value {
    printed(&quiet(folder.path(), &["--json", "diff", BUNDLE, other]))
}

fn text(folder: &Folder, bundle: &str, file: &str) -> String {
    std::fs::read_to_string(folder.path().join(bundle).join(file)).unwrap()
}

/// An alias that the original trades at its first step.
fn alias(folder: &Folder) -> String {
    let events = text(folder, BUNDLE, "events.jsonl");
    let at = events.find("asset_").unwrap();
    events[at..]
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect()
}

/// What is said of a branch at step 2 that is refused.
fn refused_branch(folder: &Folder, change: &[&str]) -> String {
    let branch = ["replay", BUNDLE, "--branch", "2", "--out", "c"];
    refused(&quiet(folder.path(), &[&branch[..], change].concat()), 2)
}

/// The recorded requests and replies of a bundle, a line each.
fn requests(folder: &Folder, bundle: &str) -> String {
    let packed = folder.path().join(bundle).join("exchanges.jsonl.zst");
    let lines = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
    String::from_utf8(lines).unwrap()
}

fn of_step(text: &str, place: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.contains(place));
    lines.map(str::to_owned).collect()
}

#[test]
fn orders_of_one_step_are_changed_and_the_books_part_there() {
    let folder = scene();
    let id = alias(&folder);
    folder.write(
        "orders.json",
        format!(
            "{{\"orders\": [{{\"stock_id\": \"{id}\", \"side\": \"SELL\", \"target_weight\": 0.01, \"confidence\": 0.5, \
             \"reason\": \"to see what this one order does to the book\"}}], \
             \"overall_reason\": \"one thing is changed here and nothing else\"}}"
        ),
    );
    branch(&folder, "2", "b", &["--orders", "orders.json"]);
    let told = diff(&folder, "b");
    let difference = &told["difference"];
    assert_eq!(difference["first_step"], 2);
    let only = difference["differing"][0]["orders"][1].to_string();
    assert!(only.contains(&format!("SELL {id} 1.0000 %")), "{only}");
    assert!(difference["change"].as_str().unwrap().starts_with("step 2: "));
    let [before, after] = [0, 1].map(|place| difference["final_nav_fen"][place].as_i64().unwrap());
    assert_ne!(before, after);
    assert_eq!(difference["final_nav_difference_fen"], after - before);
    assert!(
        told["selection"]["difference"].is_number(),
        "{}",
        told["selection"]
    );
    let header = text(&folder, "b", "header.json");
    assert!(
        header.contains("\"change\"") && header.contains("\"orders\""),
        "{header}"
    );
    // It is never ranked.
    let board = quiet(folder.path(), &["leaderboard", "b", "--replicates", "40"]);
    assert!(!board.status.success());
    let shown = quiet(folder.path(), &["diff", BUNDLE, "b"]);
    assert_ok(&shown);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("the books part at step 2"), "{shown}");
}

#[test]
fn a_rule_is_changed_from_a_step_on() {
    let folder = scene();
    branch(&folder, "1", "dear", &["--rule", "commission_bps = 200"]);
    let told = diff(&folder, "dear");
    assert_eq!(told["difference"]["first_step"], 1);
    let marks = &told["difference"]["differing"][0]["marks"];
    let fees = |place: usize| marks[place]["fees_fen"].as_i64().unwrap();
    assert!(10 * fees(0) < fees(1), "{marks}");
    let error = refused_branch(&folder, &["--rule", "no_such_rule = 1"]);
    assert!(error.contains("no_such_rule"), "{error}");
}

#[test]
fn a_rung_is_changed_from_a_step_on_and_verified_step_by_step() {
    let folder = scene();
    branch(&folder, "3", "ranked", &["--numeric", "ranked"]);
    let told = diff(&folder, "ranked");
    let first = told["difference"]["first_step"].as_u64();
    assert!(first.is_none_or(|first| 3 <= first), "{told}");
    let [original, changed] = [BUNDLE, "ranked"].map(|bundle| requests(&folder, bundle));
    let first_of = |text: &str, step: usize| of_step(text, &format!("\"step\":{step},\"ordinal\":0"));
    assert_eq!(first_of(&original, 2), first_of(&changed, 2));
    let shown = |text: &str| first_of(text, 3).concat().contains("percentile");
    assert_eq!([shown(&original), shown(&changed)], [false, true]);
    let error = refused_branch(&folder, &["--numeric", "banded"]);
    assert!(error.contains("no branch goes from exact to banded"), "{error}");
}

#[test]
fn an_answer_of_a_tool_is_changed_and_what_was_asked_before_is_not_asked_again() {
    let folder = scene();
    branch(&folder, "2", "a", &["--answer", "1=portfolio_state {}"]);
    let [original, changed] = [BUNDLE, "a"].map(|bundle| requests(&folder, bundle));
    let opening = "\"step\":2,\"ordinal\":0";
    assert!(
        !of_step(&original, opening).is_empty(),
        "{}",
        original.lines().next().unwrap()
    );
    assert_eq!(of_step(&original, opening), of_step(&changed, opening));
    let next = "\"step\":2,\"ordinal\":1";
    assert_ne!(of_step(&original, next), of_step(&changed, next));
    let error = refused_branch(&folder, &["--answer", "99=portfolio_state {}"]);
    assert!(error.contains("no call 99"), "{error}");
}

#[test]
fn one_thing_alone_is_changed() {
    let folder = scene();
    for other in [&["--builtin", "hold"][..], &["--rule", "buy_bps = 9"]] {
        let arguments = [
            &[
                "replay",
                BUNDLE,
                "--branch",
                "2",
                "--out",
                "c",
                "--numeric",
                "ranked",
            ],
            other,
        ]
        .concat();
        let output = quiet(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2));
    }
    let other = "out/cells";
    let error = refused(&quiet(folder.path(), &["diff", BUNDLE, other]), 2);
    assert!(error.contains("is not a bundle"), "{error}");
}
