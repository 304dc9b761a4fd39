//! A model's mistakes, faults of the infrastructure and decisions to hold are three things.

use ktd_baselines::{ChatModel, named};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::{ReadEvent, StepOutcome};
use ktd_bundle::summary::Summary;
use ktd_client::ClientError;
use ktd_client::progress::Silent;
use ktd_episode::EpisodeError;
use ktd_episode::{EpisodeInput, replay_episode, run_episode};
use ktd_io::line_file::LineKind;
use ktd_kit::Recorded;
use ktd_kit::episode::{Trace, experiment, key, leaping, market, prepare, shared};
use ktd_kit::provider::{Attempt, Provider};
use ktd_record::chain::LogReader;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

const STEPS: usize = 4;
const ATTEMPTS: &str =
    "retries = { attempts = 6, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }\n";

const FAULTS: [Attempt; 6] = [
    Attempt::Status(
        429,
        r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
    ),
    Attempt::Status(500, r#"{"error":{"message":"oops"}}"#),
    Attempt::Timeout,
    Attempt::Status(200, r#"{"id":"x","choices":[{"index":0,"message":{"role":"assis"#),
    Attempt::Status(200, "<!doctype html><html><body>502 Bad Gateway</body></html>"),
    Attempt::Refused,
];

/// An episode of a provider in a directory.
fn run(rest: &str, provider: &Provider, output: &Path) -> Result<Summary, EpisodeError> {
    let agents = r#"agents = [{ id = "a", builtin = "momentum" }]"#;
    let config = experiment(
        STEPS,
        &format!("{agents}\nmasks = [{{ level = \"bright\" }}]\n{rest}"),
    );
    let prepared = prepare(&config, market(5), key(6));
    let shared = shared(&prepared);
    let input = EpisodeInput {
        shared: &shared,
        cell: &prepared.cells[0],
        key: key(6),
    };
    let paths = BundlePaths::new(output);
    let summary = leaping().block_on(run_episode(&input, &paths, provider, &Silent))?;
    // Whatever happened, the record alone gives it again.
    let replayed = leaping().block_on(replay_episode(&input, &paths, &Silent));
    assert!(replayed.is_ok(), "{replayed:?}");
    Ok(summary)
}

fn events(output: &Path) -> Vec<ReadEvent> {
    let path = BundlePaths::new(output).events();
    LogReader::open(&path).unwrap().bodies().unwrap()
}

fn outcomes(output: &Path) -> Vec<StepOutcome> {
    events(output)
        .iter()
        .filter_map(|event| match event {
            ReadEvent::Decision { outcome, .. } => Some(*outcome),
            _ => None,
        })
        .collect()
}

fn momentum() -> Arc<dyn ChatModel> {
    named("momentum", 1).unwrap()
}

fn hold() -> Arc<dyn ChatModel> {
    named("hold", 1).unwrap()
}

#[test]
fn a_step_whose_attempts_are_used_up_is_uncovered_and_no_hold() {
    let folder = tempfile::tempdir().unwrap();
    let rest = "retries = { attempts = 3, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }\n\
                modes = [\"fixed-candidate\"]";
    for (place, fault) in FAULTS.into_iter().enumerate() {
        let output = folder.path().join(place.to_string());
        let provider = Provider::new(hold(), &[fault; 3]);
        let summary = run(rest, &provider, &output).unwrap();
        let counters = &summary.counters;
        assert_eq!(
            counters.infrastructure_faults,
            BTreeMap::from([(fault.code().to_owned(), 3)])
        );
        assert_eq!(
            (counters.uncovered, counters.hold, counters.fallback),
            (1, STEPS - 1, 0),
            "{fault:?}"
        );
        assert!(counters.model_faults.is_empty(), "{fault:?}");
        assert_eq!(outcomes(&output)[0], StepOutcome::Uncovered);
        // All judged steps held; the uncovered one is in no rate.
        assert_eq!(summary.metrics.abstention.value, Some(1.0));
        assert_eq!(summary.metrics.parse_failure.value, Some(0.0));
        assert_eq!(provider.sent().len(), 3 + STEPS - 1, "{fault:?}");
    }
}

#[test]
fn an_episode_without_one_reply_has_no_rates() {
    let folder = tempfile::tempdir().unwrap();
    let rest = "retries = { attempts = 2, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }\n\
                modes = [\"memory-only\"]";
    let provider = Provider::new(momentum(), &[Attempt::Timeout; 2 * STEPS]);
    let summary = run(rest, &provider, folder.path()).unwrap();
    assert_eq!(summary.counters.uncovered, STEPS);
    assert_eq!((summary.counters.hold, summary.counters.turns), (0, 0));
    for rate in [&summary.metrics.abstention, &summary.metrics.parse_failure] {
        assert!(rate.value.is_none() && rate.reason.is_some(), "{rate:?}");
    }
}

#[test]
fn a_fault_in_the_middle_of_research_leaves_the_step_uncovered() {
    let folder = tempfile::tempdir().unwrap();
    let rest = "retries = { attempts = 2, unanswered_hours = 0, first_wait_ms = 0, longest_wait_ms = 1 }\n\
                modes = [\"open-research\"]";
    let script = [Attempt::Good, Attempt::Timeout, Attempt::Timeout];
    let provider = Provider::new(momentum(), &script);
    let summary = run(rest, &provider, folder.path()).unwrap();
    assert_eq!(summary.counters.uncovered, 1);
    assert_eq!(outcomes(folder.path())[0], StepOutcome::Uncovered);
    assert!(summary.counters.submitted > 0, "later steps go on");
}

#[test]
fn a_refused_key_stops_the_run_and_once_mended_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let rest = format!("{ATTEMPTS}modes = [\"fixed-candidate\"]");
    let (broken, whole) = (folder.path().join("broken"), folder.path().join("whole"));
    let body = r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#;
    let script = [Attempt::Good, Attempt::Status(401, body)];
    let refused = Provider::new(hold(), &script);
    let error = run(&rest, &refused, &broken).unwrap_err();
    assert!(
        matches!(
            error,
            EpisodeError::Client(ClientError::Configuration { step: 2, .. })
        ),
        "{error}"
    );
    let fixed = Provider::new(hold(), &[]);
    run(&rest, &fixed, &broken).unwrap();
    assert_eq!(
        fixed.sent().len(),
        STEPS - 1,
        "the recorded reply is not asked for again"
    );
    run(&rest, &Provider::new(hold(), &[]), &whole).unwrap();
    assert_eq!(
        Trace::of(&broken),
        Trace::of(&whole),
        "the refusal is in the record alone"
    );
}

#[test]
fn a_schema_breaker_makes_mistakes_and_meets_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["memory-only", "fixed-candidate", "open-research"] {
        let output = folder.path().join(mode);
        let provider = Provider::new(named("schema-breaker", 1).unwrap(), &[]);
        let summary = run(&format!("modes = [\"{mode}\"]"), &provider, &output).unwrap();
        let counters = &summary.counters;
        assert!(counters.infrastructure_faults.is_empty(), "{mode}: {counters:?}");
        assert_eq!(counters.uncovered, 0, "{mode}");
        assert!(!counters.model_faults.is_empty(), "{mode}: {counters:?}");
        assert_eq!(
            counters.submitted + counters.hold + counters.fallback,
            STEPS,
            "{mode}"
        );
    }
}

/// A model that submits given orders, one list after the other, then none.
struct Submits(Vec<serde_json::Value>);

impl ChatModel for Submits {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request: serde_json::Value = serde_json::from_slice(request).unwrap();
        let messages = request["messages"].as_array().unwrap();
        let turns = messages
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count();
        let orders = self.0.get(turns).cloned().unwrap_or_else(|| json!([]));
        let arguments = json!({ "orders": orders, "overall_reason": "as the script of the test says" });
        let call = json!({
            "id": format!("call_{turns}"), "type": "function",
            "function": { "name": "submit_action", "arguments": arguments.to_string() },
        });
        let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
        json!({
            "id": "scripted", "object": "chat.completion",
            "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": message }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
        })
        .to_string()
        .into_bytes()
    }
}

/// A sell of what is not held, and a buy of 200 shares that is good.
fn bad_and_good() -> (serde_json::Value, serde_json::Value) {
    let market = market(5);
    let day = market.day_at(market.calendar().len() - STEPS).unwrap();
    let trades = |name| {
        let as_of = day.before().unwrap();
        let is_member = market.is_member(name, market.date(as_of).unwrap());
        let bars = [day, as_of].map(|day| market.bar(name, day));
        is_member && bars.iter().all(|bar| bar.is_some_and(|bar| bar.trades_at_open()))
    };
    let mut codes = market
        .names()
        .filter(|(name, _)| trades(*name))
        .map(|(_, info)| info.ticker.reveal().to_owned());
    let order = |code: &str, side: &str| {
        json!({
            "stock_id": code, "side": side, "shares": 200, "confidence": 0.5,
            "reason": "as the script of the test says",
        })
    };
    (
        order(&codes.next().unwrap(), "SELL"),
        order(&codes.next().unwrap(), "BUY"),
    )
}

#[test]
fn a_broken_constraint_is_fed_back_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, good) = bad_and_good();
    let script = vec![json!([bad, good]), json!([good])];
    let provider = Provider::new(Arc::new(Submits(script)), &[]);
    let summary = run("modes = [\"memory-only\"]", &provider, folder.path()).unwrap();
    // Every step starts the script again: its first list is refused, its second taken.
    let counters = &summary.counters;
    assert_eq!(counters.turns, 2 * STEPS, "{counters:?}");
    assert_eq!(
        counters.model_faults,
        BTreeMap::from([("rejected".to_owned(), STEPS)])
    );
    assert_eq!((counters.submitted, counters.fallback), (STEPS, 0));
    let details: Vec<Option<String>> = events(folder.path())
        .into_iter()
        .filter_map(|event| match event {
            ReadEvent::ModelFault { detail, .. } => Some(detail),
            _ => None,
        })
        .collect();
    assert_eq!(details[0].as_deref(), Some("not_held"));
    let second = &Trace::of(folder.path()).requests[1].1;
    assert!(second.contains("not_held"), "the model is told why: {second}");
}

#[test]
fn after_all_retries_the_step_is_a_fallback_without_trade() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, good) = bad_and_good();
    let script = vec![json!([bad, good]); 9];
    let provider = Provider::new(Arc::new(Submits(script)), &[]);
    let rest = "session = { schema_retries = 2 }\nmodes = [\"memory-only\"]";
    let summary = run(rest, &provider, folder.path()).unwrap();
    let counters = &summary.counters;
    assert_eq!(
        (counters.turns, counters.fallback),
        (3 * STEPS, STEPS),
        "{counters:?}"
    );
    assert_eq!(counters.hold, 0);
    assert_eq!(summary.account.unwrap().orders_filled, 0);
    // The submission can be read and breaks a rule: that is no failure of form.
    assert_eq!(counters.rule_fallback, STEPS);
    assert_eq!(summary.metrics.parse_failure.value, Some(0.0));
    assert_eq!(summary.metrics.rule_breach.value, Some(1.0));
}

#[test]
fn what_cannot_be_read_after_all_retries_is_a_parse_failure() {
    let folder = tempfile::tempdir().unwrap();
    let unreadable = json!([{"stock_id": "SH600000", "side": "KEEP"}]);
    let provider = Provider::new(Arc::new(Submits(vec![unreadable; 9])), &[]);
    let rest = "session = { schema_retries = 2 }\nmodes = [\"memory-only\"]";
    let summary = run(rest, &provider, folder.path()).unwrap();
    let counters = &summary.counters;
    assert_eq!((counters.fallback, counters.rule_fallback), (STEPS, 0));
    assert_eq!(summary.metrics.parse_failure.value, Some(1.0));
    assert_eq!(summary.metrics.rule_breach.value, Some(0.0));
}

#[test]
fn rejected_alone_the_other_orders_stand() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, good) = bad_and_good();
    let provider = Provider::new(Arc::new(Submits(vec![json!([bad, good])])), &[]);
    let rest = "session = { constraint_failures = \"reject_alone\" }\nmodes = [\"memory-only\"]";
    let summary = run(rest, &provider, folder.path()).unwrap();
    let counters = &summary.counters;
    assert_eq!(
        (counters.turns, counters.submitted),
        (STEPS, STEPS),
        "{counters:?}"
    );
    assert!(counters.model_faults.is_empty(), "{counters:?}");
    let account = summary.account.unwrap();
    assert!(account.orders_filled >= 1, "the good order trades: {account:?}");
    assert!(account.orders_rejected >= STEPS, "{account:?}");
}

#[test]
fn no_credit_stops_the_cell_and_a_payment_continues_it_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let quota = Attempt::Status(
        429,
        r#"{"error":{"message":"no credit","code":"insufficient_quota"}}"#,
    );
    let provider = Provider::new(momentum(), &[Attempt::Good, Attempt::Good, quota]);
    let stopped = run(ATTEMPTS, &provider, folder.path()).unwrap_err();
    assert!(
        matches!(stopped, EpisodeError::Client(ClientError::QuotaExhausted { .. })),
        "{stopped}"
    );
    let asked = provider.sent().len();
    let summary = run(ATTEMPTS, &provider, folder.path()).unwrap();
    assert_eq!((summary.counters.uncovered, summary.counters.fallback), (0, 0));
    assert!(summary.counters.infrastructure_faults.is_empty());
    // Only the request that found no credit is asked a second time.
    let sent = provider.sent();
    assert_eq!(sent[asked - 1], sent[asked]);
}

#[test]
fn lost_state_is_a_defect_of_the_harness_and_never_the_models() {
    let folder = tempfile::tempdir().unwrap();
    let lost = Attempt::Status(
        400,
        r#"{"error":{"message":"reasoning_content is missing in an assistant message"}}"#,
    );
    let provider = Provider::new(momentum(), &[Attempt::Good, lost]);
    let stopped = run(ATTEMPTS, &provider, folder.path()).unwrap_err();
    assert!(
        matches!(stopped, EpisodeError::Client(ClientError::HarnessBug { .. })),
        "{stopped}"
    );
    assert!(
        !events(folder.path())
            .iter()
            .any(|event| matches!(event, ReadEvent::ModelFault { .. } | ReadEvent::Decision { .. }))
    );
}

/// More levels than most readers of JSON take.
static DEEP: LazyLock<String> =
    LazyLock::new(|| format!("{{\"choices\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000)));

#[test]
fn a_reply_that_is_nested_too_deeply_is_kept_as_text_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::new(hold(), &[Attempt::Status(200, &DEEP)]);
    let rest = format!("{ATTEMPTS}modes = [\"fixed-candidate\"]");
    let summary = run(&rest, &provider, folder.path()).unwrap();
    assert_eq!(
        summary.counters.infrastructure_faults,
        BTreeMap::from([("body_too_deep".to_owned(), 1)])
    );
    let path = BundlePaths::new(folder.path()).exchanges();
    // Every line is read by a reader that stops at 128 levels.
    let lines: Vec<Value> = LineKind::Exchanges.open(&path).unwrap().values().unwrap();
    assert_eq!(lines[1]["outcome"]["reply"]["body_text"], DEEP.as_str());
    let cassette = Recorded::read(&path).unwrap();
    let reply = cassette
        .sends()
        .next()
        .unwrap()
        .answer()
        .unwrap()
        .reply()
        .unwrap();
    assert_eq!(reply.body, DEEP.as_bytes());
}
