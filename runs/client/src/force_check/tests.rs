//! Endpoints of many habits, and what a run makes of what was found about them.

use super::*;
use crate::ClientError;
use crate::money::{Metering, PaymentTerms};
use futures::future::BoxFuture;
use ktd_agents::{ForceLevel, Transport, TransportError, WireReply, WireRequest};
use ktd_env::synth::{SynthConfig, generate};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::{Cell, cells};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::price_table::{PriceTable, TokenPricing};
use ktd_io::whole_file::{create_directory, write_whole};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

const CALL: &str = r#"{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"submit_action","arguments":"{\"choice\":7,\"reason\":\"larger\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":50,"completion_tokens":9,"cost":0.000001}}"#;
const PROSE: &str = r#"{"choices":[{"message":{"role":"assistant","content":"7"},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":1}}"#;
const OBJECT: &str =
    r#"{"choices":[{"message":{"role":"assistant","content":"{\"choice\":7}"},"finish_reason":"stop"}]}"#;
const CUT: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Let me"},"finish_reason":"length"}],"usage":{"prompt_tokens":50,"completion_tokens":64}}"#;
const LEAK: &str = r#"{"choices":[{"message":{"role":"assistant","content":"<tool_call>submit_action"},"finish_reason":"stop"}]}"#;
const NO_CHOICE: &str = r#"{"error":{"message":"Tool choice must be auto","type":"invalid_request_error"}}"#;
const NO_FORM: &str = r#"{"error":{"message":"something is not right","type":"invalid_request_error"}}"#;

type Script = Result<(u16, &'static str), TransportError>;

/// An endpoint that answers from a script and keeps what it was sent.
struct Scripted {
    replies: Mutex<VecDeque<Script>>,
    sent: Mutex<Vec<Value>>,
}

impl Scripted {
    fn new(replies: impl IntoIterator<Item = Script>) -> Self {
        Self {
            replies: Mutex::new(replies.into_iter().collect()),
            sent: Mutex::default(),
        }
    }
}

impl Transport for Scripted {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        let body = serde_json::from_slice(request.body()).unwrap();
        self.sent.lock().unwrap().push(body);
        let next = self.replies.lock().unwrap().pop_front();
        let next = next.unwrap_or(Err(TransportError::Timeout));
        Box::pin(std::future::ready(next.map(|(status, body)| {
            WireReply::new(status, body.as_bytes().to_vec())
        })))
    }
}

fn cell(agent: &str) -> Cell {
    let text = format!(
        "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{{ id = \"a\", model = \"m\", {agent} }}]\n"
    );
    let market = generate(&SynthConfig {
        seed: 1,
        names: 5,
        days: 20,
    })
    .unwrap();
    cells(&ExperimentConfig::parse(&text).unwrap(), &market, None)
        .unwrap()
        .remove(0)
}

const OWN_SERVER: &str = "vendor = \"vllm\", base_url = \"http://127.0.0.1:9/v1\"";

fn probe_at(cell: &Cell, endpoint: &Scripted, at_unix_seconds: u64) -> ProbeRecord {
    let probed = Probed {
        agent: &cell.agent,
        provider: &cell.provider,
        at_unix_seconds,
    };
    let folder = tempfile::tempdir().unwrap();
    let measurement = Measurement::begin(folder.path(), probed, &TokenPricing::Unknown).unwrap();
    let metering = Metering::default();
    futures::executor::block_on(measure(probed, endpoint, &measurement, &metering)).unwrap()
}

fn probe(agent: &str, replies: impl IntoIterator<Item = Script>) -> (ProbeRecord, Vec<Value>) {
    let endpoint = Scripted::new(replies);
    let record = probe_at(&cell(agent), &endpoint, 1);
    (record, endpoint.sent.into_inner().unwrap())
}

fn results(record: &ProbeRecord) -> Vec<CallResult> {
    record.calls.iter().map(|call| call.result).collect()
}

#[test]
fn the_first_level_that_works_ends_the_probe() {
    let (record, sent) = probe(OWN_SERVER, [Ok((200, CALL))]);
    assert_eq!((record.level, sent.len()), (Some(ForceLevel::Named), 1));
    assert_eq!(
        sent[0]["tool_choice"],
        json!({ "type": "function", "function": { "name": "submit_action" } })
    );
    assert_eq!(sent[0]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(sent[0]["max_tokens"], TINY_OUTPUT_TOKENS);
    let call = &record.calls[0];
    assert_eq!(
        (call.outcome.as_str(), call.usage.unwrap().output()),
        ("valid", 9)
    );
}

#[test]
fn each_refusal_and_each_answer_without_a_call_goes_one_rung_down() {
    let (record, sent) = probe(
        OWN_SERVER,
        [Ok((400, NO_CHOICE)), Ok((200, PROSE)), Ok((200, CALL))],
    );
    assert_eq!(record.level, Some(ForceLevel::Auto));
    assert_eq!(
        results(&record),
        [CallResult::Refused, CallResult::NotCalled, CallResult::Called]
    );
    assert_eq!(sent[1]["tool_choice"], "required");
    // What is not forced must be asked for, and what is forced must not be.
    let asked = |place: usize| sent[place]["messages"].to_string();
    assert!(!asked(0).contains("submit_action") && asked(2).contains("submit_action"));
    let (record, _) = probe(OWN_SERVER, [Ok((400, NO_FORM)), Ok((200, CALL))]);
    assert_eq!(record.level, Some(ForceLevel::Required));
}

#[test]
fn a_call_that_the_server_lost_is_no_call() {
    let (record, _) = probe(OWN_SERVER, [Ok((200, LEAK)), Ok((200, CALL))]);
    assert_eq!(results(&record)[0], CallResult::NotCalled);
    assert_eq!(record.calls[0].kinds, ["server_parser_leak"]);
}

#[test]
fn three_calls_are_all_and_objects_count_below_calls() {
    let prose = || Ok((200, PROSE));
    let (record, sent) = probe(OWN_SERVER, [prose(), prose(), prose(), Ok((200, OBJECT))]);
    assert_eq!((record.level, sent.len()), (None, CALLS_MAX));
    assert!(record.is_conclusive());
    let weak = format!("{OWN_SERVER}, force = \"F2\"");
    let (record, sent) = probe(&weak, [prose(), Ok((200, OBJECT))]);
    assert_eq!(record.level, Some(ForceLevel::Json));
    assert!(sent[1].get("tools").is_none() && sent[1].get("response_format").is_some());
}

#[test]
fn trouble_says_nothing_about_a_level() {
    for trouble in [
        Err(TransportError::Timeout),
        Ok((429, "{}")),
        Ok((503, "")),
        Ok((200, "<html>")),
        Ok((401, "{}")),
        Ok((404, "{}")),
    ] {
        let (record, sent) = probe(OWN_SERVER, [trouble.clone(), Ok((200, CALL))]);
        assert_eq!((record.level, sent.len()), (None, 1), "{trouble:?}");
        assert_eq!(results(&record), [CallResult::Unknown], "{trouble:?}");
        assert!(!record.is_conclusive());
    }
}

#[test]
fn an_answer_that_was_cut_is_asked_for_once_more() {
    let (record, sent) = probe(OWN_SERVER, [Ok((200, CUT)), Ok((200, CALL))]);
    assert_eq!((record.level, sent.len()), (Some(ForceLevel::Named), 2));
    assert_eq!(sent[0]["tool_choice"], sent[1]["tool_choice"]);
    assert_eq!(
        [false, true],
        [0, 1].map(|place| record.calls[place].is_asked_for)
    );
    let (record, sent) = probe(OWN_SERVER, [Ok((200, CUT)), Ok((200, CUT)), Ok((200, CALL))]);
    assert_eq!((record.level, sent.len()), (None, 2));
    assert!(!record.is_conclusive());
}

#[test]
fn a_thinking_model_gets_room_for_its_thoughts() {
    let (_, sent) = probe("vendor = \"deepseek\"", [Ok((200, CALL))]);
    assert_eq!(sent[0]["max_tokens"], TINY_THINKING_TOKENS);
    let (record, sent) = probe(
        "vendor = \"deepseek\", thinking = \"think-then-force\"",
        [Ok((200, CALL))],
    );
    assert_eq!(sent[0]["max_tokens"], TINY_OUTPUT_TOKENS);
    assert_eq!(sent[0]["thinking"], json!({ "type": "disabled" }));
    assert_eq!(record.declared, ForceLevel::Named);
}

fn kept(cell: &Cell, results: &Path, at: u64, replies: impl IntoIterator<Item = Script>) {
    let record = probe_at(cell, &Scripted::new(replies), at);
    let path = record.keep(results).unwrap();
    if let Some(path) = path {
        assert_eq!(ProbeRecord::read(&path).unwrap(), record);
    }
}

#[test]
fn a_run_does_not_start_above_what_was_probed() {
    let folder = tempfile::tempdir().unwrap();
    let strong = cell(OWN_SERVER);
    assert!(
        notes(folder.path(), std::slice::from_ref(&strong))
            .unwrap()
            .is_empty()
    );
    kept(&strong, folder.path(), 1, [Ok((200, PROSE)), Ok((200, CALL))]);
    let error = notes(folder.path(), std::slice::from_ref(&strong)).unwrap_err();
    assert!(
        error.to_string().contains("declares force level F0") && error.to_string().contains("F1 at most"),
        "{error}"
    );
    assert!(error.hint().contains("force = \"F1\""));
    // What was found holds for weaker levels of the same endpoint, and for no other model, endpoint or thinking.
    for other in [
        format!("{OWN_SERVER}, force = \"F1\""),
        format!("{OWN_SERVER}, force = \"F3\""),
        OWN_SERVER.replace(":9", ":8"),
        OWN_SERVER.replace("vllm", "sglang"),
    ] {
        assert!(notes(folder.path(), &[cell(&other)]).is_ok(), "{other}");
    }
    // A fault does not take away what was found; a new probe does.
    kept(&strong, folder.path(), 2, [Err(TransportError::Timeout)]);
    assert!(notes(folder.path(), std::slice::from_ref(&strong)).is_err());
    kept(&strong, folder.path(), 3, [Ok((200, CALL))]);
    assert!(notes(folder.path(), &[strong]).unwrap().is_empty());
}

#[test]
fn what_nobody_confirmed_is_told_until_it_is_probed() {
    let folder = tempfile::tempdir().unwrap();
    let unsure = cell("vendor = \"doubao\"");
    let told = notes(folder.path(), &[unsure.clone(), unsure.clone()]).unwrap();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("--probe a"), "{told:?}");
    kept(&unsure, folder.path(), 1, [Ok((503, ""))]);
    assert_eq!(notes(folder.path(), std::slice::from_ref(&unsure)).unwrap(), told);
    kept(&unsure, folder.path(), 2, [Ok((200, CALL))]);
    assert!(
        notes(folder.path(), std::slice::from_ref(&unsure))
            .unwrap()
            .is_empty()
    );
    kept(
        &unsure,
        folder.path(),
        3,
        [Ok((200, PROSE)), Ok((200, PROSE)), Ok((200, PROSE))],
    );
    assert!(notes(folder.path(), &[unsure]).is_err());
}

#[test]
fn a_damaged_probe_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = probe_path(folder.path(), "a");
    create_directory(path.parent().unwrap()).unwrap();
    write_whole(&path, b"{").unwrap();
    let error = notes(folder.path(), &[cell(OWN_SERVER)]).unwrap_err();
    assert!(error.hint().contains("probe again"), "{error}");
}

#[test]
fn a_cap_stops_a_measurement_before_the_call_and_counts_those_before() {
    const PRICES: &str = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1,"output":10}]}"#;
    let cell = cell(OWN_SERVER);
    let probed = Probed {
        agent: &cell.agent,
        provider: &cell.provider,
        at_unix_seconds: 1,
    };
    let folder = tempfile::tempdir().unwrap();
    let terms = |dollars: &str| PaymentTerms {
        prices: Some(PriceTable::parse(PRICES).unwrap()),
        budget: Caps {
            experiment: Some(Picodollars::parse(dollars).unwrap()),
            ..Caps::default()
        },
        ..PaymentTerms::default()
    };
    let measure = |dollars: &str| {
        let endpoint = Scripted::new([Ok((400, NO_CHOICE)), Ok((200, CALL))]);
        let terms = terms(dollars);
        let metering = terms
            .metering(std::iter::empty(), folder.path(), |budget| {
                crate::spent::count_spent(folder.path(), (&terms, budget), &|_| None)
            })
            .unwrap();
        let basis = terms.basis(&cell.agent, &cell.provider);
        let measurement = Measurement::begin(folder.path(), probed, &basis).unwrap();
        let found = super::measure(probed, &endpoint, &measurement, &metering);
        let found = futures::executor::block_on(found);
        (found, endpoint.sent.into_inner().unwrap().len())
    };
    let (stopped, sent) = measure("0.000001");
    let Err(ClientError::Budget { reached, .. }) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!((sent, reached.spent), (0, Picodollars::ZERO));
    // The call that was made costs 50 tokens of 1 and 9 of 10 millionths; the refused one nothing.
    assert_eq!(measure("1").0.unwrap().level, Some(ForceLevel::Required));
    let (stopped, sent) = measure("0.000140");
    let Err(ClientError::Budget { reached, .. }) = stopped else {
        panic!("{stopped:?}");
    };
    assert_eq!((sent, reached.spent), (0, Picodollars::parse("0.00014").unwrap()));
}
