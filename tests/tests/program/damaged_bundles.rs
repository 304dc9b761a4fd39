//! A bundle that is not as it was written says so on every page and in every command, in the same words.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use crate::viewer::Viewer;
use ktd_kit::{Folder, assert_ok, copy, quiet};
use std::path::Path;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 60, days = 330 }
masks = [{ level = "blinded" }]
modes = ["open-research"]
agents = [{ id = "momentum", builtin = "momentum" }, { id = "random", builtin = "random" }]
windows = [{ id = "w", last_days = 4 }]
"#;

const HURT: &str = "results/try/cells/momentum__w__blinded-exact__open-research__s1";
const OTHER: &str = "results/try/cells/random__w__blinded-exact__open-research__s1";

const BOARD: [&str; 4] = ["--replicates", "40", "--portfolios", "20"];

/// One way to damage a bundle, and the file that every reader names.
type Damage = (&'static str, fn(&Path));

fn replace(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{}: {from}", path.display());
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

const DAMAGES: [Damage; 6] = [
    ("events.jsonl", |cell| {
        replace(&cell.join("events.jsonl"), "\"submitted\"", "\"hold\"");
    }),
    ("summary.json", |cell| {
        replace(&cell.join("summary.json"), "\"submitted\": ", "\"submitted\": 1");
    }),
    ("private/ledger.jsonl", |cell| {
        let path = cell.join("private/ledger.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        std::fs::write(&path, format!("{first}\n")).unwrap();
    }),
    ("private/summary.json", |cell| {
        replace(&cell.join("private/summary.json"), "\"value\": ", "\"value\": 1");
    }),
    ("private/episode.json", |cell| {
        replace(
            &cell.join("private/episode.json"),
            "\"last_day\": \"2",
            "\"last_day\": \"1",
        );
    }),
    ("exchanges.jsonl.zst", |cell| {
        let path = cell.join("exchanges.jsonl.zst");
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        *bytes.get_mut(middle).unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }),
];

#[test]
fn a_damaged_bundle_is_damaged_everywhere() {
    let whole = Folder::with(&[("try.toml", EXPERIMENT)]);
    assert_ok(&quiet(whole.path(), &["run", "try.toml", "--out", "results/try"]));
    let ranked = [
        &["leaderboard", "results/try", "--out", "results/try/board"],
        &BOARD[..],
    ]
    .concat();
    assert_ok(&quiet(whole.path(), &ranked));
    for (file, damage) in DAMAGES {
        let folder = Folder::new();
        copy(whole.path(), folder.path());
        damage(&folder.at(HURT));
        check_commands(&folder, file);
        check_pages(&folder, file);
    }
}

/// Every command that reads the bundle names it and the file.
fn check_commands(folder: &Folder, file: &str) {
    let words = ["damaged bundle: ", file];
    for command in [
        &["replay", HURT, "--step", "1"][..],
        &["replay", HURT],
        &["replay", HURT, "--branch", "2", "--out", "branch"],
        &["diff", HURT, OTHER],
        &["diff", OTHER, HURT],
        &["attribute", HURT],
        &["reasons", "results/try"],
        &[&["leaderboard", "results/try"], &BOARD[..]].concat(),
    ] {
        let output = quiet(folder.path(), command);
        assert_eq!(output.status.code(), Some(1), "{file}, {command:?}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{file}, {command:?}: {said}"
        );
    }
    assert!(!folder.at("branch").exists());
    assert_eq!(
        quiet(folder.path(), &["verify", HURT]).status.code(),
        Some(1),
        "{file}"
    );
}

/// Every page that shows the bundle does, the list and the tear sheets of its experiment among them.
fn check_pages(folder: &Folder, file: &str) {
    let words = ["damaged bundle: ", file];
    let viewer = Viewer::of(folder.path(), &["results"]);
    let hurt = format!("try~{}", HURT.rsplit('/').next().unwrap());
    let other = format!("try~{}", OTHER.rsplit('/').next().unwrap());
    let sheet = "board/try.board/momentum__w__blinded-exact__open-research.html";
    for page in [
        "x/try.html".to_owned(),
        format!("e/{hurt}/index.html"),
        format!("e/{hurt}/1.html"),
        format!("compare.html?a={hurt}&b={other}"),
        format!("compare.html?a={other}&b={hurt}"),
        sheet.to_owned(),
    ] {
        let (_, text) = viewer.get(&format!("/{page}"));
        assert!(
            words.iter().all(|word| text.contains(word)),
            "{file}, {page}: {text}"
        );
    }
}
