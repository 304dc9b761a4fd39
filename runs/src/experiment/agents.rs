//! From an agent's configuration to what answers for it.

use super::config::AgentConfig;
use crate::bridge::{ChildCommand, ProcessAgent};
use crate::error::RunError;
use ktd_agents::builtin::{BuiltinTransport, Cheater, Foresight, NAMES, named};
use ktd_agents::{HttpSettings, HttpTransport, Transport};
use ktd_env::{DayIndex, Market, NameId, Ticker, TradeDate};
use secrecy::SecretString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_TIMEOUT_SECONDS: u64 = 600;

/// What answers for an agent.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub enum Connection {
    /// A model behind an endpoint, or a built-in agent.
    Model(Box<dyn Transport>),
    /// A child process that speaks lines.
    Process(Box<ProcessAgent>),
    /// Whoever connects to `ktd mcp`.
    Client,
}

/// What answers for an agent in an episode of this seed; `base` is the experiment file's directory.
///
/// # Errors
/// [`RunError::Input`] for an unknown built-in, a missing key or program, or an unusable endpoint.
pub fn connect(
    agent: &AgentConfig,
    seed: u64,
    market: &Arc<Market>,
    base: &Path,
) -> Result<Connection, RunError> {
    if agent.external.is_some() {
        return Ok(Connection::Client);
    }
    match (&agent.command, &agent.builtin) {
        (Some(command), _) => process(agent, command, base).map(|agent| Connection::Process(Box::new(agent))),
        (None, Some(name)) => builtin(name, seed, market).map(Connection::Model),
        (None, None) => http(agent).map(Connection::Model),
    }
}

fn process(agent: &AgentConfig, command: &[String], base: &Path) -> Result<ProcessAgent, RunError> {
    let command = ChildCommand::new(command, &agent.pass_env, base)
        .map_err(|error| RunError::input(format!("agent {:?}: {error}", agent.id), error.hint()))?;
    Ok(ProcessAgent::new(command, patience(agent)))
}

/// The longest wait for an agent's answer.
fn patience(agent: &AgentConfig) -> Duration {
    Duration::from_secs(agent.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
}

/// Whether there is a built-in agent of this name.
///
/// # Errors
/// [`RunError::Input`] with the names there are.
pub fn check_builtin(name: &str) -> Result<(), RunError> {
    if name == "cheater" || NAMES.contains(&name) {
        return Ok(());
    }
    let known = NAMES.join(", ");
    let what = format!("there is no built-in agent {name:?}");
    Err(RunError::input(what, format!("it is one of {known}, cheater")))
}

fn builtin(name: &str, seed: u64, market: &Arc<Market>) -> Result<Box<dyn Transport>, RunError> {
    if name == "cheater" {
        let memory = Arc::new(Future {
            market: Arc::clone(market),
        });
        return Ok(Box::new(BuiltinTransport::new(Arc::new(Cheater::new(memory)))));
    }
    check_builtin(name)?;
    named(name, seed)
        .map(|model| Box::new(BuiltinTransport::new(model)) as Box<dyn Transport>)
        .ok_or_else(|| {
            RunError::input(
                format!("the built-in agent {name:?} has no model"),
                "report this defect",
            )
        })
}

fn http(agent: &AgentConfig) -> Result<Box<dyn Transport>, RunError> {
    let api_key = match &agent.api_key_env {
        None => None,
        Some(variable) => Some(SecretString::from(std::env::var(variable).map_err(|_| {
            let what = format!(
                "agent {:?}: the environment variable {variable} is not set",
                agent.id
            );
            RunError::input(
                what,
                format!("export {variable}=... before running, or remove `api_key_env`"),
            )
        })?)),
    };
    let settings = HttpSettings {
        base_url: agent.base_url.clone().unwrap_or_default(),
        api_key,
        headers: Vec::new(),
        timeout: patience(agent),
    };
    let transport = HttpTransport::new(&settings).map_err(|error| {
        RunError::input(
            format!("agent {:?}: {error}", agent.id),
            "check `base_url` and the key's variable",
        )
    })?;
    Ok(Box::new(transport))
}

/// The real future, for the agent that must profit from it under `bright` and be helpless under `blinded`.
struct Future {
    market: Arc<Market>,
}

impl Foresight for Future {
    /// From the open of the day to the open of the next: what an order filled today earns until it can be sold.
    fn next_return(&self, code: &str, date: &str) -> Option<f64> {
        let name = self.market.find(Ticker::parse(code).ok()?)?;
        let day = self.market.day(TradeDate::parse(date).ok()?)?;
        let next = self.market.day_at(day.index() + 1)?;
        Some(self.open(name, next)? / self.open(name, day)? - 1.0)
    }
}

impl Future {
    fn open(&self, name: NameId, day: DayIndex) -> Option<f64> {
        let bar = self.market.bar(name, day).filter(ktd_env::Bar::trades_at_open)?;
        Some(bar.adjusted(bar.open?))
    }
}
