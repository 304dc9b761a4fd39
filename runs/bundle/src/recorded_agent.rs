//! Recorded exchanges against the header's agent: whoever gives a bundle another agent's name leaves requests for the first.
//!
//! It is no proof of who answered: nothing but the header's own text says so, and a record can be made by anyone.

use crate::header::Header;
use ktd_agents::Wire;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_record::RecordError;
use ktd_record::exchanges::{Cassette, Sent};
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

/// Checks the exchanges of a store, read from `path`, against the agents that the header names.
///
/// # Errors
/// [`RecordError::File`] naming the first exchange that is another agent's.
pub fn check(header: &Header, cassette: &Cassette, path: &Path) -> Result<(), RecordError> {
    let fault = cassette.sends().find_map(|sent| {
        let (agent, provider) = answering(header, sent.intent.at.step);
        Some((sent.intent.at, agent, fault(sent, agent, provider)?))
    });
    fault.map_or(Ok(()), |(at, agent, fault)| {
        let what = format!(
            "{at}: {fault}, but header.json says that agent {:?} was asked",
            agent.id
        );
        Err(RecordError::damaged(path, what))
    })
}

/// Who answered in a step: before a branch, the agent of the episode that it left.
fn answering(header: &Header, step: usize) -> (&AgentConfig, &Provider) {
    let mut answering = (&header.agent, &header.provider);
    let mut branch = header.branch.as_ref();
    while let Some(left) = branch.filter(|left| step < left.step) {
        answering = (&left.agent, &left.provider);
        branch = left.branch.as_deref();
    }
    answering
}

fn fault(sent: &Sent, agent: &AgentConfig, provider: &Provider) -> Option<String> {
    let path = &sent.intent.path;
    if !fits_wire(provider.wire, path) {
        return Some(format!(
            "it went to {path:?}, which is not of the wire {}",
            provider.wire.label()
        ));
    }
    // Gemini's wire names the model in the path.
    let asked: Option<Named> = serde_json::from_str(&sent.intent.request).ok();
    if let Some(asked) = asked.and_then(|asked| asked.model)
        && asked != agent.model_name()
    {
        return Some(format!("it asks the model {asked:?}"));
    }
    let reply = sent
        .answer()
        .and_then(ktd_record::exchanges::ExchangeOutcome::reply)?;
    let reply: Named = serde_json::from_slice(&reply.body).ok()?;
    let is_own = reply.id.is_some_and(|id| id.starts_with(OWN_REPLY));
    (is_own && !agent.is_ours()).then(|| "its reply is that of a built-in agent".to_owned())
}

fn fits_wire(wire: Wire, path: &str) -> bool {
    match wire {
        Wire::ChatCompletions => path.ends_with("/chat/completions"),
        Wire::Responses => path.ends_with("/responses"),
        Wire::Messages => path.ends_with("/messages"),
        Wire::GenerateContent => path.ends_with(":generateContent"),
    }
}
