//! An agent of an experiment: one of five kinds, each with its own settings.

mod cohort;
mod control;
mod cutoff;
mod invalid_agent;
mod keys;

pub use cohort::AgentCohort;
pub use control::{Control, SignalStrategy, SignalsControl};
pub use cutoff::TrainingCutoff;

use crate::ExperimentError;
use crate::rate_limits::RateLimits;
use keys::AgentKeys;
use ktd_agents::{ForceLevel, Sampling, ThinkingPolicy, Wire};
use ktd_baselines::NAMES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// An agent. Credentials are named, never written here.
///
/// Experiment files and headers write it as one flat table (`agent/keys.rs`), headers with its `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "AgentKeys", into = "AgentKeys")]
pub struct AgentConfig {
    /// Name in tables and cells.
    pub id: String,
    /// The cohort that it names; none for an agent of this program, whose cohort is known.
    pub cohort: Option<AgentCohort>,
    /// The last day of its training data, where a model's maker states one; none for an agent of this program.
    pub cutoff: Option<TrainingCutoff>,
    /// What it is, with the settings of that kind.
    pub kind: AgentKind,
}

/// The kinds of agents.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentKind {
    /// An agent of this program.
    Builtin(BuiltinAgent),
    /// A control, which knows real names: it is never a language model.
    Control(Control),
    /// A language model behind an endpoint.
    Model(Box<ModelAgent>),
    /// An outside agent that this program starts and that speaks lines.
    Program(ProgramAgent),
    /// An outside agent that calls.
    Client(ExternalClient),
}

/// An agent of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinAgent {
    /// `hold`, `random`, `equal-weight`, `momentum`, `composite`, `researcher`, `cheater`, `schema-breaker` or `formula`.
    pub name: String,
    /// How submissions are forced; absent takes the strongest level.
    pub force: Option<ForceLevel>,
    /// What `formula` trades, and no other.
    pub pool: Option<PoolFile>,
}

/// The pool of a search for formulas that an agent trades.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolFile {
    /// The search's folder, relative to the experiment file. It stands in the header, which may be published.
    pub folder: PathBuf,
    /// SHA-256 of the folder's `pool.json`. Headers write it; an experiment file may name the one that it means.
    pub sha256: Option<String>,
}

impl PoolFile {
    /// The file in the folder; `base` is the experiment file's directory.
    #[must_use]
    pub fn path(&self, base: &Path) -> PathBuf {
        base.join(&self.folder).join("pool.json")
    }
}

/// A language model behind an endpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelAgent {
    /// The provider's name of the model.
    pub model: String,
    /// The vendor, gateway or server: a row of the table of dialects (default `compatible`); see `ktd vendors`.
    pub vendor: Option<String>,
    /// Who made the model, where that is told: a gateway or a server of one's own serves models of many.
    pub maker: Option<String>,
    /// The wire, where the vendor speaks several (default: the first of its row).
    pub wire: Option<Wire>,
    /// One of the vendor's other addresses, by region.
    pub region: Option<String>,
    /// Base URL, which the wire's path is appended to (default: the vendor's).
    pub base_url: Option<String>,
    /// Where its key is; without it no key is sent.
    pub api_key: Option<ApiKeySource>,
    /// Longest wait for a reply, seconds (default 600).
    pub timeout_seconds: Option<u64>,
    /// Longest wait for a connection, seconds (default 20).
    pub connect_timeout_seconds: Option<u64>,
    /// The proxy on the way to it (default: none, whatever the environment says).
    pub proxy: Option<ProxySource>,
    /// Sampling temperature; absent leaves the provider's default.
    pub temperature: Option<f64>,
    /// Upper bound on generated tokens, reasoning included; absent leaves the provider's default.
    pub max_output_tokens: Option<u32>,
    /// How submissions are forced, `F0` to `F4`; absent takes the strongest level that the endpoint honours.
    pub force: Option<ForceLevel>,
    /// When the model thinks; absent is `vendor-default`.
    pub thinking: Option<ThinkingPolicy>,
    /// Whether the episode's seed is sent to the provider (best effort there).
    pub send_seed: bool,
    /// Rates of this agent's key, besides those under `[rates]`.
    pub rates: Option<RateLimits>,
}

/// Where the address of a proxy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProxySource {
    /// In the environment: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    Environment,
}

/// Where the key of an endpoint is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKeySource {
    /// In an environment variable of this name.
    Environment(String),
    /// In a file that holds the key and nothing else, relative to the experiment file.
    File(PathBuf),
}

impl Display for ApiKeySource {
    /// The name of the variable, or the path: what `[rates]` calls the key.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(variable) => formatter.write_str(variable),
            Self::File(path) => path.display().fmt(formatter),
        }
    }
}

/// An outside agent that this program starts and that speaks lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramAgent {
    /// Program and arguments, run from the experiment file's directory. It stands in the header, which may be published.
    pub command: Vec<String>,
    /// Names of environment variables handed on, besides `PATH` and `HOME`.
    pub pass_env: Vec<String>,
    /// Files and folders that it may read, besides the files that `command` names.
    pub files: Vec<String>,
    /// Whether it may reach the network.
    pub network: bool,
    /// Whether it runs without a box; where an experiment says nothing, it is in one. Headers from before boxes say nothing either,
    /// and their programs ran without.
    pub unboxed: Option<bool>,
    /// Longest wait for a line, seconds (default 600).
    pub timeout_seconds: Option<u64>,
    /// Whether the episode's seed is sent.
    pub send_seed: bool,
    /// Rates of its questions.
    pub rates: Option<RateLimits>,
}

/// An outside agent that calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalClient {
    /// How it calls.
    pub external: External,
    /// Whether the episode's seed is sent.
    pub send_seed: bool,
    /// Rates of its questions.
    pub rates: Option<RateLimits>,
}

/// How an outside agent calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum External {
    /// The Model Context Protocol, over standard streams.
    Mcp,
}

/// Built-in agents that test the harness: foresight from memory, broken submissions, and no trade at all.
const BUILTIN_CONTROLS: [&str; 3] = ["cheater", "schema-breaker", "hold"];

impl AgentConfig {
    /// A built-in agent under its own name.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        Self {
            id: name.to_owned(),
            cohort: None,
            cutoff: None,
            kind: AgentKind::Builtin(BuiltinAgent {
                name: name.to_owned(),
                force: None,
                pool: None,
            }),
        }
    }

    /// Whether it is a control: it tests the harness by foresight, by memory, by broken submissions or by no trade at all, and
    /// has no rank.
    #[must_use]
    pub fn is_control(&self) -> bool {
        match &self.kind {
            AgentKind::Control(control) => *control == Control::Oracle,
            AgentKind::Builtin(builtin) => BUILTIN_CONTROLS.contains(&builtin.name.as_str()),
            AgentKind::Model(_) | AgentKind::Program(_) | AgentKind::Client(_) => {
                self.cohort == Some(AgentCohort::Control)
            }
        }
    }

    /// The name of the built-in agent, if it is one.
    #[must_use]
    pub fn builtin_name(&self) -> Option<&str> {
        let AgentKind::Builtin(builtin) = &self.kind else {
            return None;
        };
        Some(&builtin.name)
    }

    /// The pool of formulas that it trades, if it is the built-in agent that trades one.
    #[must_use]
    pub const fn pool(&self) -> Option<&PoolFile> {
        let AgentKind::Builtin(builtin) = &self.kind else {
            return None;
        };
        builtin.pool.as_ref()
    }

    /// The control, if it is one.
    #[must_use]
    pub const fn control(&self) -> Option<&Control> {
        let AgentKind::Control(control) = &self.kind else {
            return None;
        };
        Some(control)
    }

    /// The model behind an endpoint, if it is one.
    #[must_use]
    pub fn model(&self) -> Option<&ModelAgent> {
        let AgentKind::Model(model) = &self.kind else {
            return None;
        };
        Some(model)
    }

    /// The agent as a header states it: whether a program had a box is said.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        if let AgentKind::Program(program) = &mut self.kind {
            program.unboxed.get_or_insert(false);
        }
        self
    }

    /// Whether a recorded outside agent ran in a box; `None` for what this program itself asks.
    #[must_use]
    pub fn ran_in_box(&self) -> Option<bool> {
        match &self.kind {
            AgentKind::Program(program) => Some(program.unboxed == Some(false)),
            AgentKind::Client(_) => Some(false),
            AgentKind::Builtin(_) | AgentKind::Control(_) | AgentKind::Model(_) => None,
        }
    }

    /// The outside program, if it is one.
    #[must_use]
    pub const fn program(&self) -> Option<&ProgramAgent> {
        let AgentKind::Program(program) = &self.kind else {
            return None;
        };
        Some(program)
    }

    /// The outside client, if it is one.
    #[must_use]
    pub const fn client(&self) -> Option<&ExternalClient> {
        let AgentKind::Client(client) = &self.kind else {
            return None;
        };
        Some(client)
    }

    /// Whether this program answers for it, free of charge: a built-in agent or a control.
    #[must_use]
    pub const fn is_ours(&self) -> bool {
        matches!(&self.kind, AgentKind::Builtin(_) | AgentKind::Control(_))
    }

    /// Whether its decisions are made with real codes or days, which no mask hides from it: what it orders is a codebook.
    #[must_use]
    pub const fn knows_names(&self) -> bool {
        match &self.kind {
            AgentKind::Control(Control::Oracle | Control::Signals(_)) => true,
            AgentKind::Builtin(builtin) => builtin.pool.is_some(),
            AgentKind::Model(_) | AgentKind::Program(_) | AgentKind::Client(_) => false,
        }
    }

    /// Whether it is an agent outside the harness and no model.
    #[must_use]
    pub const fn is_outside(&self) -> bool {
        matches!(&self.kind, AgentKind::Program(_) | AgentKind::Client(_))
    }

    /// The name sent as `model`.
    #[must_use]
    pub fn model_name(&self) -> &str {
        match &self.kind {
            AgentKind::Model(model) => &model.model,
            AgentKind::Builtin(builtin) => &builtin.name,
            AgentKind::Control(_) | AgentKind::Program(_) | AgentKind::Client(_) => &self.id,
        }
    }

    /// The settings of generation in an episode of this published seed.
    #[must_use]
    pub fn sampling(&self, seed: u64) -> Sampling {
        let sends_seed = match &self.kind {
            AgentKind::Model(model) => model.send_seed,
            AgentKind::Program(program) => program.send_seed,
            AgentKind::Client(client) => client.send_seed,
            AgentKind::Builtin(_) | AgentKind::Control(_) => false,
        };
        Sampling {
            temperature: self.temperature(),
            seed: sends_seed.then_some(seed),
            max_output_tokens: self.max_output_tokens(),
        }
    }

    /// The sampling temperature, where one is set.
    #[must_use]
    pub fn temperature(&self) -> Option<f64> {
        self.model()?.temperature
    }

    /// The upper bound on generated tokens, where one is set.
    #[must_use]
    pub fn max_output_tokens(&self) -> Option<u32> {
        self.model()?.max_output_tokens
    }

    /// The agent's own rates, where it has any.
    #[must_use]
    pub fn rates(&self) -> Option<RateLimits> {
        match &self.kind {
            AgentKind::Model(model) => model.rates,
            AgentKind::Program(program) => program.rates,
            AgentKind::Client(client) => client.rates,
            AgentKind::Builtin(_) | AgentKind::Control(_) => None,
        }
    }
}

/// The built-in agent that trades a pool of formulas.
const FORMULA: &str = "formula";

/// Whether there is a built-in agent of this name, which needs nothing but its name.
///
/// # Errors
/// [`ExperimentError::Input`] with the names there are.
pub fn check_builtin(name: &str) -> Result<(), ExperimentError> {
    if name == "cheater" || NAMES.contains(&name) {
        return Ok(());
    }
    if name == FORMULA {
        return Err(ExperimentError::input(
            "the built-in agent \"formula\" has no pool",
            "name it in an experiment file, with pool = \"results/gp\"",
        ));
    }
    let known = NAMES.join(", ");
    let what = format!("there is no built-in agent {name:?}");
    Err(ExperimentError::input(
        what,
        format!("it is one of {known}, cheater, and formula with a pool"),
    ))
}
