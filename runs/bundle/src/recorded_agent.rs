//! Recorded exchanges against the header's agent: whoever gives a bundle another agent's name leaves requests for the first.
//!
//! It is no proof of who answered: nothing but the header's own text says so, and a record can be made by anyone.

use crate::header::Header;
use ktd_agents::Wire;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_record::RecordError;
use ktd_record::exchanges::{ExchangeRecord, Intent};
use serde::Deserialize;
use std::path::Path;

/// How the replies of this program's own agents are numbered.
const OWN_REPLY: &str = "builtin-";

/// What names a model in a request or a reply.
#[derive(Deserialize)]
struct Named {
    model: Option<String>,
    id: Option<String>,
}

/// Checks a record of the store at `path` against the agents that the header names.
///
/// # Errors
/// [`RecordError::File`] when it is another agent's.
pub fn check(header: &Header, exchange: ExchangeRecord<'_>, path: &Path) -> Result<(), RecordError> {
    let at = exchange.at();
    let (agent, provider) = answering(header, at.step);
    fault(exchange, agent, provider).map_or(Ok(()), |fault| {
        let what = format!(
            "{at}: {fault}, but header.json says that agent {:?} was asked",
            agent.id
        );
        Err(RecordError::damaged(path, what))
    })
}

/// Who answered in a step: before a branch, the agent of the episode that it left.
fn answering(header: &Header, step: usize) -> (&AgentConfig, &Provider) {
    let mut answering = (&header.agent, &*header.provider);
    let mut branch = header.branch.as_ref();
    while let Some(left) = branch.filter(|left| step < left.step) {
        answering = (&left.agent, &left.provider);
        branch = left.branch.as_deref();
    }
    answering
}

fn fault(exchange: ExchangeRecord<'_>, agent: &AgentConfig, provider: &Provider) -> Option<String> {
    match exchange {
        ExchangeRecord::Intent { intent, .. } => fault_of_request(intent, agent, provider),
        ExchangeRecord::Outcome { outcome, .. } => {
            let reply: Named = serde_json::from_slice(&outcome.reply()?.body).ok()?;
            let is_own = reply.id.is_some_and(|id| id.starts_with(OWN_REPLY));
            (is_own && !agent.is_ours()).then(|| "its reply is that of a built-in agent".to_owned())
        }
        ExchangeRecord::Unknown { .. } => None,
    }
}

fn fault_of_request(intent: &Intent, agent: &AgentConfig, provider: &Provider) -> Option<String> {
    let path = &intent.path;
    if !fits_wire(provider.wire, path) {
        return Some(format!(
            "it went to {path:?}, which is not of the wire {}",
            provider.wire.label()
        ));
    }
    // Gemini's wire names the model in the path.
    let asked: Option<Named> = serde_json::from_str(&intent.request).ok();
    let asked = asked.and_then(|asked| asked.model);
    let other = asked.filter(|asked| asked != agent.model_name())?;
    Some(format!("it asks the model {other:?}"))
}

fn fits_wire(wire: Wire, path: &str) -> bool {
    match wire {
        Wire::ChatCompletions => path.ends_with("/chat/completions"),
        Wire::Responses => path.ends_with("/responses"),
        Wire::Messages => path.ends_with("/messages"),
        Wire::GenerateContent => path.ends_with(":generateContent"),
    }
}
