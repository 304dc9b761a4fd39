//! From an agent's configuration to what answers for it.

use super::config::{AgentConfig, Control};
use super::provider::Provider;
use super::proxy::proxy_of_environment;
use crate::bridge::{ChildCommand, ProcessAgent};
use crate::error::RunError;
use ktd_agents::builtin::{BuiltinTransport, Cheater, Foresight, NAMES, named};
use ktd_agents::{HttpSettings, HttpTransport, Transport};
use ktd_env::{DayIndex, Market, NameId, Ticker, TradeDate};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const DEFAULT_TIMEOUT_SECONDS: u64 = 600;
const DEFAULT_CONNECT_TIMEOUT_SECONDS: u64 = 20;

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
}

impl Transports {
    /// What answers for an agent in an episode of this seed; `base` is the experiment file's directory.
    ///
    /// # Errors
    /// [`RunError::Input`] for an unknown built-in, a missing key or program, or an unusable endpoint.
    pub fn connect(
        &self,
        (agent, provider): (&AgentConfig, &Provider),
        seed: u64,
        market: &Arc<Market>,
        base: &Path,
    ) -> Result<Connection, RunError> {
        if agent.external.is_some() {
            return Ok(Connection::Client);
        }
        if let Some(control) = agent.control {
            return Ok(Connection::Control(control));
        }
        match &agent.command {
            Some(command) => Ok(Connection::Process(Box::new(process(agent, command, base)?))),
            None => self
                .of((agent, provider), seed, market, base)
                .map(Connection::Model),
        }
    }

    fn of(
        &self,
        (agent, provider): (&AgentConfig, &Provider),
        seed: u64,
        market: &Arc<Market>,
        base: &Path,
    ) -> Result<Arc<dyn Transport>, RunError> {
        if let Some(name) = &agent.builtin {
            return builtin(name, seed, market);
        }
        let mut endpoints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(endpoint) = endpoints.get(&agent.id) {
            return Ok(Arc::clone(endpoint) as Arc<dyn Transport>);
        }
        let endpoint = Arc::new(http(agent, provider, base)?);
        endpoints.insert(agent.id.clone(), Arc::clone(&endpoint));
        Ok(endpoint)
    }
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

fn builtin(name: &str, seed: u64, market: &Arc<Market>) -> Result<Arc<dyn Transport>, RunError> {
    if name == "cheater" {
        let memory = Arc::new(Future {
            market: Arc::clone(market),
        });
        return Ok(Arc::new(BuiltinTransport::new(Arc::new(Cheater::new(memory)))));
    }
    check_builtin(name)?;
    named(name, seed)
        .map(|model| Arc::new(BuiltinTransport::new(model)) as Arc<dyn Transport>)
        .ok_or_else(|| {
            RunError::input(
                format!("the built-in agent {name:?} has no model"),
                "report this defect",
            )
        })
}

/// The endpoint of an agent, with its key.
///
/// # Errors
/// [`RunError::Input`] for a missing key or an unusable endpoint.
pub fn http(agent: &AgentConfig, provider: &Provider, base: &Path) -> Result<HttpTransport, RunError> {
    let dialect = &provider.dialect;
    let settings = HttpSettings {
        base_url: provider.base_url.clone(),
        auth: dialect.auth,
        api_key: api_key(agent, base)?,
        headers: dialect.headers.clone(),
        secret_headers: Vec::new(),
        proxy: proxy_of_environment(),
        connect_timeout: Duration::from_secs(
            agent
                .connect_timeout_seconds
                .unwrap_or(DEFAULT_CONNECT_TIMEOUT_SECONDS),
        ),
        timeout: patience(agent),
    };
    HttpTransport::new(&settings)
        .map_err(|error| RunError::input(format!("agent {:?}: {error}", agent.id), error.hint()))
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

/// The key, from the environment or a file. It is never written anywhere.
fn api_key(agent: &AgentConfig, base: &Path) -> Result<Option<SecretString>, RunError> {
    if let Some(variable) = &agent.api_key_env {
        let key = std::env::var(variable).map_err(|_| {
            let what = format!(
                "agent {:?}: the environment variable {variable} is not set",
                agent.id
            );
            RunError::input(
                what,
                format!("export {variable}=... before running, or remove `api_key_env`"),
            )
        })?;
        return Ok(Some(SecretString::from(key)));
    }
    let Some(path) = &agent.api_key_file else {
        return Ok(None);
    };
    let path = &base.join(path);
    let key = std::fs::read_to_string(path).map_err(RunError::io("read the key file", path))?;
    let key = key.trim();
    if key.is_empty() {
        let what = format!("agent {:?}: the key file {} is empty", agent.id, path.display());
        return Err(RunError::input(what, "write the key into it, and nothing else"));
    }
    Ok(Some(SecretString::from(key.to_owned())))
}

/// Why a key file is not as safe as it should be; `None` when it is, or when there is none.
#[cfg(unix)]
#[must_use]
pub fn key_file_warning(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        format!(
            "the key file {} may be read by others: chmod 600 {0}",
            path.display()
        )
    })
}

/// Why a key file is not as safe as it should be: not known on this system.
#[cfg(not(unix))]
#[must_use]
pub fn key_file_warning(_: &Path) -> Option<String> {
    None
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

    fn day_before(&self, date: &str) -> Option<String> {
        let day = self.market.day(TradeDate::parse(date).ok()?)?;
        self.market.date(day.before()?).map(TradeDate::reveal)
    }
}

impl Future {
    fn open(&self, name: NameId, day: DayIndex) -> Option<f64> {
        let bar = self.market.bar(name, day).filter(ktd_env::Bar::trades_at_open)?;
        Some(bar.adjusted(bar.open?))
    }
}
