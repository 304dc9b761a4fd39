//! A bundle has one writer, and is of one program: a second run of the same experiment, and another program, are turned away and
//! touch nothing.

use ktd_bundle::BundlePaths;
use ktd_kit::Recorded;
use ktd_kit::episode::reopen_exchanges;
use ktd_kit::{Folder, assert_ok, refused, this_program};
use serde_json::{Value, json};

const EXPERIMENT: &str = r#"
name = "one"
synthetic = { seed = 5, names = 20, days = 200 }
masks = [{ level = "blinded" }]
modes = ["fixed-candidate"]
agents = [{ id = "momentum", builtin = "momentum" }]
windows = [{ id = "w", last_days = 3 }]
"#;

const RUN: [&str; 4] = ["run", "one.toml", "--out", "out"];

const BUNDLE: &str = "out/cells/momentum__w__blinded-exact__fixed-candidate__s1";

#[test]
fn a_second_run_is_turned_away_before_it_reads_or_cuts_anything() {
    let folder = Folder::with(&[("one.toml", EXPERIMENT)]);
    assert_ok(&folder.ktd(&RUN));
    let bundle = folder.at(BUNDLE);
    let paths = BundlePaths::new(&bundle);
    std::fs::remove_file(paths.summary()).unwrap();
    // The first writer is in the middle of a record: the outcome of the last request.
    let whole = Recorded::read(&paths.exchanges()).unwrap();
    reopen_exchanges(&bundle);
    let open_part = bundle.join("exchanges.jsonl");
    let exchanges = std::fs::read(&open_part).unwrap();
    let half = exchanges.get(..exchanges.len() - 10).unwrap();
    std::fs::write(&open_part, half).unwrap();

    let lock = paths.lock_for_writing().unwrap();
    let told = refused(&folder.ktd(&RUN), 2);
    assert!(told.contains("another process is writing it"), "{told}");
    assert!(std::fs::read(&open_part).unwrap() == half, "it was touched");

    drop(lock);
    assert_ok(&folder.ktd(&RUN));
    let continued = Recorded::read(&paths.exchanges()).unwrap();
    assert!(continued.answered().eq(whole.answered()), "other exchanges");
    assert_eq!(continued.unknown().count(), 1, "the torn outcome is not known");
}

#[test]
fn a_finished_bundle_that_was_changed_is_no_result() {
    let folder = Folder::with(&[("one.toml", EXPERIMENT)]);
    assert_ok(&folder.ktd(&RUN));
    let bundle = folder.at(BUNDLE);
    let summary = bundle.join("summary.json");
    let text = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, text.replacen("\"uncovered\": 0", "\"uncovered\": 1", 1)).unwrap();
    assert_eq!(folder.ktd(&RUN).status.code(), Some(1));
    std::fs::write(&summary, text).unwrap();

    // Published without its private part, it stays as it was published.
    std::fs::remove_dir_all(bundle.join("private")).unwrap();
    assert_ok(&folder.ktd(&RUN));
    assert!(!bundle.join("private").exists());
}

/// A finished episode stands as it is; an unfinished one is of one program.
#[test]
fn what_another_program_began_is_refused_with_both_names() {
    let folder = Folder::with(&[("one.toml", EXPERIMENT)]);
    assert_ok(&folder.ktd(&RUN));
    let paths = BundlePaths::new(&folder.at(BUNDLE));
    std::fs::remove_file(paths.summary()).unwrap();
    let kept = std::fs::read(paths.header()).unwrap();
    for (maker, told_maker) in [
        (json!({ "source_sha256": "b".repeat(64) }), "sources bbbbbbbbbbbb"),
        (Value::Null, "it does not say which"),
    ] {
        let mut header: Value = serde_json::from_slice(&kept).unwrap();
        header["program"] = maker;
        let other = header.to_string();
        std::fs::write(paths.header(), &other).unwrap();
        let told = refused(&folder.ktd(&RUN), 2);
        let both = format!("({told_maker}); this one is {}", this_program());
        assert!(told.contains(&both), "{told}");
        assert!(told.contains("name another folder with --out"), "{told}");
        assert!(
            std::fs::read(paths.header()).unwrap() == other.as_bytes(),
            "it was touched"
        );
    }
}
