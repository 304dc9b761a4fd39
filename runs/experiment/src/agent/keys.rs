//! An agent as files write it: one flat table of keys, of which each kind of agent takes its own.

use super::control::ControlName;
use super::invalid_agent::{InvalidAgent, Kind};
use super::{
    AgentCohort, AgentConfig, AgentKind, ApiKeySource, BuiltinAgent, Control, External, ExternalClient,
    FORMULA, ModelAgent, PoolFile, ProgramAgent, ProxySource, SignalStrategy, SignalsControl, TrainingCutoff,
};
use crate::file_name::is_file_name;
use crate::rate_limits::RateLimits;
use ktd_agents::{ForceLevel, ThinkingPolicy, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The keys of all kinds of agents, each of which takes its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentKeys {
    /// Name in tables and cells.
    id: String,
    /// Which kind of agent it is; where it is left out, the other keys say it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kind: Option<Kind>,
    /// What decides in a model, program or client: agents of a cohort are compared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cohort: Option<AgentCohort>,
    /// Last day of a model's, program's or client's training data, such as `2025-01-31`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cutoff: Option<String>,
    /// An agent of this program: `hold`, `random`, `equal-weight`, `momentum`, `composite`, `researcher`, `cheater`, `schema-breaker`
    /// or `formula`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    builtin: Option<String>,
    /// Of the built-in `formula`: the folder of the search whose pool it trades, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pool: Option<PathBuf>,
    /// SHA-256 of that folder's `pool.json`, where one is meant and no other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pool_sha256: Option<String>,
    /// A control, which knows real names and days behind every mask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    control: Option<ControlName>,
    /// Of the control `signals`: CSV or Parquet file with the columns `date`, `code` and `score`, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    scores: Option<PathBuf>,
    /// SHA-256 of that file, where one is meant and no other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    scores_sha256: Option<String>,
    /// Of the control `signals`: from scores to holdings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    strategy: Option<SignalStrategy>,
    /// A program of one's own: it and its arguments, run from the experiment file's folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    command: Option<Vec<String>>,
    /// Of a program: names of environment variables handed on, besides `PATH` and `HOME`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pass_env: Option<Vec<String>>,
    /// Of a program: files and folders that it may read in its box, besides the files that `command` names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    files: Option<Vec<String>>,
    /// Of a program: whether it may reach the network from its box (default false).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    network: Option<bool>,
    /// Of a program: whether it runs without a box, where it can read what you can (default false). Boards mark it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    unboxed: Option<bool>,
    /// A client of one's own, which calls: how.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    external: Option<External>,
    /// A language model behind an endpoint: the provider's name of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    model: Option<String>,
    /// Of a model: the vendor, gateway or server, a row of `dialects` or of `ktd vendors` (default `compatible`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    vendor: Option<String>,
    /// Of a model: who made it, where another serves it (default `vendor`). Tables of bias go by makers; nobody is asked otherwise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    maker: Option<String>,
    /// Of a model: how it is spoken to, where the vendor takes several wires (default: the first of its row).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    wire: Option<Wire>,
    /// Of a model: one of the vendor's other addresses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    region: Option<String>,
    /// Of a model: base URL, which the wire's path is appended to (default: the vendor's).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    base_url: Option<String>,
    /// Of a model: environment variable that holds its key; without it and `api_key_file` no key is sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    api_key_env: Option<String>,
    /// Of a model: file that holds its key and nothing else, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    api_key_file: Option<PathBuf>,
    /// Of a model or program: longest wait for a reply or a line (default 600).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    timeout_seconds: Option<u64>,
    /// Of a model: longest wait for a connection (default 20).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    connect_timeout_seconds: Option<u64>,
    /// Of a model: where the address of a proxy on the way to it is (default: none is used, whatever the environment says).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    proxy: Option<ProxySource>,
    /// Of a model: sampling temperature (default: the provider's).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    temperature: Option<f64>,
    /// Of a model: most generated tokens, reasoning included (default: the provider's).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    max_output_tokens: Option<u32>,
    /// Of a model or built-in agent: how submissions are forced (default: as strongly as the endpoint honours).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    force: Option<ForceLevel>,
    /// Of a model: when it thinks (default `vendor-default`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    thinking: Option<ThinkingPolicy>,
    /// Of a model, program or client: whether the episode's seed is sent (default false).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    send_seed: Option<bool>,
    // They are no part of a cell's identity, so that no header has them.
    /// Of a model, program or client: rates of its key, besides those under `rates`.
    #[serde(skip_serializing, default)]
    rates: Option<RateLimits>,
}

/// How much of an invalid id is shown: it may be a stranger's, of any length.
const ID_SHOWN_CHARS: usize = 60;

impl TryFrom<AgentKeys> for AgentConfig {
    type Error = InvalidAgent;

    fn try_from(mut keys: AgentKeys) -> Result<Self, InvalidAgent> {
        let id = std::mem::take(&mut keys.id);
        if !is_file_name(&id) {
            return Err(InvalidAgent::Id(id.chars().take(ID_SHOWN_CHARS).collect()));
        }
        let Some(label) = keys.label() else {
            return Err(InvalidAgent::NoKind(id));
        };
        if keys.kind.take().is_some_and(|written| written != label) {
            return Err(InvalidAgent::OtherKind { id, kind: label });
        }
        let kind = keys.take_kind(&id, label)?;
        let (cohort, cutoff) = match label {
            Kind::Builtin | Kind::Control => (None, None),
            Kind::Model | Kind::Program | Kind::Client => (keys.cohort.take(), keys.take_cutoff(&id)?),
        };
        if let Some(key) = keys.first_left() {
            let more = match label {
                Kind::Program | Kind::Client => "; docs/own-agent.md says what an outside agent takes",
                Kind::Builtin | Kind::Control | Kind::Model => "",
            };
            return Err(InvalidAgent::Misfit {
                id,
                key,
                kind: label,
                more,
            });
        }
        match &kind {
            AgentKind::Model(model) => check_model(&id, model)?,
            AgentKind::Builtin(_) | AgentKind::Control(_) | AgentKind::Program(_) | AgentKind::Client(_) => {}
        }
        Ok(Self {
            id,
            cohort,
            cutoff,
            kind,
        })
    }
}

impl AgentKeys {
    /// The kind whose own key is set.
    const fn label(&self) -> Option<Kind> {
        if self.command.is_some() {
            Some(Kind::Program)
        } else if self.external.is_some() {
            Some(Kind::Client)
        } else if self.control.is_some() {
            Some(Kind::Control)
        } else if self.builtin.is_some() {
            Some(Kind::Builtin)
        } else if self.model.is_some() || self.vendor.is_some() || self.base_url.is_some() {
            Some(Kind::Model)
        } else {
            None
        }
    }

    /// Takes the keys of a kind out; what is left then belongs to another one.
    fn take_kind(&mut self, id: &str, label: Kind) -> Result<AgentKind, InvalidAgent> {
        let none = || InvalidAgent::NoKind(id.to_owned());
        Ok(match label {
            Kind::Builtin => {
                let name = self.builtin.take().ok_or_else(none)?;
                AgentKind::Builtin(BuiltinAgent {
                    pool: (name == FORMULA).then(|| self.take_pool(id)).transpose()?,
                    name,
                    force: self.force.take(),
                })
            }
            Kind::Control => AgentKind::Control(match self.control.take().ok_or_else(none)? {
                ControlName::Oracle => Control::Oracle,
                ControlName::Signals => Control::Signals(self.take_signals(id)?),
            }),
            Kind::Model => AgentKind::Model(Box::new(self.take_model(id)?)),
            Kind::Program => AgentKind::Program(ProgramAgent {
                command: self.command.take().ok_or_else(none)?,
                pass_env: self.pass_env.take().unwrap_or_default(),
                files: self.files.take().unwrap_or_default(),
                network: self.network.take().unwrap_or_default(),
                unboxed: self.unboxed.take(),
                timeout_seconds: self.timeout_seconds.take(),
                send_seed: self.send_seed.take().unwrap_or_default(),
                rates: self.rates.take(),
            }),
            Kind::Client => AgentKind::Client(ExternalClient {
                external: self.external.take().ok_or_else(none)?,
                send_seed: self.send_seed.take().unwrap_or_default(),
                rates: self.rates.take(),
            }),
        })
    }

    fn take_cutoff(&mut self, id: &str) -> Result<Option<TrainingCutoff>, InvalidAgent> {
        let read = |text: String| {
            TrainingCutoff::parse(&text).map_err(|_| InvalidAgent::Cutoff {
                id: id.to_owned(),
                text: text.chars().take(ID_SHOWN_CHARS).collect(),
            })
        };
        self.cutoff.take().map(read).transpose()
    }

    fn take_pool(&mut self, id: &str) -> Result<PoolFile, InvalidAgent> {
        Ok(PoolFile {
            folder: self
                .pool
                .take()
                .ok_or_else(|| InvalidAgent::NoPool(id.to_owned()))?,
            sha256: self.pool_sha256.take(),
        })
    }

    fn take_signals(&mut self, id: &str) -> Result<SignalsControl, InvalidAgent> {
        let missing = |key| InvalidAgent::NoScores {
            id: id.to_owned(),
            key,
        };
        Ok(SignalsControl {
            scores: self.scores.take().ok_or_else(|| missing("scores"))?,
            scores_sha256: self.scores_sha256.take(),
            strategy: self.strategy.take().ok_or_else(|| missing("strategy"))?,
        })
    }

    fn take_model(&mut self, id: &str) -> Result<ModelAgent, InvalidAgent> {
        let api_key = match (self.api_key_env.take(), self.api_key_file.take()) {
            (Some(_), Some(_)) => return Err(InvalidAgent::TwoApiKeys(id.to_owned())),
            (Some(variable), None) if is_variable(&variable) => Some(ApiKeySource::Environment(variable)),
            (Some(_), None) => return Err(InvalidAgent::NoVariable(id.to_owned())),
            (None, Some(path)) => Some(ApiKeySource::File(path)),
            (None, None) => None,
        };
        Ok(ModelAgent {
            model: self
                .model
                .take()
                .ok_or_else(|| InvalidAgent::NoModel(id.to_owned()))?,
            vendor: self.vendor.take(),
            maker: self.maker.take(),
            wire: self.wire.take(),
            region: self.region.take(),
            base_url: self.base_url.take(),
            api_key,
            timeout_seconds: self.timeout_seconds.take(),
            connect_timeout_seconds: self.connect_timeout_seconds.take(),
            proxy: self.proxy.take(),
            temperature: self.temperature.take(),
            max_output_tokens: self.max_output_tokens.take(),
            force: self.force.take(),
            thinking: self.thinking.take(),
            send_seed: self.send_seed.take().unwrap_or_default(),
            rates: self.rates.take(),
        })
    }

    /// A key that is set, the first by its name.
    fn first_left(&self) -> Option<String> {
        let written = serde_json::to_value(self).unwrap_or_default();
        // Keys that are not set are not written, and `rates` never is.
        let mut set = written.as_object().into_iter().flat_map(|keys| keys.keys());
        set.find(|key| *key != "id" && *key != "kind")
            .cloned()
            .or_else(|| self.rates.is_some().then(|| "rates".to_owned()))
    }
}

fn check_model(id: &str, model: &ModelAgent) -> Result<(), InvalidAgent> {
    if model.vendor.is_none() && model.base_url.is_none() {
        return Err(InvalidAgent::NoAddress(id.to_owned()));
    }
    if model
        .base_url
        .as_ref()
        .is_some_and(|url| url.contains(['@', '?', '#']))
    {
        return Err(InvalidAgent::Credentials(id.to_owned()));
    }
    Ok(())
}

impl From<AgentConfig> for AgentKeys {
    fn from(agent: AgentConfig) -> Self {
        let of = |kind| Self {
            id: agent.id,
            kind: Some(kind),
            cohort: agent.cohort,
            cutoff: agent.cutoff.map(TrainingCutoff::text),
            ..Self::default()
        };
        match agent.kind {
            AgentKind::Builtin(builtin) => {
                let (pool, pool_sha256) = builtin
                    .pool
                    .map_or((None, None), |pool| (Some(pool.folder), pool.sha256));
                Self {
                    builtin: Some(builtin.name),
                    force: builtin.force,
                    pool,
                    pool_sha256,
                    ..of(Kind::Builtin)
                }
            }
            AgentKind::Control(control) => of(Kind::Control).with_control(control),
            AgentKind::Model(model) => of(Kind::Model).with_model(*model),
            AgentKind::Program(program) => Self {
                command: Some(program.command),
                pass_env: (!program.pass_env.is_empty()).then_some(program.pass_env),
                files: (!program.files.is_empty()).then_some(program.files),
                network: program.network.then_some(true),
                unboxed: program.unboxed,
                timeout_seconds: program.timeout_seconds,
                send_seed: program.send_seed.then_some(true),
                rates: program.rates,
                ..of(Kind::Program)
            },
            AgentKind::Client(client) => Self {
                external: Some(client.external),
                send_seed: client.send_seed.then_some(true),
                rates: client.rates,
                ..of(Kind::Client)
            },
        }
    }
}

impl AgentKeys {
    fn with_control(self, control: Control) -> Self {
        let name = Some(control.name());
        match control {
            Control::Oracle => Self {
                control: name,
                ..self
            },
            Control::Signals(signals) => Self {
                control: name,
                scores: Some(signals.scores),
                scores_sha256: signals.scores_sha256,
                strategy: Some(signals.strategy),
                ..self
            },
        }
    }

    fn with_model(self, model: ModelAgent) -> Self {
        let (api_key_env, api_key_file) = match model.api_key {
            Some(ApiKeySource::Environment(variable)) => (Some(variable), None),
            Some(ApiKeySource::File(path)) => (None, Some(path)),
            None => (None, None),
        };
        Self {
            model: Some(model.model),
            vendor: model.vendor,
            maker: model.maker,
            wire: model.wire,
            region: model.region,
            base_url: model.base_url,
            api_key_env,
            api_key_file,
            timeout_seconds: model.timeout_seconds,
            connect_timeout_seconds: model.connect_timeout_seconds,
            proxy: model.proxy,
            temperature: model.temperature,
            max_output_tokens: model.max_output_tokens,
            force: model.force,
            thinking: model.thinking,
            send_seed: model.send_seed.then_some(true),
            rates: model.rates,
            ..self
        }
    }
}

/// Whether a shell takes it for the name of a variable.
fn is_variable(name: &str) -> bool {
    let is_part = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    name.chars().all(is_part) && name.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn agent(keys: &Value) -> Result<AgentConfig, String> {
        serde_json::from_value(keys.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn each_kind_is_written_as_it_is_read_and_named() {
        for (kind, keys) in [
            ("builtin", json!({ "builtin": "momentum", "force": "F3" })),
            (
                "builtin",
                json!({ "builtin": "formula", "pool": "results/gp", "pool_sha256": "00" }),
            ),
            ("control", json!({ "control": "oracle" })),
            (
                "control",
                json!({ "control": "signals", "scores": "s.csv", "scores_sha256": "00", "strategy": "topk-dropout" }),
            ),
            (
                "model",
                json!({
                    "model": "m", "vendor": "qwen", "wire": "chat-completions", "region": "intl",
                    "base_url": "http://127.0.0.1:8000/v1", "api_key_env": "KEY", "timeout_seconds": 1,
                    "connect_timeout_seconds": 2, "proxy": "environment", "temperature": 0.1, "max_output_tokens": 3, "force": "F2",
                    "thinking": "never", "send_seed": true, "cutoff": "2025-01-31",
                }),
            ),
            (
                "model",
                json!({ "model": "m", "vendor": "qwen", "api_key_file": "key" }),
            ),
            (
                "program",
                json!({ "command": ["sh", "a.sh"], "pass_env": ["A"], "timeout_seconds": 1, "send_seed": true }),
            ),
            ("client", json!({ "external": "mcp", "send_seed": true })),
        ] {
            let mut keys = keys;
            keys["id"] = json!("a");
            let read = agent(&keys).unwrap();
            keys["kind"] = json!(kind);
            assert_eq!(serde_json::to_value(&read).unwrap(), keys);
            assert_eq!(agent(&keys), Ok(read));
        }
    }

    #[test]
    fn a_key_of_another_kind_is_named() {
        let own = ["builtin", "control", "model", "command", "external"];
        let values = json!({
            "builtin": "hold", "control": "oracle", "command": ["a"], "pass_env": ["A"], "external": "mcp",
            "model": "m", "vendor": "v", "maker": "w", "wire": "messages", "region": "r", "base_url": "http://h/v1",
            "api_key_env": "A", "api_key_file": "a", "timeout_seconds": 1, "connect_timeout_seconds": 1,
            "proxy": "environment",
            "temperature": 1.0, "max_output_tokens": 1, "force": "F0", "thinking": "never", "send_seed": true,
            "rates": {}, "scores": "s.csv", "scores_sha256": "00", "strategy": "top20", "cutoff": "2025-01-31",
            "pool": "results/gp", "pool_sha256": "00",
        });
        let takes: [&[&str]; 5] = [
            &["builtin", "force"],
            &["control"],
            &[
                "model",
                "vendor",
                "maker",
                "wire",
                "region",
                "base_url",
                "api_key_env",
                "api_key_file",
                "timeout_seconds",
                "connect_timeout_seconds",
                "proxy",
                "temperature",
                "max_output_tokens",
                "force",
                "thinking",
                "send_seed",
                "rates",
                "cutoff",
            ],
            &[
                "command",
                "pass_env",
                "timeout_seconds",
                "send_seed",
                "rates",
                "cutoff",
            ],
            &["external", "send_seed", "rates", "cutoff"],
        ];
        for (kind, takes) in own.into_iter().zip(takes) {
            for (key, value) in values.as_object().unwrap() {
                let mut keys = json!({ "id": "a", kind: values[kind], key.as_str(): value });
                if kind == "model" {
                    keys["vendor"] = json!("v");
                }
                let read = agent(&keys);
                if takes.contains(&key.as_str()) {
                    assert!(read.is_ok(), "{keys}: {read:?}");
                } else {
                    let error = read.unwrap_err();
                    assert!(error.contains("does not belong to a"), "{keys}: {error}");
                    assert!(error.contains(": remove it"), "{keys}: {error}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_agent_says_how_to_fix_it() {
        for (keys, part) in [
            (json!({ "id": "../a", "builtin": "hold" }), "names a directory"),
            (json!({ "id": "a" }), "needs either `builtin`"),
            (
                json!({ "id": "a", "timeout_seconds": 1 }),
                "needs either `builtin`",
            ),
            (
                json!({ "id": "a", "kind": "model", "builtin": "hold" }),
                "remove `kind`",
            ),
            (
                json!({ "id": "a", "control": "signals", "scores": "s.csv" }),
                "needs `strategy`",
            ),
            (
                json!({ "id": "a", "control": "signals", "strategy": "top20" }),
                "needs `scores`",
            ),
            (json!({ "id": "a", "builtin": "formula" }), "needs `pool`"),
            (
                json!({ "id": "a", "builtin": "momentum", "pool": "results/gp" }),
                "`pool` does not belong to a built-in agent",
            ),
            (
                json!({ "id": "a", "model": "m" }),
                "needs either `vendor` or `base_url`",
            ),
            (
                json!({ "id": "a", "external": "mcp", "cutoff": "2025-02-30" }),
                "`cutoff` is \"2025-02-30\", but the last day of its training data must be a date",
            ),
            (
                json!({ "id": "a", "model": "m", "base_url": "http://k@h/v1" }),
                "`base_url` holds credentials",
            ),
        ] {
            let error = agent(&keys).unwrap_err();
            assert!(error.contains(part) && !error.contains("k@h"), "{keys}: {error}");
        }
    }
}
