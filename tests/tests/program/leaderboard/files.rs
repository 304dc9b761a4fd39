//! The files of a board, and what a stranger's bundle may do to it.

use super::{copied, quiet, refused, scene};
use ktd_kit::program::printed;
use ktd_kit::{assert_ok, endless_file, named_pipe};
use serde_json::Value;
use std::path::Path;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn page_markdown_json_and_tables_are_of_one_board() {
    let out = tempfile::tempdir().unwrap();
    let to = out.path().to_str().unwrap();
    for arguments in [
        &["leaderboard", "out", "--out", to][..],
        &[
            "leaderboard",
            "out",
            "--out",
            to,
            "--agent",
            "hold",
            "--window",
            "day",
        ],
    ] {
        assert_ok(&quiet(scene(), arguments));
        let manifest = json(&out.path().join("manifest.json"));
        let content = manifest["content_sha256"].as_str().unwrap();
        assert_eq!(
            json(&out.path().join("leaderboard.json"))["content_sha256"],
            content
        );
        let page = std::fs::read_to_string(out.path().join("index.html")).unwrap();
        assert!(page.contains(content));
        let files = manifest["files"].as_object().unwrap();
        for (path, hash) in files {
            let bytes = std::fs::read(out.path().join(path)).unwrap();
            assert_eq!(*hash, ktd_io::sha256::sha256_hex(&bytes), "{path}");
        }
        let count = |folder: &str| std::fs::read_dir(out.path().join(folder)).unwrap().count();
        let (tables, parquet) = (count("tables"), count("parquet"));
        assert_eq!((files.len(), parquet), (2 * tables + 3, tables));
        assert_eq!(
            count(""),
            6,
            "index.html, report.md, leaderboard.json, manifest.json, tables and parquet"
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_board_whole() {
    let out = tempfile::tempdir().unwrap();
    let to = out.path().to_str().unwrap();
    assert_ok(&quiet(scene(), &["leaderboard", "out", "--out", to]));
    let old = |name: &str| std::fs::read(out.path().join(name)).unwrap();
    let names = ["index.html", "leaderboard.json", "manifest.json"];
    let before = names.map(old);
    // A folder where the last table goes.
    let table = out.path().join("tables/table8_day_bright-exact_memory-only.csv");
    std::fs::remove_file(&table).unwrap();
    std::fs::create_dir(&table).unwrap();
    let said = refused(&quiet(
        scene(),
        &["leaderboard", "out", "--out", to, "--replicates", "50"],
    ));
    assert!(said.contains("table8_day"), "{said}");
    assert_eq!(names.map(old), before, "a new page beside old tables");
}

/// A bundle whose header was changed.
fn with_header(folder: &Path, change: impl Fn(&mut Value)) -> std::process::Output {
    let bundle = copied(folder);
    let path = bundle.join("header.json");
    let mut header = json(&path);
    change(&mut header);
    std::fs::write(&path, serde_json::to_vec_pretty(&header).unwrap()).unwrap();
    quiet(folder, &["leaderboard", "bundle"])
}

#[test]
fn names_that_a_header_may_not_have_are_refused() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 6] = [
        ("experiment", |header| {
            header["experiment"] = "=HYPERLINK(\"x\")".into();
        }),
        ("agent.id", |header| {
            header["agent"]["id"] = "\u{1b}[2Jmodel".into();
        }),
        ("window.id", |header| header["window"]["id"] = "../../up".into()),
        ("cell", |header| header["cell"] = "x".repeat(300).into()),
        ("data.limitations", |header| {
            header["data"]["limitations"] = vec!["a\u{7}b"].into();
        }),
        ("mode", |header| header["mode"] = "+research".into()),
    ];
    for (field, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        let said = ktd_kit::refused(&with_header(folder.path(), change), 1);
        assert!(
            said.contains(field) && said.contains("header.json"),
            "{field}: {said}"
        );
        assert!(!said.contains('\u{1b}') && !said.contains('\u{7}'), "{said:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_bad_sibling_costs_a_board_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let named = copied(folder.path());
    let sibling = |name: &str| {
        let root = folder.path().join(name);
        ktd_kit::copy(&named, &root);
        root
    };
    for file in [
        "header.json",
        "summary.json",
        "private/episode.json",
        "private/ledger.jsonl",
    ] {
        for (kind, make) in [("endless", endless_file as fn(&Path)), ("pipe", named_pipe)] {
            let path = sibling(&format!("{kind}-{}", file.replace('/', "-"))).join(file);
            std::fs::remove_file(&path).unwrap();
            make(&path);
        }
    }
    let large = sibling("large").join("private/episode.json");
    let file = std::fs::File::create(large).unwrap();
    file.set_len(1 << 40).unwrap();
    let board = printed(&quiet(folder.path(), &["leaderboard", "bundle", "--json"]));
    assert_eq!(board["tracks"][0]["trials"], 1, "the named one alone");
    let notes = board["notes"].to_string();
    assert!(
        notes.contains("not counted as a trial") && notes.contains("do not count as trials: 3"),
        "{notes}"
    );
}

#[test]
fn a_sibling_counts_by_its_ledger_alone_and_only_when_the_ledger_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let named = copied(folder.path());
    let sibling = folder.path().join("sibling");
    ktd_kit::copy(&named, &sibling);
    let trials = || {
        let board = printed(&quiet(folder.path(), &["leaderboard", "bundle", "--json"]));
        board["tracks"][0]["trials"].as_u64().unwrap()
    };
    assert_eq!(trials(), 2);
    std::fs::remove_file(sibling.join("exchanges.jsonl.zst")).unwrap();
    assert_eq!(
        trials(),
        2,
        "its exchanges are most of its bytes and are not read"
    );
    let path = sibling.join("summary.json");
    let mut summary = json(&path);
    summary["sha256"]["private/ledger.jsonl (keyed)"] = "0".repeat(64).into();
    std::fs::write(&path, serde_json::to_vec(&summary).unwrap()).unwrap();
    assert_eq!(trials(), 1, "its ledger is not the one of its summary");
}
