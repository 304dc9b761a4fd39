//! Submissions of the set in the box: gates, drift between versions, replies, facts of sources. A test takes a part of its
//! cases; all of them are taken where `KTD_WHOLE` is set, which `tests/scripts/boxes.sh` does.

use super::{document, market_of, path, words};
use ktd_boxed::{BoxLauncher, BoxSetup, CodeRunner};
use ktd_kit::golden::{json, text};
use ktd_kit::has_boxes;
use ktd_kit::need::box_environment;
use ktd_sandbox::{BoxJob, BoxLimits, JobResult, ModuleName, SourceText};
use ktd_strategy_code::{
    DocumentId, DriftVerdict, Gate, GateSecret, LONG_RUN, PublishedDrift, Scenario, StrategyCard,
    StrategySubmission, StrategyTraces, StrategyVersion, SubmissionReport, TraceDistances, VersionDrift,
    source_facts,
};
use ktd_strategy_study::{StrategyTask, judge_submission, trace_program};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Whether all cases are taken.
pub(super) fn is_whole() -> bool {
    std::env::var_os("KTD_WHOLE").is_some()
}

/// The reference programs, which the set's own script prints.
fn reference_sources(scripts: &Path) -> Value {
    let program = "import json, refs; book = open('book.txt').read(); \
                   print(json.dumps({s: refs.source(s, book) for s in refs.REF}))";
    let python = box_environment().unwrap().join("bin/python");
    let mut command = Command::new(python);
    let printed = command
        .current_dir(scripts)
        .args(["-B", "-c", program])
        .output()
        .unwrap();
    serde_json::from_slice(&printed.stdout).unwrap_or_else(|_| panic!("{printed:?}"))
}

/// Cuts that a test makes again.
fn secret() -> GateSecret {
    GateSecret::of(b"a test")
}

pub(super) fn launcher(limits: BoxLimits) -> BoxLauncher {
    let setup = BoxSetup {
        modules: ["numpy", "pandas"].map(ModuleName::unnamed).to_vec(),
        limits,
        ..BoxSetup::default()
    };
    BoxLauncher::prove(setup).unwrap_or_else(|error| panic!("{error}\n{}", error.hint()))
}

fn rows(file: &str) -> Option<Vec<Value>> {
    let read = text(&path(file)?);
    Some(
        read.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// What the set gives, but for the cases.
pub(super) struct Set {
    pub(super) tasks: BTreeMap<DocumentId, StrategyTask>,
    pub(super) cards: BTreeMap<DocumentId, String>,
    sources: BTreeMap<DocumentId, String>,
}

impl Set {
    pub(super) fn read() -> Option<Self> {
        if !has_boxes() {
            return None;
        }
        let sources = reference_sources(path("scripts/refs.py")?.parent().unwrap());
        let long: Value = json(&path("long.json.gz")?);
        let mut set = Self {
            tasks: BTreeMap::new(),
            cards: BTreeMap::new(),
            sources: BTreeMap::new(),
        };
        for id in DocumentId::ALL {
            set.sources
                .insert(id, sources[id.label()].as_str().unwrap().to_owned());
            set.cards
                .insert(id, text(&path(&format!("specs/{id}.card.json"))?));
            let assets = document(id)?.assets;
            let file = text(&path(&format!("reference/{id}.jsonl.gz"))?);
            let scenarios = file.lines().map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                Scenario {
                    name: row["scenario"].as_str().unwrap().to_owned(),
                    market: market_of(&row["data"], &assets),
                }
            });
            let whole = Scenario {
                name: LONG_RUN.to_owned(),
                market: market_of(&long[id.label()]["data"], &assets),
            };
            let all = scenarios.chain([whole]).collect();
            set.tasks
                .insert(id, StrategyTask::with_scenarios(id, all).unwrap());
        }
        Some(set)
    }

    /// The reference's source with edits.
    fn edited(&self, id: DocumentId, edits: &Value) -> String {
        let edits = edits.as_array().unwrap().iter();
        edits.fold(self.sources[&id].clone(), |source, edit| {
            let (old, new) = (edit[0].as_str().unwrap(), edit[1].as_str().unwrap());
            assert!(source.contains(old), "{old}");
            source.replace(old, new)
        })
    }

    /// The reference's card with edits of members, named by their paths.
    fn edited_card(&self, id: DocumentId, edits: &Value) -> String {
        let mut card: Value = serde_json::from_str(&self.cards[&id]).unwrap();
        for edit in edits.as_array().unwrap() {
            let (parent, last) = edit[0].as_str().unwrap().rsplit_once('.').unwrap();
            let pointer = format!("/{}", parent.replace('.', "/"));
            let members = card.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
            if edit[1].is_null() {
                members.remove(last).unwrap();
            } else {
                members.insert(last.to_owned(), edit[1].clone());
            }
        }
        card.to_string()
    }

    fn traces(&self, launcher: &BoxLauncher, id: DocumentId, source: &str) -> StrategyTraces {
        let task = &self.tasks[&id];
        let parameters = task.document.default_parameters();
        trace_program(launcher, task, "Strategy", &parameters, source).unwrap()
    }

    fn reference_traces(&self, id: DocumentId) -> StrategyTraces {
        let task = &self.tasks[&id];
        task.reference_traces(None, &task.document.default_parameters())
            .unwrap()
    }
}

pub(super) fn strategy(row: &Value) -> DocumentId {
    DocumentId::parse(row["strategy"].as_str().unwrap()).unwrap()
}

/// Rows of which a test takes part: all, or those of these names.
fn chosen(rows: Vec<Value>, name: &str, names: &[&str]) -> Vec<Value> {
    let is_chosen = |row: &Value| is_whole() || names.contains(&row[name].as_str().unwrap());
    rows.into_iter().filter(is_chosen).collect()
}

fn assert_gates(what: &str, report: &SubmissionReport, expected: &Value) {
    let own: Vec<(&str, bool)> = Gate::ALL
        .into_iter()
        .map(|gate| (gate.label(), report.gates.is_passed(gate)))
        .collect();
    let wanted: Vec<(&str, bool)> = Gate::ALL
        .into_iter()
        .map(|gate| (gate.label(), expected[gate.label()].as_bool().unwrap()))
        .collect();
    assert_eq!(own, wanted, "{what}: {:?}", report.gates);
}

fn assert_distances(what: &str, own: &TraceDistances, expected: &Value) {
    let expected = expected.as_object().unwrap();
    assert_eq!(own.len(), expected.len(), "{what}");
    for (scenario, distance) in expected {
        let distance = distance.as_f64().unwrap();
        assert!(
            (own[scenario] - distance).abs() <= 1e-12,
            "{what}: {scenario}: {}",
            own[scenario]
        );
    }
}

/// One submission of a strategy for each gate that stops it, cheap ones besides.
const GATE_CASES: [&str; 11] = [
    "card_not_json",
    "card_missing_core",
    "card_frozen_changed",
    "no_class",
    "key_error",
    "returns_one_log",
    "random_used",
    "hash_order",
    "shift_minus_one",
    "no_constraint_check",
    "socket",
];

#[test]
fn submissions_pass_and_fail_the_gates_that_they_must() {
    let (Some(rows), Some(set)) = (rows("gates.jsonl"), Set::read()) else {
        return;
    };
    let launcher = launcher(BoxLimits::STRATEGIES);
    let rows: Vec<Value> = chosen(rows, "name", &GATE_CASES)
        .into_iter()
        .filter(|row| row["name"] != "endless")
        .collect();
    let reports = launcher.each(&rows, |launcher, row| {
        let id = strategy(row);
        let submission = StrategySubmission {
            card: row["card"]
                .as_str()
                .map_or_else(|| set.cards[&id].clone(), str::to_owned),
            source: set.edited(id, &row["edits"]),
        };
        judge_submission(launcher, (&set.tasks[&id], &secret()), &submission).unwrap()
    });
    for (row, report) in rows.iter().zip(&reports) {
        let what = format!("{} {}", row["strategy"], row["name"]);
        assert_gates(&what, report, &row["gates"]);
        if row["name"] == "reference" {
            // Cells that a document leaves empty while nothing is held count as empty.
            let completeness = report.run.as_ref().unwrap().completeness;
            let expected = [1.0, 1.0, 0.75 + 0.25 * completeness];
            let scores = report
                .measured(false)
                .map(Option::unwrap)
                .into_iter()
                .zip(expected);
            assert!(
                scores.map(|(own, expected)| (own - expected).abs()).sum::<f64>() < 1e-12,
                "{what}"
            );
            assert!(0.98 < completeness, "{what}");
            assert!(
                report.distances.values().all(|distance| *distance == 0.0),
                "{what}"
            );
        }
        println!("{what}: {:?}", report.gates.first_failed());
    }
}

/// The box ends what the set could not run.
#[test]
fn an_endless_program_is_ended_by_its_limits() {
    let (Some(rows), Some(set)) = (rows("gates.jsonl"), Set::read()) else {
        return;
    };
    let limits = BoxLimits {
        cpu_s: 2,
        ..BoxLimits::STRATEGIES
    };
    let launcher = launcher(limits);
    let row = rows.into_iter().find(|row| row["name"] == "endless").unwrap();
    let id = strategy(&row);
    let submission = StrategySubmission {
        card: set.cards[&id].clone(),
        source: set.edited(id, &row["edits"]),
    };
    let report = judge_submission(&launcher, (&set.tasks[&id], &secret()), &submission).unwrap();
    assert_gates("endless", &report, &row["gates"]);
    assert_eq!(report.gates.reason(Gate::Exec), Some("cpu"));
}

/// Both verdicts, a card's edit, a repair, a drift that the published thresholds miss, and a harmless patch.
const DRIFT_CASES: [&str; 6] = [
    "window_in_code",
    "constraint_dropped",
    "wider_stop",
    "same_card_other_text",
    "warm_up_fix",
    "extra_column",
];

#[test]
fn versions_drift_where_they_must_and_nowhere_else() {
    let (Some(rows), Some(set)) = (rows("drift.jsonl"), Set::read()) else {
        return;
    };
    let launcher = launcher(BoxLimits::STRATEGIES);
    let rows = chosen(rows, "name", &DRIFT_CASES);
    let drifts = launcher.each(&rows, |launcher, row| {
        let id = strategy(row);
        let (source, card) = (set.sources[&id].clone(), set.cards[&id].clone());
        let edits = &row["edits"];
        let (base, new, new_card) = match row["kind"].as_str().unwrap() {
            "code" => (source.clone(), set.edited(id, edits), card.clone()),
            "pair" => (set.edited(id, edits), source.clone(), card.clone()),
            "card" => (source.clone(), source.clone(), set.edited_card(id, edits)),
            "card_text" => (
                source.clone(),
                source.clone(),
                row["card"].as_str().unwrap().to_owned(),
            ),
            other => panic!("an unknown kind {other:?}"),
        };
        let cards = [card, new_card].map(|text| StrategyCard::parse(&text).unwrap());
        let traces = [&base, &new].map(|source| set.traces(launcher, id, source));
        let version = |card, source, traces| StrategyVersion {
            card: Some(card),
            source,
            traces,
        };
        VersionDrift::between(
            version(&cards[0], &base, &traces[0]),
            version(&cards[1], &new, &traces[1]),
            &set.reference_traces(id),
        )
    });
    for (row, drift) in rows.iter().zip(&drifts) {
        assert_drift(row, drift);
    }
}

fn assert_drift(row: &Value, drift: &VersionDrift) {
    let what = row["name"].as_str().unwrap();
    assert_eq!(drift.changed_fields, words(&row["layer1"]), "{what}");
    assert_distances(what, &drift.distances, &row["delta"]);
    assert_eq!(
        drift.diverging() as u64,
        row["diverging"].as_u64().unwrap(),
        "{what}"
    );
    let published = match (drift.changed_fields.is_empty(), drift.published()) {
        (false, _) => "drift",
        (true, _) if drift.diverging() == 0 => "same",
        (true, PublishedDrift::Allowed) => "allowed",
        (true, PublishedDrift::Warning) => "warn",
        (true, PublishedDrift::Suspicious) => "suspicious",
    };
    assert_eq!(published, row["verdict"], "{what}");
    let anchored = if drift.changed_fields.is_empty() {
        drift.anchored().label()
    } else {
        "drift"
    };
    assert_eq!(anchored, row["anchored"], "{what}");
    let is_fine = ["same", "towards"].contains(&row["anchored"].as_str().unwrap());
    assert_eq!(drift.is_drift(), !is_fine, "{what}");
    let patch = &row["patch"];
    let own = [drift.patch.removed, drift.patch.added, drift.patch.changed()].map(|count| count as u64);
    assert_eq!(
        own,
        ["removed", "added", "changed"].map(|name| patch[name].as_u64().unwrap()),
        "{what}"
    );
}

#[test]
fn replies_of_two_models_get_their_verdicts() {
    let (Some(rows), Some(set)) = (rows("replies.jsonl"), Set::read()) else {
        return;
    };
    let launcher = launcher(BoxLimits::STRATEGIES);
    let is_chosen = |row: &Value| is_whole() || (row["model"] == "mender" && row["strategy"] == "S02");
    let rows: Vec<Value> = rows.into_iter().filter(is_chosen).collect();
    let judged = launcher.each(&rows, |launcher, row| {
        let submission = StrategySubmission::of_reply(row["reply"].as_str().unwrap(), None).unwrap();
        let report =
            judge_submission(launcher, (&set.tasks[&strategy(row)], &secret()), &submission).unwrap();
        (submission, report)
    });
    let mut before: Option<(&Value, &(StrategySubmission, SubmissionReport))> = None;
    for (row, own) in rows.iter().zip(&judged) {
        let what = format!("{} {} {}", row["model"], row["strategy"], row["iteration"]);
        let (submission, report) = own;
        assert_gates(&what, report, &row["gates"]);
        assert_eq!(report.gates.is_valid(), row["valid"], "{what}");
        assert_distances(&what, &report.distances, &row["delta"]);
        let Some(anchored) = row["anchored"].as_str() else {
            before = Some((row, own));
            continue;
        };
        let (row_before, (earlier, earlier_report)) = before.unwrap();
        assert_eq!(row_before["strategy"], row["strategy"]);
        let verdict = DriftVerdict::between(&earlier_report.distances, &report.distances);
        assert_eq!(verdict.label(), anchored, "{what}");
        let size = ktd_strategy_code::PatchSize::between(&earlier.source, &submission.source);
        assert_eq!(
            size.changed() as u64,
            row["patch"]["changed"].as_u64().unwrap(),
            "{what}"
        );
        before = Some((row, own));
    }
}

#[test]
fn sources_show_the_same_facts_in_the_box() {
    let Some(scores) = super::scores().filter(|_| has_boxes()) else {
        return;
    };
    let launcher = launcher(BoxLimits::STRATEGIES);
    for (name, case) in scores["odd"].as_object().unwrap() {
        let source = case["source"].as_str().unwrap();
        let mut own = match SourceText::read(source.as_bytes(), 256) {
            Ok(text) => {
                let outcome = launcher
                    .open(text, 0)
                    .unwrap()
                    .run(&BoxJob::facts("facts"))
                    .unwrap();
                let nodes = match outcome.result {
                    Some(JobResult::Facts(nodes)) => nodes,
                    _ => Vec::new(),
                };
                source_facts(source, &nodes)
            }
            Err(_) => source_facts(source, &[]),
        };
        let mut expected = super::facts_of(&case["result"]["facts"]);
        own.classes.sort_unstable();
        expected.classes.sort_unstable();
        assert_eq!(own, expected, "{name}");
    }
}

#[test]
fn the_box_writes_the_logs_of_the_reference_to_the_last_cell() {
    let (Some(set), Some(long)) = (Set::read(), path("long.json.gz")) else {
        return;
    };
    let launcher = launcher(BoxLimits::STRATEGIES);
    let long: Value = json(&long);
    let ids: Vec<DocumentId> = DocumentId::ALL
        .into_iter()
        .filter(|id| is_whole() || [DocumentId::S07, DocumentId::S08].contains(id))
        .collect();
    let traces = launcher.each(&ids, |launcher, id| set.traces(launcher, *id, &set.sources[id]));
    for (id, traces) in ids.iter().zip(&traces) {
        assert_eq!(*traces, set.reference_traces(*id), "{id}");
        let hash = ktd_strategy_code::tokens_hash(&traces[LONG_RUN]);
        assert_eq!(hash, long[id.label()]["tokens_hash"].as_str().unwrap(), "{id}");
    }
}
