//! The figures of a folder are of one program: another one begins anew, or refuses the folder by name.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_bundle::BundlePaths;
use ktd_io::lock::FileLock;
use ktd_kit::{Folder, files, has_boxes, quiet, refused, this_program};
use serde_json::{Value, json};
use std::path::Path;

const SPLITS: &str =
    "splits = { train = ['2022-03-07', '2022-09-30'], valid = ['2022-10-10', '2023-02-22'] }\n";

/// A model that nobody serves.
const AGENT: &str =
    "id = 'm'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'http://127.0.0.1:9/v1'\n";

const RETRIES: &str = "retries = { attempts = 1, unanswered_hours = 0, first_wait_ms = 1 }\n";

/// A file of every kind of study, each with results in `out`.
fn scene() -> Folder {
    let folder = crate::certify::folder(crate::certify::CONFIG);
    let texts = [
        (
            "run.toml",
            "name = 'one'\nsynthetic = { seed = 5, names = 20, days = 200 }\nmasks = [{ level = 'blinded' }]\n\
             modes = ['fixed-candidate']\nagents = [{ id = 'momentum', builtin = 'momentum' }]\n\
             windows = [{ id = 'w', last_days = 3 }]\n"
                .to_owned(),
        ),
        (
            "leak.toml",
            "name = 'leak'\nsynthetic = { seed = 3, names = 24, days = 800 }\nhorizons = [5]\nmodels = ['momentum']\n\
             protocols = ['EXEC_CLOSE']\n"
                .to_owned(),
        ),
        (
            "study.toml",
            format!(
                "name = 'study'\n{SPLITS}noise = {{ draws = 0 }}\npools = [{{ id = 'own', file = 'own.csv' }}]\n"
            ),
        ),
        (
            "judges.toml",
            format!("name = 'judged'\npools = [{{ id = 'own', file = 'own.csv' }}]\n{RETRIES}[[agents]]\n{AGENT}"),
        ),
        (
            "own.csv",
            "id,expression\nreversal,\"$close/Ref($close,5)\"\n".to_owned(),
        ),
        (
            "mine.toml",
            format!("name = 'mined'\n{SPLITS}method = 'random'\nrandom = {{ evaluations = 10 }}\n"),
        ),
        (
            "strategies.toml",
            format!(
                "benchmark = 'strategy-code'\nname = 'x'\nstrategies = ['S01']\narena = {{}}\n{RETRIES}[[agents]]\n{AGENT}"
            ),
        ),
        (
            "functions.toml",
            format!(
                "kind = 'factor-code'\nname = 'x'\ntasks = ['MOM-1-01']\nstyles = ['original']\nrounds = 1\n\
                 {RETRIES}[[agents]]\n{AGENT}"
            ),
        ),
    ];
    for (name, text) in texts {
        folder.write(name, text);
    }
    folder
}

/// Every command that writes the folder of a study, with its lock.
const WRITERS: [(&[&str], &str); 10] = [
    (&["leak", "run", "leak.toml"], "lock"),
    (&["alpha", "eval", "study.toml"], "lock"),
    (&["alpha", "judge", "judges.toml"], "lock"),
    (&["alpha", "mine", "mine.toml"], "lock"),
    (&["strategy-code", "run", "strategies.toml"], "lock"),
    (&["factor-code", "run", "functions.toml"], "lock"),
    (&["probe", "small.toml"], "lock"),
    (&["certify", "small.toml", "--key", "key.pem"], "lock"),
    (
        &["certify", "small.toml", "--key", "key.pem", "--commit-only"],
        "lock",
    ),
    (&["curve", "small.toml"], "lock"),
];

fn written(folder: &Folder, command: &[&str]) -> std::process::Output {
    quiet(folder.path(), &[command, &["--out", "out"]].concat())
}

#[test]
fn no_folder_of_a_study_is_written_by_two_at_a_time() {
    let folder = scene();
    for (command, lock) in WRITERS {
        let is_boxed = command[0].ends_with("-code");
        if is_boxed && !has_boxes() {
            continue;
        }
        let lock = folder.at("out").join(lock);
        std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
        let held = FileLock::take(&lock, &folder.at("out")).unwrap();
        let told = refused(&written(&folder, command), 2);
        assert!(
            told.contains("another process is writing it"),
            "{command:?}: {told}"
        );
        let found: Vec<_> = files(&folder.at("out")).into_keys().collect();
        assert_eq!(found.len(), 1, "{command:?} wrote {found:?}");
        drop(held);
        std::fs::remove_dir_all(folder.at("out")).unwrap();
    }
}

fn changed(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
}

#[test]
fn what_another_program_began_is_refused_with_both_names() {
    let folder = scene();
    let cell = "cells/momentum__w__blinded-exact__fixed-candidate__s1";
    let header = format!("{cell}/header.json");
    for (command, identity) in [(&["run", "run.toml"][..], header.as_str())] {
        // Where a model is asked, nobody answers: what is begun stays.
        written(&folder, command);
        // A finished episode stands as it is; an unfinished one is of one program.
        let summary = BundlePaths::new(&folder.at("out").join(cell)).summary();
        if identity == header {
            std::fs::remove_file(summary).unwrap();
        }
        let path = folder.at("out").join(identity);
        for (maker, told_maker) in [
            (json!({ "source_sha256": "b".repeat(64) }), "sources bbbbbbbbbbbb"),
            (Value::Null, "it does not say which"),
        ] {
            let kept = std::fs::read(&path).unwrap();
            changed(&path, |value| value["program"] = maker.clone());
            let other = std::fs::read(&path).unwrap();
            let output = written(&folder, command);
            let told = refused(&output, 2);
            let both = format!("({told_maker}); this one is {}", this_program());
            assert!(told.contains(&both), "{command:?}: {told}");
            assert!(told.contains("name another folder with --out"), "{told}");
            assert_eq!(std::fs::read(&path).unwrap(), other, "{command:?}");
            std::fs::write(&path, kept).unwrap();
        }
        std::fs::remove_dir_all(folder.at("out")).unwrap();
    }
}
