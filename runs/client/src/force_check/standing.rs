//! What is known about a declared level when a run starts.

use super::record::{CallResult, ProbeRecord, endpoint_sha256, probes_directory};
use crate::ClientError;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::list_if_exists;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a declared force level stands to what was probed for the same model, endpoint and thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForceStanding {
    /// A probe found it, or a stronger one.
    Proven(Box<ProbeRecord>),
    /// A probe found a weaker one alone, or none.
    Refuted(Box<ProbeRecord>),
    /// No probe says anything about it.
    Unprobed,
}

/// How an agent's declared level stands, by the latest probe in the results directory that found something.
///
/// # Errors
/// [`ClientError`] when a probe's file cannot be read.
pub fn standing(
    results: &Path,
    agent: &AgentConfig,
    provider: &Provider,
) -> Result<ForceStanding, ClientError> {
    let endpoint = endpoint_sha256(provider)?;
    let is_same = |record: &ProbeRecord| {
        record.model == agent.model_name()
            && record.endpoint_sha256 == endpoint
            && record.thinking == provider.thinking
            && record.is_conclusive()
    };
    let records = records(results)?.into_iter().filter(is_same);
    let Some(latest) = records.max_by_key(|record| record.probed_at_unix_seconds) else {
        return Ok(ForceStanding::Unprobed);
    };
    Ok(match latest.level {
        Some(level) if level <= provider.force => ForceStanding::Proven(Box::new(latest)),
        Some(_) => ForceStanding::Refuted(Box::new(latest)),
        None if latest.has_shown(provider.force) => ForceStanding::Refuted(Box::new(latest)),
        None => ForceStanding::Unprobed,
    })
}

impl ProbeRecord {
    /// Whether a call at this level shows something about it.
    fn has_shown(&self, level: ktd_agents::ForceLevel) -> bool {
        let shown = |call: &super::ProbedCall| call.level == level && call.result != CallResult::Unknown;
        self.calls.iter().any(shown)
    }
}

fn records(results: &Path) -> Result<Vec<ProbeRecord>, ClientError> {
    let directory = probes_directory(results);
    let paths = list_if_exists(&directory)?;
    let is_json = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
    paths
        .iter()
        .filter(is_json)
        .map(|path| ProbeRecord::read(path))
        .collect()
}

/// Holds every agent's declared level against what was probed. What is left open is told.
///
/// # Errors
/// [`ClientError::Input`] for an agent that declares more than a probe found.
pub fn notes(results: &Path, cells: &[Cell]) -> Result<Vec<String>, ClientError> {
    let (mut seen, mut notes) = (BTreeSet::new(), Vec::new());
    for cell in cells {
        let (agent, provider) = (&cell.agent, &cell.provider);
        // Whoever answers without an address is no endpoint.
        if provider.base_url.is_empty() || !seen.insert(agent.id.as_str()) {
            continue;
        }
        match standing(results, agent, provider)? {
            ForceStanding::Proven(_) => {}
            ForceStanding::Refuted(record) => return Err(refused(agent, provider, &record)),
            ForceStanding::Unprobed => notes.extend(unprobed(agent, provider)),
        }
    }
    Ok(notes)
}

fn refused(agent: &AgentConfig, provider: &Provider, record: &ProbeRecord) -> ClientError {
    let found = record.level.map_or_else(
        || "no level that was tried returned a call".to_owned(),
        |level| format!("a call came back at {level} at most"),
    );
    let what = format!(
        "agent {:?} declares force level {}, but when it was probed {found}",
        agent.id, provider.force
    );
    let again = format!("probe again with `ktd doctor EXPERIMENT --probe {}`", agent.id);
    ClientError::input(
        what,
        record.level.map_or_else(
            || format!("take it out of the file, or {again} once it answers with calls"),
            |level| format!("write force = \"{level}\" for it, or {again}"),
        ),
    )
}

fn unprobed(agent: &AgentConfig, provider: &Provider) -> Option<String> {
    let is_unverified = provider.dialect.unverified.iter().any(|key| key == "force");
    is_unverified.then(|| {
        format!(
            "agent {:?}: that {} honours force level {} is unverified, and nothing was probed; see `ktd doctor EXPERIMENT --probe {}`",
            agent.id, provider.dialect.name, provider.force, agent.id
        )
    })
}
