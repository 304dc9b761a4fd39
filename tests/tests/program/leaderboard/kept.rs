//! Scores of agents are kept for the next board, and never stand for a record that changed.

use super::scene;
use ktd_kit::program::command;
use ktd_kit::{Folder, assert_ok, copy, refused};
use std::path::{Path, PathBuf};
use std::process::Output;

fn board(results: &Path, cache: &Path) -> Output {
    let mut command = command(results, &["--quiet", "--json", "leaderboard", "."]);
    command.env("KTD_CACHE", cache).output().unwrap()
}

fn scores(cache: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.join("scores")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_board_of_kept_scores_is_the_same_and_a_changed_record_is_found() {
    let folder = Folder::new();
    let results = folder.at("out");
    copy(&scene().join("out"), &results);
    let (cache, nowhere) = (folder.at("cache"), Path::new(""));
    let first = board(&results, &cache);
    assert_ok(&first);
    let kept = scores(&cache);
    assert_eq!(kept.len(), 2 * 2 * 5, "one of each agent on each track");
    // A file that is no score is never believed, and replaced.
    std::fs::write(&kept[0], "no score").unwrap();
    std::fs::remove_file(&kept[1]).unwrap();
    for cache in [cache.as_path(), nowhere] {
        assert_eq!(board(&results, cache).stdout, first.stdout);
    }
    assert_eq!(scores(&cache), kept);
    // What was kept and is not what the record says is believed by a board, and found by one that verifies all.
    let text = std::fs::read_to_string(&kept[1]).unwrap();
    let changed = text.replacen("\"early_submissions\":0", "\"early_submissions\":7", 1);
    assert_ne!(changed, text);
    std::fs::write(&kept[1], changed).unwrap();
    let verified = || {
        let arguments = ["--quiet", "--json", "leaderboard", ".", "--verify-sample", "40"];
        command(&results, &arguments)
            .env("KTD_CACHE", &cache)
            .output()
            .unwrap()
    };
    let error = refused(&verified(), 1);
    let name = kept[1].file_name().unwrap().to_string_lossy();
    assert!(
        error.contains("is not what they say") && error.contains(&*name),
        "{error}"
    );
    std::fs::write(&kept[1], text).unwrap();
    assert_eq!(verified().stdout, first.stdout);
    // One byte of a file is another's: neither is its agent's score used, nor is the board made.
    let cells = std::fs::read_dir(results.join("cells")).unwrap();
    let bundle = cells.map(|entry| entry.unwrap().path()).min().unwrap();
    for file in ["events.jsonl", "exchanges.jsonl.zst", "private/ledger.jsonl"] {
        let path = bundle.join(file);
        let bytes = std::fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let place = changed.len() / 2;
        changed[place] ^= 1;
        std::fs::write(&path, changed).unwrap();
        let error = refused(&board(&results, &cache), 1);
        assert!(error.contains(file), "{file}: {error}");
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(board(&results, &cache).stdout, first.stdout);
}
