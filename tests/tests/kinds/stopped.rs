//! What stops a study: a budget without room, a record that is cut, another process that writes its folder.

use super::questionnaire::Questionnaire;
use super::{QUESTIONS, cases, is_of_requests, model, run};
use ktd_io::ErrorClass;
use ktd_io::lock::FileLock;
use ktd_kit::episode::{below, dice, reopen_exchanges};
use ktd_kit::study::{recorded_files, replay_study, run_study};
use ktd_kit::vendor::ended;
use ktd_kit::{Folder, Recorded, Vendor, files};
use ktd_study::{Depth, any};
use serde_json::Value;
use std::path::{Path, PathBuf};

const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;

/// The same file with a budget for the models that it asks.
fn capped(plain: &str, dollars: &str) -> String {
    let keys = format!("prices = 'prices.json'\nbudget = {{ experiment = '{dollars}' }}\n");
    if plain.contains("[language]\n") {
        plain.replacen("[language]\n", &format!("[language]\n{keys}"), 1)
    } else {
        keys + plain
    }
}

/// No request is sent for which there is no room, and once there is, the study is the one that nothing had stopped.
#[test]
fn a_budget_without_room_asks_nobody_and_a_raised_one_gives_the_whole() {
    for case in cases()
        .iter()
        .filter(|case| case.files.iter().any(|(_, text)| text.contains("VENDOR")))
    {
        let (name, vendor) = (case.kind.name(), model());
        let folder = case.scene(&vendor);
        folder.write("prices.json", PRICES);
        let plain = folder.text("study.toml");
        // The answer alone may cost twice as much.
        folder.write("study.toml", capped(&plain, "0.0001"));
        let poor = run_study(case.kind, (&folder.at("study.toml"), &folder.at("out")), 2).unwrap();
        assert!(poor.finished.is_none() && !poor.failed.is_empty(), "{name}");
        for (unit, error) in &poor.failed {
            assert_eq!(error.class(), ErrorClass::Budget, "{name}, {unit}: {error}");
            assert!(
                error.to_string().contains("has no room"),
                "{name}, {unit}: {error}"
            );
        }
        assert_eq!(vendor.count(), 0, "{name}");

        folder.write("study.toml", capped(&plain, "100"));
        run(case, &folder, ("out", 2));
        let asked = vendor.count();
        run(case, &folder, ("whole", 2));
        assert_eq!(vendor.count(), 2 * asked, "{name}");
        let [now, whole] = ["out", "whole"].map(|out| recorded_files(&folder.at(out)));
        for (path, bytes) in &whole {
            assert!(
                is_of_requests(case, path) || now.get(path) == Some(bytes),
                "{name}: {}",
                path.display()
            );
        }
    }
}

/// What an agent of the questionnaire is asked: four questions in two rounds.
const REQUESTS: usize = 8;

/// A model that says how many messages it was sent, and refuses in the second round of one question.
fn refusing_once() -> Vendor {
    Vendor::answering(|request| {
        let messages = request["messages"].as_array().unwrap();
        let asked = messages[1]["content"].as_str().unwrap();
        let finish = if asked == "How?" && messages.len() == 4 {
            "content_filter"
        } else {
            "stop"
        };
        ended(&format!("{asked}: {} messages", messages.len()), finish, (10, 5))
    })
}

/// Leaves of a unit what a kill would have left of it: a part of its exchanges, and a torn work.
fn leave_open(unit: &Path, exchanges: &[u8]) {
    for closed in [
        "exchanges.jsonl.zst",
        "result.json",
        "events.jsonl",
        "spending.json",
        "works.jsonl.zst",
    ] {
        // The exchanges are open before the first cut.
        std::fs::remove_file(unit.join(closed)).ok();
    }
    std::fs::write(unit.join("exchanges.jsonl"), exchanges).unwrap();
    std::fs::write(unit.join("private/works.jsonl"), "{\"work\":\"sc").unwrap();
}

/// Where the record of conversations is cut, what stands whole in it is asked for no more, a refusal as little as an answer.
#[test]
fn a_record_that_is_cut_asks_for_what_it_lost_alone() {
    let vendor = refusing_once();
    let folder = Folder::with(&[("study.toml", &QUESTIONS.replace("VENDOR", &vendor.base_url()))]);
    let go_on = || {
        let files = (&*folder.at("study.toml"), &*folder.at("out"));
        let end = run_study(any::<Questionnaire>(), files, 2).unwrap();
        assert!(end.finished.is_some(), "{:?}", end.failed);
    };
    go_on();
    assert_eq!(vendor.count(), 2 * REQUESTS, "two agents");
    let unit = folder.at("out/units/one-0");
    let events = folder.text("out/units/one-0/events.jsonl");
    assert_eq!(events.matches("\"words\":null").count(), 1, "{events}");
    let whole = recorded_files(&unit);
    reopen_exchanges(&unit);
    let exchanges = std::fs::read(unit.join("exchanges.jsonl")).unwrap();
    let mut chance = dice(11, "where a record is cut");
    for _ in 0..25 {
        let cut = below(&mut chance, exchanges.len() + 1);
        leave_open(&unit, &exchanges[..cut]);
        let known = Recorded::read(&unit.join("exchanges.jsonl.zst")).unwrap();
        let (known, before) = (known.answered().count(), vendor.count());
        let record = replay_study(any::<Questionnaire>(), &folder.at("out"), Depth::Recorded);
        assert!(
            record.is_err(),
            "cut at byte {cut}: what is not finished is not replayed"
        );
        assert_eq!(vendor.count(), before, "a replay asks nobody");
        go_on();
        assert_eq!(vendor.count() - before, REQUESTS - known, "cut at byte {cut}");
        let now = recorded_files(&unit);
        let spending: Value = serde_json::from_slice(&now[Path::new("spending.json")]).unwrap();
        // A request whose reply was lost with the cut may have been paid for.
        let lost = spending["sends"]["unknown"].as_u64().unwrap();
        assert!(lost <= 1, "cut at byte {cut}: {spending}");
        let tells_lost = |path: &Path| path.ends_with("spending.json") && lost == 1;
        let packed = ["exchanges.jsonl.zst", "result.json"];
        for (path, bytes) in &whole {
            let is_told = packed.iter().any(|name| path.ends_with(name)) || tells_lost(path);
            assert!(
                is_told || now.get(path) == Some(bytes),
                "cut at byte {cut}: {}",
                path.display()
            );
        }
    }
}

/// No folder of a study is written by two at a time: the second is turned away before it writes or asks anything.
#[test]
fn a_folder_that_another_process_writes_is_left_alone() {
    for case in cases() {
        let (name, vendor) = (case.kind.name(), model());
        let folder = case.scene(&vendor);
        let out = folder.at("out");
        let _held = FileLock::of_folder(&out).unwrap();
        let refusal = run_study(case.kind, (&folder.at("study.toml"), &out), 2).unwrap_err();
        assert_eq!(refusal.class(), ErrorClass::InvalidInput, "{name}");
        assert!(
            refusal.to_string().contains("another process is writing it"),
            "{name}: {refusal}"
        );
        let found: Vec<PathBuf> = files(&out).into_keys().collect();
        assert_eq!(found, [Path::new("lock")], "{name}");
        assert_eq!(vendor.count(), 0, "{name}");
    }
}
