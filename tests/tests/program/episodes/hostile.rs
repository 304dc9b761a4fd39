//! Whole episodes through a proxy that cuts, delays, duplicates and garbles: what is the network's stays the network's.

use super::proxy::{Deed, FAULTS, Proxied, ZERO_OUTPUT};
use ktd_agents::{Transport, TransportError, WireReply, WireRequest};
use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::summary::{Counters, Summary};
use ktd_client::progress::Silent;
use ktd_episode::verify::verify;
use ktd_episode::{EpisodeInput, replay_episode, run_episode};
use ktd_kit::Vendor;
use ktd_kit::episode::{Trace, experiment, files, key, market, prepare, runtime, shared};
use ktd_kit::this_program;
use ktd_record::chain::LogReader;
use std::collections::BTreeMap;
use std::path::Path;

const STEPS: usize = 20;
const ATTEMPTS: u32 = 4;

/// What an episode through the proxy came to.
struct Passed {
    summary: Summary,
    /// What the model was asked, in order.
    heard: Vec<Vec<u8>>,
    /// Deeds of the schedule that never came.
    to_come: usize,
}

/// An endpoint in a replay: there is none.
struct Nobody;

impl Transport for Nobody {
    fn send<'a>(
        &'a self,
        _: &'a WireRequest,
    ) -> futures::future::BoxFuture<'a, Result<WireReply, TransportError>> {
        panic!("a replay asked the network")
    }
}

/// A blinded episode through a proxy, and again from its record alone.
fn run(model: &str, mode: &str, schedule: &[Deed], folder: &Path) -> Passed {
    let config = experiment(
        STEPS,
        &format!(
            r#"
            synthetic = {{ seed = 5, names = 40, days = 420 }}
            masks = [{{ level = "blinded", numeric = "rescaled" }}]
            modes = ["{mode}"]
            agents = [{{ id = "a", model = "m", base_url = "http://127.0.0.1:9/v1" }}]
            retries = {{ attempts = {ATTEMPTS}, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }}
            "#
        ),
    );
    let prepared = prepare(&config, market(5), key(6));
    let shared = shared(&prepared);
    let input = EpisodeInput {
        shared: &shared,
        cell: &prepared.cells[0],
        key: key(6),
    };
    let paths = BundlePaths::new(&folder.join("live"));
    runtime().block_on(async {
        let server = Vendor::of_model(named(model, 1).unwrap());
        let proxied = Proxied::start(server.address, schedule);
        let summary = run_episode(&input, &paths, &proxied, &Silent).await.unwrap();
        replay_episode(&input, &paths, &Silent).await.unwrap();
        let verified = verify(&folder.join("live"), None, &this_program()).await;
        assert!(verified.is_ok(), "{verified:?}");
        again(&input, folder).await;
        Passed {
            summary,
            heard: server
                .requests()
                .into_iter()
                .map(|request| request.body)
                .collect(),
            to_come: proxied.to_come(),
        }
    })
}

/// The exchanges alone give every other file again, byte for byte, with nobody to ask.
async fn again(input: &EpisodeInput<'_>, folder: &Path) {
    let (live, offline) = (folder.join("live"), folder.join("offline"));
    std::fs::create_dir_all(&offline).unwrap();
    std::fs::copy(
        live.join("exchanges.jsonl.zst"),
        offline.join("exchanges.jsonl.zst"),
    )
    .unwrap();
    run_episode(input, &BundlePaths::new(&offline), &Nobody, &Silent)
        .await
        .unwrap();
    for (file, bytes) in files(&live) {
        assert!(
            bytes == std::fs::read(offline.join(file)).unwrap(),
            "{file} differs"
        );
    }
}

fn events(folder: &Path) -> Vec<ReadEvent> {
    let path = BundlePaths::new(&folder.join("live")).events();
    LogReader::open(&path).unwrap().bodies().unwrap()
}

/// The codes of the faults in the record, in order.
fn fault_codes(events: &[ReadEvent]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| match event {
            ReadEvent::InfrastructureFault { code, .. } => Some(code.as_str()),
            _ => None,
        })
        .collect()
}

fn counted<'a>(codes: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for code in codes {
        *counts.entry(code.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// Every fault once alone, then in pairs, then three of them in a row: one attempt less than there are.
fn schedule() -> Vec<Deed> {
    let alone = FAULTS.iter().flat_map(|fault| [Deed::Good, *fault]);
    let pairs = FAULTS.chunks(2).flat_map(|two| [&[Deed::Trickle], two].concat());
    let threes = [Deed::AskTwice, Deed::Silence, Deed::Cut, Deed::Double];
    alone.chain(pairs).chain(threes).collect()
}

#[test]
fn every_fault_is_in_its_own_counter_and_the_model_never_learns_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (calm_out, rough_out) = (folder.path().join("calm"), folder.path().join("rough"));
    let calm = run("momentum", "open-research", &[], &calm_out);
    let schedule = schedule();
    let rough = run("momentum", "open-research", &schedule, &rough_out);
    assert_eq!(rough.to_come, 0, "the episode ended before the schedule");

    let (calm_events, rough_events) = (events(&calm_out), events(&rough_out));
    let expected: Vec<&str> = schedule.iter().filter_map(|deed| deed.code()).collect();
    assert_eq!(
        fault_codes(&rough_events),
        expected,
        "in the order of the schedule"
    );
    let counters = &rough.summary.counters;
    assert_eq!(counters.infrastructure_faults, counted(expected));
    assert_eq!(
        (
            counters.uncovered,
            counters.submitted + counters.hold + counters.fallback
        ),
        (0, STEPS),
        "full coverage"
    );
    let without_faults = Counters {
        infrastructure_faults: BTreeMap::new(),
        ..counters.clone()
    };
    assert_eq!(without_faults, calm.summary.counters, "what the model did");
    assert_eq!(
        rough.summary.metrics, calm.summary.metrics,
        "what the account did"
    );
    let is_fault = |event: &ReadEvent| matches!(event, ReadEvent::InfrastructureFault { .. });
    let others: Vec<ReadEvent> = rough_events
        .into_iter()
        .filter(|event| !is_fault(event))
        .collect();
    assert!(
        others == calm_events,
        "turns, decisions, fills and marks are those of a calm day"
    );

    let mut heard = rough.heard;
    heard.dedup();
    assert!(heard == calm.heard, "the model was asked something else");
    assert!(
        Trace::of(&calm_out.join("live")).events.len() > 3 * STEPS && calm.summary.counters.submitted > 0,
        "an episode that does nothing shows nothing"
    );
}

#[test]
fn a_model_that_keeps_saying_nothing_has_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let schedule = [ZERO_OUTPUT, ZERO_OUTPUT, ZERO_OUTPUT];
    let passed = run("hold", "fixed-candidate", &schedule, folder.path());
    let counters = &passed.summary.counters;
    assert_eq!(
        counters.infrastructure_faults,
        BTreeMap::from([("zero_output".to_owned(), 2)]),
        "the third is the model's, and in one counter only"
    );
    assert_eq!(
        counters.model_faults,
        BTreeMap::from([("no_answer".to_owned(), 1)])
    );
    assert_eq!(
        (counters.uncovered, counters.hold, counters.fallback),
        (0, STEPS, 0)
    );
    assert_eq!(counters.turns, STEPS + 1, "the silent turn and its correction");
}
