//! Down the ladder, one call a rung, until a call comes back.

use super::record::{CallResult, ProbeRecord, ProbedCall, endpoint_sha256};
use super::talk::{SUBMIT_CHOICE, request, tool_names};
use crate::ClientError;
use ktd_agents::{
    DecodedReply, Expected, FaultKind, ForceLevel, ModelFault, ModelTurn, ReplyFault, Transport,
    TransportError, Verdict, object_in_text,
};
use ktd_bundle::event::UsageRecord;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_prompts::ProbeAnswer;

/// Most calls of one probe.
pub const CALLS_MAX: usize = 3;

/// Whom a probe asks, and when.
#[derive(Debug, Clone, Copy)]
pub struct Probed<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// How its model is spoken to.
    pub provider: &'a Provider,
    /// Now, seconds since 1970.
    pub at_unix_seconds: u64,
}

/// Asks at the declared level, and at the next weaker one where that did not work, with at most [`CALLS_MAX`] calls.
///
/// A rung that is enforced is asked without a word about the tool. Where such an answer is cut before a call might have
/// come, the same rung is asked once more in words that want the call: servers let a model talk before it must call.
/// Trouble of the infrastructure or of key, address and model name says nothing about a level and ends the probe.
///
/// # Errors
/// [`ClientError`] only for a defect of this program.
pub async fn climb_down(probed: Probed<'_>, transport: &dyn Transport) -> Result<ProbeRecord, ClientError> {
    let Probed { agent, provider, .. } = probed;
    let mut calls: Vec<ProbedCall> = Vec::new();
    let mut rungs = ForceLevel::LADDER
        .into_iter()
        .filter(|level| provider.force <= *level)
        .map(|level| (level, first_words(level)));
    let mut rung = rungs.next();
    while let Some((level, answer)) = rung.filter(|_| calls.len() < CALLS_MAX) {
        let call = ask(probed, (level, answer), transport).await?;
        let was_cut = call.kinds == [ModelFault::Truncated.code()];
        rung = match call.result {
            CallResult::Called => None,
            CallResult::NotCalled | CallResult::Refused => rungs.next(),
            CallResult::Unknown => {
                (was_cut && answer == ProbeAnswer::Unsaid).then_some((level, ProbeAnswer::Call))
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

/// What is said first at a level.
const fn first_words(level: ForceLevel) -> ProbeAnswer {
    match level {
        ForceLevel::Named | ForceLevel::Required => ProbeAnswer::Unsaid,
        ForceLevel::Auto => ProbeAnswer::Call,
        ForceLevel::Json | ForceLevel::Text => ProbeAnswer::Object,
    }
}

async fn ask(
    Probed { agent, provider, .. }: Probed<'_>,
    (level, answer): (ForceLevel, ProbeAnswer),
    transport: &dyn Transport,
) -> Result<ProbedCall, ClientError> {
    let request = request((agent, provider), level, answer)
        .ok_or_else(|| ClientError::input("the probe has nothing to ask", "report this defect"))?;
    let request = provider.wire.encode(&request, &provider.dialect);
    let reply = match transport.send(&request).await {
        Ok(reply) => reply,
        Err(error) => return Ok(unsent((level, answer), &error)),
    };
    let bound = request.usage_bound();
    let read = DecodedReply::read(provider.wire, &provider.dialect, &reply, bound);
    let expected = Expected {
        tools: tool_names(level),
        forced: Some(level),
        submission: Some(SUBMIT_CHOICE),
        self_hosted: provider.dialect.self_hosted,
    };
    let verdict = read.verdict(&expected);
    let (result, detail) = match read.turn() {
        Ok(turn) => (of_turn(turn, level, &verdict), line_of(turn)),
        Err(fault) => (of_fault(fault), fault.to_string()),
    };
    Ok(ProbedCall {
        level,
        is_asked_for: answer != ProbeAnswer::Unsaid,
        result,
        outcome: verdict.label().to_owned(),
        kinds: verdict.kinds().into_iter().map(str::to_owned).collect(),
        status: Some(reply.status),
        detail,
        usage: read.turn().ok().map(|turn| UsageRecord::of(&turn.usage())),
    })
}

fn unsent((level, answer): (ForceLevel, ProbeAnswer), error: &TransportError) -> ProbedCall {
    ProbedCall {
        level,
        is_asked_for: answer != ProbeAnswer::Unsaid,
        result: CallResult::Unknown,
        outcome: "infra_fault".to_owned(),
        kinds: vec![error.code().to_owned()],
        status: None,
        detail: error.to_string(),
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

/// What a turn said, in a line.
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
