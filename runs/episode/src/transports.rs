//! From an agent's configuration to what answers for it.

use crate::EpisodeError;
use crate::control::cheater;
use ktd_agents::{HttpTransport, Transport};
use ktd_baselines::{BuiltinTransport, named};
use ktd_client::endpoint::{http, patience};
use ktd_client::outside_agent::ChildCommand;
use ktd_client::outside_agent::ProcessAgent;
use ktd_env::Market;
use ktd_experiment::agent::{
    AgentConfig, AgentKind, Control, ModelAgent, PoolFile, ProgramAgent, check_builtin,
};
use ktd_experiment::provider::Provider;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The transports of an experiment. Endpoints are shared by all cells of an agent, with their connections and their
/// root certificates; built-in agents are one a cell.
#[derive(Debug, Default)]
pub struct Transports(Mutex<BTreeMap<String, Arc<HttpTransport>>>);

/// What answers for an agent.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub enum Connection {
    /// A model behind an endpoint, or a built-in agent.
    Model(Arc<dyn Transport>),
    /// A child process that speaks lines.
    Process(Box<ProcessAgent>),
    /// Whoever connects to `ktd mcp`.
    Client,
    /// A control, which is made for its episode.
    Control(Control),
    /// The built-in agent that trades a pool of formulas, which is made for its episode.
    Formula(PoolFile),
}

impl Transports {
    /// What answers for an agent in an episode of this seed; `base` is the experiment file's directory.
    ///
    /// # Errors
    /// [`EpisodeError::Input`] for an unknown built-in, a missing key or program, or an unusable endpoint.
    pub fn connect(
        &self,
        (agent, provider): (&AgentConfig, &Provider),
        seed: u64,
        market: &Arc<Market>,
        base: &Path,
    ) -> Result<Connection, EpisodeError> {
        match &agent.kind {
            AgentKind::Client(_) => Ok(Connection::Client),
            AgentKind::Control(control) => Ok(Connection::Control(control.clone())),
            AgentKind::Program(program) => {
                let process = process(&agent.id, program, base)?;
                Ok(Connection::Process(Box::new(process)))
            }
            AgentKind::Builtin(own) => match &own.pool {
                Some(pool) => Ok(Connection::Formula(pool.clone())),
                None => builtin(&own.name, seed, market).map(Connection::Model),
            },
            AgentKind::Model(model) => self
                .endpoint((&agent.id, model), provider, base)
                .map(Connection::Model),
        }
    }

    fn endpoint(
        &self,
        (id, model): (&str, &ModelAgent),
        provider: &Provider,
        base: &Path,
    ) -> Result<Arc<dyn Transport>, EpisodeError> {
        let mut endpoints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = endpoints.get(id) {
            return Ok(Arc::clone(endpoint) as Arc<dyn Transport>);
        }
        let endpoint = Arc::new(http((id, model), provider, base)?);
        endpoints.insert(id.to_owned(), Arc::clone(&endpoint));
        Ok(endpoint)
    }
}

fn builtin(name: &str, seed: u64, market: &Arc<Market>) -> Result<Arc<dyn Transport>, EpisodeError> {
    if name == "cheater" {
        return Ok(Arc::new(BuiltinTransport::new(Arc::new(cheater(market)))));
    }
    check_builtin(name)?;
    named(name, seed)
        .map(|model| Arc::new(BuiltinTransport::new(model)) as Arc<dyn Transport>)
        .ok_or_else(|| {
            EpisodeError::input(
                format!("the built-in agent {name:?} has no model"),
                "report this defect",
            )
        })
}

fn process(id: &str, program: &ProgramAgent, base: &Path) -> Result<ProcessAgent, EpisodeError> {
    let command = ChildCommand::of_agent(program, base)
        .map_err(|error| EpisodeError::input(format!("agent {id:?}: {error}"), error.hint()))?;
    Ok(ProcessAgent::new(command, patience(program.timeout_seconds)))
}
