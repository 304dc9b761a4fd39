//! Down the ladder, one call a rung, until a call comes back.

use super::measurement::{Measurement, Probed};
use super::record::{CallResult, ProbeRecord, ProbedCall, endpoint_sha256};
use super::talk::{SUBMIT_CHOICE, request, tool_names};
use crate::ClientError;
use crate::NothingHidden;
use crate::ask::RecordedClient;
use crate::money::Metering;
use ktd_agents::{
    Expected, FaultKind, ForceLevel, ModelFault, ModelTurn, ReplyFault, Transport, Verdict, object_in_text,
};
use ktd_experiment::config::RetryConfig;
use ktd_prompts::ForceCheckAnswer;
use ktd_record::exchanges::{Cassette, ExchangeOutcome, ExchangeStore, RequestPlace};
use std::sync::Arc;

/// Most calls of one probe.
pub const CALLS_MAX: usize = 3;

/// Measures over a transport; every call is paid for and recorded before it is used.
///
/// # Errors
/// [`ClientError::Budget`] when a cap has no room for the next call, [`ClientError`] when the record cannot be written, and
/// for defects of this program.
pub async fn measure(
    probed: Probed<'_>,
    transport: &dyn Transport,
    measurement: &Measurement,
    metering: &Metering,
) -> Result<ProbeRecord, ClientError> {
    let cassette = Arc::new(Cassette::default());
    let store = ExchangeStore::continue_after(&measurement.exchanges(), &cassette)?;
    let client = RecordedClient {
        cassette,
        store: Some(store.clone()),
        transport: Some(transport),
        first_live_step: 1,
        scan: &NothingHidden,
        retries: RetryConfig::default(),
        provider: probed.provider,
        model: probed.agent.model_name(),
        meter: metering.meter(measurement.payer()),
        observer: None,
    };
    let record = climb_down(probed, &client).await;
    store.finish()?;
    record
}

/// Asks at the declared level, and at the next weaker one where that did not work, with at most [`CALLS_MAX`] calls.
///
/// A rung that is enforced is asked without a word about the tool. Where such an answer is cut before a call might have
/// come, the same rung is asked once more in words that want the call: servers let a model talk before it must call.
/// Trouble of the infrastructure or of key, address and model name says nothing about a level and ends the probe.
///
/// # Errors
/// [`ClientError`] only for a defect of this program.
async fn climb_down(probed: Probed<'_>, client: &RecordedClient<'_>) -> Result<ProbeRecord, ClientError> {
    let Probed { agent, provider, .. } = probed;
    let mut calls: Vec<ProbedCall> = Vec::new();
    let mut rungs = ForceLevel::LADDER
        .into_iter()
        .filter(|level| provider.force <= *level)
        .map(|level| (level, first_words(level)));
    let mut rung = rungs.next();
    while let Some((level, answer)) = rung.filter(|_| calls.len() < CALLS_MAX) {
        let call = ask(probed, (level, answer), (client, calls.len())).await?;
        let was_cut = call.kinds == [ModelFault::Truncated.code()];
        rung = match call.result {
            CallResult::Called => None,
            CallResult::NotCalled | CallResult::Refused => rungs.next(),
            CallResult::Unknown => {
                (was_cut && answer == ForceCheckAnswer::Unstated).then_some((level, ForceCheckAnswer::Call))
            }
        };
        calls.push(call);
    }
    let called = calls.iter().find(|call| call.result == CallResult::Called);
    Ok(ProbeRecord {
        agent: agent.id.clone(),
        vendor: provider.dialect.id.clone(),
        model: agent.model_name().to_owned(),
        wire: provider.wire,
        base_url: provider.base_url.clone(),
        endpoint_sha256: endpoint_sha256(provider)?,
        thinking: provider.thinking,
        declared: provider.force,
        level: called.map(|call| call.level),
        probed_at_unix_seconds: probed.at_unix_seconds,
        calls,
    })
}

/// The first message at a level.
const fn first_words(level: ForceLevel) -> ForceCheckAnswer {
    match level {
        ForceLevel::Named | ForceLevel::Required => ForceCheckAnswer::Unstated,
        ForceLevel::Auto => ForceCheckAnswer::Call,
        ForceLevel::Json | ForceLevel::Text => ForceCheckAnswer::Object,
    }
}

async fn ask(
    Probed { agent, provider, .. }: Probed<'_>,
    (level, answer): (ForceLevel, ForceCheckAnswer),
    (client, calls): (&RecordedClient<'_>, usize),
) -> Result<ProbedCall, ClientError> {
    let request = request((agent, provider), level, answer)
        .ok_or_else(|| ClientError::input("the force check has nothing to ask", "report this defect"))?;
    let request = provider.wire.encode(&request, &provider.dialect);
    let at = RequestPlace {
        step: calls + 1,
        ordinal: 0,
        attempt: 0,
    };
    let reply = client.ask_once(at, &request).await?;
    let is_asked_for = answer != ForceCheckAnswer::Unstated;
    let (Some(decoded), Some(status)) = (reply.decoded, reply.status) else {
        return Ok(unsent((level, is_asked_for), &reply.outcome));
    };
    let expected = Expected {
        tools: tool_names(level),
        forced: Some(level),
        submission: Some(SUBMIT_CHOICE),
        self_hosted: provider.dialect.self_hosted,
    };
    let verdict = decoded.verdict(&expected);
    let (result, detail) = match decoded.turn() {
        Ok(turn) => (of_turn(turn, level, &verdict), line_of(turn)),
        Err(fault) => (of_fault(fault), fault.to_string()),
    };
    Ok(ProbedCall {
        level,
        is_asked_for,
        result,
        outcome: verdict.label().to_owned(),
        kinds: verdict.kinds().into_iter().map(str::to_owned).collect(),
        status: Some(status),
        detail,
        usage: decoded.turn().ok().map(ModelTurn::usage),
    })
}

/// A call that no reply came back for.
fn unsent((level, is_asked_for): (ForceLevel, bool), outcome: &ExchangeOutcome) -> ProbedCall {
    let (code, detail) = match outcome {
        ExchangeOutcome::Failed { code, detail, .. } => (code.clone(), detail.clone()),
        ExchangeOutcome::Reply { .. } | ExchangeOutcome::Refused { .. } => {
            ("transport".to_owned(), String::new())
        }
    };
    ProbedCall {
        level,
        is_asked_for,
        result: CallResult::Unknown,
        outcome: "infra_fault".to_owned(),
        kinds: vec![code],
        status: None,
        detail,
        usage: None,
    }
}

/// Whether the submission came is decided by the call alone, whatever its arguments are worth. An answer that was cut
/// before a call might have called.
fn of_turn(turn: &ModelTurn, level: ForceLevel, verdict: &Verdict) -> CallResult {
    let has_call = turn.tool_calls().iter().any(|call| call.name == SUBMIT_CHOICE);
    let has_object = || turn.text().is_some_and(|text| object_in_text(text).is_some());
    let has_submitted = if level.is_by_call() {
        has_call && !matches!(verdict, Verdict::InfraFault(_))
    } else {
        has_object()
    };
    if has_submitted {
        CallResult::Called
    } else if matches!(verdict, Verdict::ModelFault(ModelFault::Truncated)) {
        CallResult::Unknown
    } else {
        CallResult::NotCalled
    }
}

/// Endpoints say in many words that they take no such choice, so any request that was refused as bad is one rung too
/// high; a weaker rung that is taken shows that nothing else was wrong.
fn of_fault(fault: &ReplyFault) -> CallResult {
    if matches!(fault.kind(), FaultKind::ToolChoiceRefused | FaultKind::BadRequest) {
        CallResult::Refused
    } else {
        CallResult::Unknown
    }
}

const EXCERPT_CHARS_MAX: usize = 80;

/// A turn in a line.
fn line_of(turn: &ModelTurn) -> String {
    let calls = turn
        .tool_calls()
        .iter()
        .map(|call| format!("{}({})", call.name, call.arguments));
    let text = turn.text().map(|text| format!("{text:?}"));
    let said: Vec<String> = calls.chain(text).collect();
    let said = said.join(" ");
    said.chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(EXCERPT_CHARS_MAX)
        .collect()
}
