//! Down the ladder, one call a rung, until a call comes back.

use super::record::{CallResult, ProbeRecord, ProbedCall, endpoint_sha256};
use super::talk::{request, tool_names};
use crate::bundle::event::UsageRecord;
use crate::error::RunError;
use crate::experiment::config::AgentConfig;
use crate::experiment::provider::Provider;
use ktd_agents::{
    Expected, FaultKind, ForceLevel, ModelFault, ModelTurn, ReplyFault, SUBMIT_ACTION, Transport,
    TransportError, Verdict, object_in_text,
};

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
/// Trouble of the infrastructure or of key, address and model name says nothing about a level and ends the probe.
///
/// # Errors
/// [`RunError`] only for a defect of this program.
pub async fn climb_down(probed: Probed<'_>, transport: &dyn Transport) -> Result<ProbeRecord, RunError> {
    let Probed { agent, provider, .. } = probed;
    let mut calls: Vec<ProbedCall> = Vec::new();
    let rungs = ForceLevel::LADDER
        .into_iter()
        .filter(|level| provider.force <= *level);
    for level in rungs.take(CALLS_MAX) {
        let call = ask(agent, provider, level, transport).await?;
        let result = call.result;
        calls.push(call);
        if matches!(result, CallResult::Called | CallResult::Unknown) {
            break;
        }
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

async fn ask(
    agent: &AgentConfig,
    provider: &Provider,
    level: ForceLevel,
    transport: &dyn Transport,
) -> Result<ProbedCall, RunError> {
    let request = request(agent, provider, level)
        .ok_or_else(|| RunError::input("the probe has nothing to ask", "report this defect"))?;
    let request = provider.wire.encode(&request, &provider.dialect);
    let reply = match transport.send(&request).await {
        Ok(reply) => reply,
        Err(error) => return Ok(unsent(level, &error)),
    };
    let read = provider.wire.decode(reply.status, &reply.body, &provider.dialect);
    let expected = Expected {
        tools: tool_names(level),
        forced: Some(level),
        wanted: Some(SUBMIT_ACTION),
        self_hosted: provider.dialect.self_hosted,
    };
    let verdict = Verdict::of(read.as_ref(), &expected);
    let (result, detail) = match &read {
        Ok(turn) => (of_turn(turn, level, &verdict), line_of(turn)),
        Err(fault) => (of_fault(fault), fault.to_string()),
    };
    Ok(ProbedCall {
        level,
        result,
        outcome: verdict.label().to_owned(),
        kinds: verdict.kinds().into_iter().map(str::to_owned).collect(),
        status: Some(reply.status),
        detail,
        usage: read.ok().map(|turn| UsageRecord::of(&turn.usage())),
    })
}

fn unsent(level: ForceLevel, error: &TransportError) -> ProbedCall {
    ProbedCall {
        level,
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
    let has_call = turn.tool_calls().iter().any(|call| call.name == SUBMIT_ACTION);
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
    match fault.kind() {
        FaultKind::ToolChoiceRefused | FaultKind::BadRequest => CallResult::Refused,
        _ => CallResult::Unknown,
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
