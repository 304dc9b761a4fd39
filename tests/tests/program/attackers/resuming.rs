//! Ended anywhere, an attacker continues: nothing that was answered is asked again, and the answers are the same.

use crate::attackers::answers::MODEL;
use crate::attackers::scene::{Asked, BLINDED, Set, ask, asked, scene};
use crate::attackers::scripted::{Say, Script};
use ktd_kit::Recorded;
use ktd_kit::episode::reopen_exchanges;
use ktd_probes::ProbeKind;
use ktd_record::RecordPaths;
use std::path::Path;

/// Three probes: one answered at once, one at its third try, one never.
fn says(set: &Set) -> Vec<Vec<Say>> {
    let good = |place: usize| {
        Say::stock(
            &[&scene().code(&set.gold[place])],
            &scene().date(&set.gold[place]),
        )
    };
    let bad = Say::Text("No idea.".to_owned());
    vec![vec![good(0)], vec![bad.clone(), bad.clone(), good(1)], vec![bad]]
}

fn script(set: &Set) -> Script {
    Script::new(set.probes.iter().zip(says(set)))
}

struct Run {
    _folder: tempfile::TempDir,
    asked: Asked,
}

impl Run {
    fn new(language: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let asked = asked(language, folder.path());
        Self {
            _folder: folder,
            asked,
        }
    }

    fn paths(&self) -> RecordPaths {
        RecordPaths::new(self.asked.folder())
    }
}

fn answered(path: &Path) -> usize {
    Recorded::read(path).unwrap().answered().count()
}

#[tokio::test]
async fn killed_at_any_byte_it_pays_for_nothing_twice() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 3);
    let whole = Run::new(MODEL);
    let first = script(&set);
    let expected = ask(&whole.asked, &set, &first).await.unwrap();
    let requests = first.requests().len();
    assert_eq!(requests, 1 + 3 + 3);
    reopen_exchanges(whole.asked.folder());
    let bytes = std::fs::read(whole.paths().open_exchanges()).unwrap();
    let mut recorded = std::collections::BTreeSet::new();
    for cut in (0..=bytes.len()).step_by(bytes.len() / 35).chain([bytes.len()]) {
        let run = Run::new(MODEL);
        std::fs::create_dir_all(run.asked.folder()).unwrap();
        std::fs::write(run.paths().open_exchanges(), &bytes[..cut]).unwrap();
        let known = answered(&run.paths().exchanges());
        recorded.insert(known);
        let again = script(&set);
        let answers = ask(&run.asked, &set, &again).await.unwrap();
        assert_eq!(again.requests().len(), requests - known, "cut at byte {cut}");
        assert_eq!(answers, expected, "cut at byte {cut}");
    }
    assert_eq!(recorded.len(), requests + 1, "a cut fell between all exchanges");
}

#[tokio::test]
async fn the_record_alone_gives_the_same_answers_and_what_is_not_in_it_is_unanswered() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 3);
    let run = Run::new(MODEL);
    let nothing = run.asked.recall(&set).await.unwrap();
    assert!(
        nothing
            .iter()
            .all(|answer| answer.reason.as_deref() == Some("not_asked"))
    );
    let asked = ask(&run.asked, &set, &script(&set)).await.unwrap();
    let recalled = run.asked.recall(&set).await.unwrap();
    assert_eq!(asked, recalled);
    // Another set of probes does not pass for the recorded one.
    let other = scene().probes(BLINDED, &[ProbeKind::Days], 3);
    let mut strange = scene().probes(BLINDED, &[ProbeKind::Day], 3);
    for (probe, days) in strange.probes.iter_mut().zip(&other.probes) {
        probe.exhibits.clone_from(&days.exhibits);
    }
    let error = run.asked.recall(&strange).await.unwrap_err();
    assert!(
        error.to_string().contains("probe day-0") && error.to_string().contains("not the recorded one"),
        "{error}"
    );
}

#[tokio::test]
async fn faults_that_use_up_their_attempts_stop_it_and_a_later_run_goes_on() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 3);
    let run = Run::new(MODEL);
    let mut broken = says(&set);
    broken[1] = vec![Say::UnansweredCount, Say::Status(503)];
    let broken = Script::new(set.probes.iter().zip(broken));
    for _ in 0..2 {
        let error = ask(&run.asked, &set, &broken).await.unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains("attacker m, probe day-1") && told.contains("last with overloaded"),
            "{told}"
        );
        assert!(error.hint().contains("same command again"));
    }
    // Two attempts a run, and the others were asked once.
    assert_eq!(broken.requests_about(&set.probes[1]).len(), 4);
    assert_eq!(broken.requests_about(&set.probes[0]).len(), 1);
    let fixed = script(&set);
    let answers = ask(&run.asked, &set, &fixed).await.unwrap();
    assert_eq!(fixed.requests_about(&set.probes[0]).len(), 0);
    assert_eq!(fixed.requests_about(&set.probes[1]).len(), 3);
    let whole = Run::new(MODEL);
    let whole = ask(&whole.asked, &set, &script(&set)).await.unwrap();
    assert_eq!(answers, whole);
}

#[tokio::test]
async fn a_call_that_the_server_lost_is_told_as_such() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 1);
    let run = Run::new(MODEL);
    let leak = Script::new([(
        &set.probes[0],
        vec![Say::Text("<tool_call>submit_action".to_owned())],
    )]);
    let answers = ask(&run.asked, &set, &leak).await.unwrap();
    assert_eq!(answers[0].reason.as_deref(), Some("server_parser_leak"));
    assert!(answers[0].mistakes.is_empty(), "it is no mistake of the model");
}

#[tokio::test]
async fn a_budget_stops_it_before_the_call_that_has_no_room() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 3);
    let folder = tempfile::tempdir().unwrap();
    let prices = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":2}]}"#;
    std::fs::write(folder.path().join("prices.json"), prices).unwrap();
    // A call costs 1,020 millionths of a dollar; at most it can cost some 40,000.
    let capped = |dollars: &str| {
        let model = MODEL
            .replace("parallel = 3", "parallel = 1\nprices = \"prices.json\"")
            .replace("id = \"m\",", "id = \"m\", max_output_tokens = 100,");
        format!("{model}\nbudget = {{ experiment = \"{dollars}\" }}")
    };
    let script = script(&set);
    let poor = asked(&capped("0.001"), folder.path());
    let error = ask(&poor, &set, &script).await.unwrap_err();
    assert!(
        error.to_string().contains("has no room") && script.requests().is_empty(),
        "{error}"
    );
    drop(poor);
    let rich = asked(&capped("1"), folder.path());
    ask(&rich, &set, &script).await.unwrap();
    drop(rich);
    // Seven calls were made: what they cost counts in every later run, whatever set it asks.
    let later = asked(&capped("0.007"), folder.path());
    let other = scene().probes(BLINDED, &[ProbeKind::Days], 1);
    let error = ask(&later, &other, &script).await.unwrap_err();
    assert!(error.to_string().contains("$0.0072"), "{error}");
}
