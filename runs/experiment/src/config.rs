//! `EXPERIMENT.toml`, typed. Unknown keys are errors; every default is named here and echoed in the header.

use crate::ExperimentError;
pub use crate::agent_kinds::{Control, External};
use crate::caps::Caps;
use crate::provider::builtin_table;
use crate::rate_limits::RateLimits;
use crate::rules_config::RulesConfig;
pub use crate::step_config::{ConstraintFailures, RetryConfig, SessionConfig, ToolsConfig};
use crate::window_config::WindowConfig;
use ktd_agents::{Dialect, DialectTable, ForceLevel, ThinkingPolicy, Wire};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A whole experiment file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentConfig {
    /// Name of the experiment and of its results directory.
    pub name: String,
    /// Panel file, relative to the experiment file. Without it, the synthetic market of `synthetic`.
    pub panel: Option<PathBuf>,
    /// The synthetic market, where no panel is named.
    pub synthetic: Option<SyntheticConfig>,
    /// Results directory, relative to the experiment file (default: `results/NAME`).
    pub output: Option<PathBuf>,
    /// File with the experiment's mask key, 64 hexadecimal digits (default: drawn once and kept in `private/`).
    pub mask_key_file: Option<PathBuf>,
    /// How many cells run at once (default 4).
    #[serde(default = "default_parallel_cells")]
    pub parallel_cells: usize,
    /// Who trades.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own, in the form of the table that `ktd vendors` shows; they go before rows of the same id.
    #[serde(default)]
    pub dialects: Vec<Dialect>,
    /// When.
    pub windows: Vec<WindowConfig>,
    /// What is hidden (default: bright and blinded, exact numbers).
    #[serde(default = "default_masks")]
    pub masks: Vec<MaskConfig>,
    /// Decision modes (default: `open-research`).
    #[serde(default = "default_modes")]
    pub modes: Vec<String>,
    /// Seeds (default: 1).
    #[serde(default = "default_seeds")]
    pub seeds: Vec<u64>,
    /// Whether cells that carry no information are left out (default false): `memory-only` without names, and copies.
    #[serde(default)]
    pub prune: bool,
    /// Limits of a step's conversation.
    #[serde(default)]
    pub session: SessionConfig,
    /// Limits of the tools.
    #[serde(default)]
    pub tools: ToolsConfig,
    /// The exchange's rules, where they differ from the defaults.
    #[serde(default)]
    pub rules: RulesConfig,
    /// What is done about infrastructure faults.
    #[serde(default)]
    pub retries: RetryConfig,
    /// Price table, JSON or TOML, relative to the experiment file. Without it costs are unknown.
    pub prices: Option<PathBuf>,
    /// What may be spent; needs `prices`, and `max_output_tokens` of every model.
    #[serde(default)]
    pub budget: Caps,
    /// Rates of a key, by the name of its environment variable or the path of its file.
    #[serde(default)]
    pub rates: BTreeMap<String, RateLimits>,
}

/// A synthetic market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// Seed (default 1).
    pub seed: Option<u64>,
    /// Names (default 300).
    pub names: Option<u32>,
    /// Trading days (default 800).
    pub days: Option<u32>,
}

/// An agent. Credentials are named, never written here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Name in tables and cells.
    pub id: String,
    /// A built-in agent: `hold`, `random`, `equal-weight`, `momentum`, `composite`, `researcher`, `cheater`, `schema-breaker`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub builtin: Option<String>,
    /// A control, which knows the future: it is never a model, and leaderboards do not rank it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub control: Option<Control>,
    /// The provider's name of a model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The vendor, gateway or server: a row of the table of dialects (default `compatible`); see `ktd vendors`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub vendor: Option<String>,
    /// The wire, where the vendor speaks several (default: the first of its row).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire: Option<Wire>,
    /// One of the vendor's other addresses, by region.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub region: Option<String>,
    /// Base URL, which the wire's path is appended to (default: the vendor's).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_url: Option<String>,
    /// Environment variable that holds the key; without it and `api_key_file` no key is sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub api_key_env: Option<String>,
    /// File that holds the key and nothing else, relative to the experiment file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub api_key_file: Option<PathBuf>,
    /// An outside agent that speaks lines: program and arguments, run from the experiment file's directory. It stands
    /// in the header, which may be published.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Vec<String>>,
    /// Environment variables handed to `command`, beside `PATH` and `HOME`. Names alone are kept.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pass_env: Vec<String>,
    /// An outside agent that calls: over MCP, served by `ktd mcp`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub external: Option<External>,
    /// Longest wait for a reply or a line, seconds (default 600).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_seconds: Option<u64>,
    /// Longest wait for a connection, seconds (default 20).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub connect_timeout_seconds: Option<u64>,
    /// Sampling temperature; absent leaves the provider's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub temperature: Option<f64>,
    /// Upper bound on generated tokens, reasoning included; absent leaves the provider's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_output_tokens: Option<u32>,
    /// How submissions are forced, `F0` to `F4`; absent takes the strongest level that the endpoint honours.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub force: Option<ForceLevel>,
    /// When the model thinks: `vendor-default`, `always`, `never` or `think-then-force`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thinking: Option<ThinkingPolicy>,
    /// Whether the episode's seed is sent to the provider (best effort there).
    #[serde(default)]
    pub send_seed: bool,
    /// Rates of this agent's key, besides those under `[rates]`: the stricter holds for all who use the key at the same
    /// address. They are no part of a cell's identity.
    #[serde(skip_serializing, default)]
    pub rates: Option<RateLimits>,
}

/// A mask.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskConfig {
    /// `bright`, `stock-blind`, `date-blind` or `blinded`.
    pub level: String,
    /// `exact` (default), `rescaled`, `rounded-0.1`, `rounded-0.5`, `ranked` or `banded`.
    #[serde(default = "default_numeric")]
    pub numeric: String,
}

const fn default_parallel_cells() -> usize {
    4
}

fn default_masks() -> Vec<MaskConfig> {
    ["bright", "blinded"]
        .map(|level| MaskConfig {
            level: level.to_owned(),
            numeric: default_numeric(),
        })
        .to_vec()
}

fn default_numeric() -> String {
    "exact".to_owned()
}

fn default_modes() -> Vec<String> {
    vec!["open-research".to_owned()]
}

fn default_seeds() -> Vec<u64> {
    vec![1]
}

impl ExperimentConfig {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// [`ExperimentError::Io`], or [`ExperimentError::Input`] naming key and line.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = ktd_io::whole_file::read_input(path)?;
        Self::parse(&text)
            .map_err(|error| ExperimentError::input(format!("{}: {error}", path.display()), error.hint()))
    }

    /// Parses an experiment's text.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] naming key and line.
    pub fn parse(text: &str) -> Result<Self, ExperimentError> {
        let config: Self = toml::from_str(text).map_err(|error| {
            ExperimentError::input(unreadable(text, &error), "see `ktd run --help` for an example")
        })?;
        config.check()?;
        Ok(config)
    }

    /// The table of dialects with the experiment's own rows.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] for a row that cannot be used.
    pub fn dialect_table(&self) -> Result<DialectTable, ExperimentError> {
        let refused = |error: ktd_agents::TableError| ExperimentError::input(error.to_string(), error.hint());
        let own = DialectTable::of(self.dialects.clone()).map_err(refused)?;
        Ok(own.before(builtin_table()?))
    }

    fn check(&self) -> Result<(), ExperimentError> {
        let needs = |what: &str| ExperimentError::input(what, "see `ktd run --help` for an example");
        if !is_file_name(&self.name) {
            return Err(needs(
                "`name` must be letters, digits, `-`, `_` or `.`: it names a directory",
            ));
        }
        for (list, empty) in [
            ("agents", self.agents.is_empty()),
            ("windows", self.windows.is_empty()),
            ("masks", self.masks.is_empty()),
            ("modes", self.modes.is_empty()),
            ("seeds", self.seeds.is_empty()),
        ] {
            if empty {
                return Err(needs(&format!(
                    "`{list}` is empty: an experiment needs at least one"
                )));
            }
        }
        if self.panel.is_some() && self.synthetic.is_some() {
            return Err(needs("`panel` and `synthetic` are both set: keep one"));
        }
        if self.parallel_cells == 0 || self.retries.attempts == 0 {
            return Err(needs(
                "`parallel_cells` and `retries.attempts` must be at least 1",
            ));
        }
        self.rules.rules()?;
        self.agents.iter().try_for_each(AgentConfig::check)?;
        unique("agents", self.agents.iter().map(|agent| agent.id.as_str()))?;
        if let Some(window) = self.windows.iter().find(|window| !is_file_name(&window.id)) {
            let what = format!(
                "window id {:?} must be letters, digits, `-`, `_` or `.`",
                window.id
            );
            return Err(ExperimentError::input(what, "it names directories and files"));
        }
        unique("windows", self.windows.iter().map(|window| window.id.as_str()))
    }
}

impl AgentConfig {
    /// A built-in agent under its own name.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        Self {
            id: name.to_owned(),
            builtin: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// Whether it is one agent, and what it says of it is complete.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] naming the agent.
    pub fn check(&self) -> Result<(), ExperimentError> {
        if !is_file_name(&self.id) {
            let what = format!("agent id {:?} must be letters, digits, `-`, `_` or `.`", self.id);
            return Err(ExperimentError::input(what, "it names a directory"));
        }
        self.check_outside()?;
        if self.is_outside() {
            return Ok(());
        }
        self.check_control()?;
        let is_builtin = self.is_ours();
        let has_address = self.base_url.is_some() || self.vendor.is_some();
        if is_builtin == (self.model.is_some() || has_address) || (!is_builtin && !has_address) {
            return Err(ExperimentError::input(
                format!(
                    "agent {:?} needs either `builtin`, or `control`, or `model` with `vendor` or `base_url`, or \
                     `command`, or `external`",
                    self.id
                ),
                "for example: builtin = \"momentum\", or model = \"...\", vendor = \"deepseek\"",
            ));
        }
        if !is_builtin && self.model.is_none() {
            let what = format!("agent {:?} has no `model`", self.id);
            return Err(ExperimentError::input(
                what,
                "write the provider's name of the model",
            ));
        }
        if self
            .base_url
            .as_ref()
            .is_some_and(|url| url.contains(['@', '?', '#']))
        {
            // It is not shown: the key may be in it.
            let what = format!("agent {:?}: `base_url` holds credentials or a query", self.id);
            let hint = "write it as \"https://host/v1\"; name the key in `api_key_env` or `api_key_file`";
            return Err(ExperimentError::input(what, hint));
        }
        if self.api_key_env.is_some() && self.api_key_file.is_some() {
            let what = format!("agent {:?} has both `api_key_env` and `api_key_file`", self.id);
            return Err(ExperimentError::input(what, "keep one"));
        }
        Ok(())
    }

    /// A control is nothing else, so that nothing can be entered as a model that is one.
    fn check_control(&self) -> Result<(), ExperimentError> {
        let other = [
            ("builtin", self.builtin.is_some()),
            ("model", self.model.is_some()),
            ("vendor", self.vendor.is_some()),
            ("base_url", self.base_url.is_some()),
            ("api_key_env", self.api_key_env.is_some()),
            ("api_key_file", self.api_key_file.is_some()),
            ("temperature", self.temperature.is_some()),
            ("max_output_tokens", self.max_output_tokens.is_some()),
            ("force", self.force.is_some()),
            ("thinking", self.thinking.is_some()),
        ];
        let other = other.into_iter().find(|(_, is_set)| *is_set);
        match (self.control, other) {
            (Some(_), Some((key, _))) => Err(ExperimentError::input(
                format!(
                    "agent {:?}: a control is no model, but `{key}` is set too",
                    self.id
                ),
                "strike one of the two",
            )),
            _ => Ok(()),
        }
    }

    /// Whether this program answers for it, free of charge: a built-in agent or a control.
    #[must_use]
    pub const fn is_ours(&self) -> bool {
        self.builtin.is_some() || self.control.is_some()
    }

    /// An outside agent is one kind of agent; keys that mean nothing to it would be silently without effect.
    fn check_outside(&self) -> Result<(), ExperimentError> {
        let (is_command, is_external) = (self.command.is_some(), self.external.is_some());
        let is_model = !self.is_outside();
        let misfits = [
            ("external", is_external && is_command),
            ("pass_env", !self.pass_env.is_empty() && !is_command),
            ("timeout_seconds", self.timeout_seconds.is_some() && is_external),
            (
                "connect_timeout_seconds",
                self.connect_timeout_seconds.is_some() && !is_model,
            ),
            ("builtin", self.builtin.is_some() && !is_model),
            ("control", self.control.is_some() && !is_model),
            ("model", self.model.is_some() && !is_model),
            ("vendor", self.vendor.is_some() && !is_model),
            ("wire", self.wire.is_some() && !is_model),
            ("region", self.region.is_some() && !is_model),
            ("base_url", self.base_url.is_some() && !is_model),
            ("api_key_env", self.api_key_env.is_some() && !is_model),
            ("api_key_file", self.api_key_file.is_some() && !is_model),
            ("temperature", self.temperature.is_some() && !is_model),
            ("max_output_tokens", self.max_output_tokens.is_some() && !is_model),
            ("force", self.force.is_some() && !is_model),
            ("thinking", self.thinking.is_some() && !is_model),
        ];
        match misfits.into_iter().find(|(_, misfits)| *misfits) {
            None => Ok(()),
            Some((key, _)) => Err(ExperimentError::input(
                format!(
                    "agent {:?}: `{key}` has no meaning for this kind of agent",
                    self.id
                ),
                "strike it; docs/own-agent.md says what an outside agent takes",
            )),
        }
    }

    /// Whether it is an agent outside the harness and no model.
    #[must_use]
    pub const fn is_outside(&self) -> bool {
        self.command.is_some() || self.external.is_some()
    }

    /// The name sent as `model`.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model
            .as_deref()
            .or(self.builtin.as_deref())
            .unwrap_or(&self.id)
    }
}

/// What the reader says, with the place. The line itself is not shown: a key may stand in it, though it should not.
pub fn unreadable(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let place = before.map_or_else(String::new, |before| {
        let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next());
        let column = column.map_or(0, |line| line.chars().count()) + 1;
        format!("line {line}, column {column}{}: ", key_before(before))
    });
    format!("{place}{}", error.message())
}

/// The key whose value begins where `before` ends.
fn key_before(before: &str) -> String {
    let key = before.trim_end().strip_suffix('=').unwrap_or_default().trim_end();
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    match key.rsplit(|character| !is_part(character)).next() {
        Some(name) if !name.is_empty() => format!(", key `{name}`"),
        Some(_) | None => String::new(),
    }
}

/// Whether a text may name a directory, and stand in a table that a spreadsheet opens: letters, digits, `-`, `_` and `.`,
/// at most [`NAME_LENGTH_MAX`] of them, the first neither `-` nor `.`.
#[must_use]
pub fn is_file_name(text: &str) -> bool {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    let has_length = (1..=NAME_LENGTH_MAX).contains(&text.len());
    has_length && text.chars().all(allowed) && !text.starts_with(['.', '-'])
}

/// The most characters of a name: file systems take 255, and a cell's directory joins several names.
pub const NAME_LENGTH_MAX: usize = 200;

/// Refuses a list in which an id stands twice.
///
/// # Errors
/// [`ExperimentError::Input`] naming it.
pub fn unique<'a>(list: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), ExperimentError> {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            let what = format!("`{list}` has the id {id:?} twice");
            return Err(ExperimentError::input(what, "give each its own id"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"
        name = "try"
        agents = [{ id = "m", builtin = "momentum" }]
        windows = [{ id = "W1" }]
    "#;

    #[test]
    fn the_least_file_takes_the_defaults() {
        let config = ExperimentConfig::parse(LEAST).unwrap();
        assert_eq!(config.masks.len(), 2);
        assert_eq!(
            (config.session.max_tool_calls, config.session.schema_retries),
            (20, 3)
        );
        assert_eq!(config.windows[0].dates().unwrap().0, "2024-04-01");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            (format!("{LEAST}\nwindow = 1"), "unknown field `window`"),
            (
                LEAST.replace("builtin = \"momentum\"", "model = \"x\""),
                "needs either `builtin`",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "command = [\"a\"], external = \"mcp\""),
                "`external` has no meaning",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "command = [\"a\"], temperature = 0.5"),
                "`temperature` has no meaning",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "external = \"mcp\", pass_env = [\"A\"]"),
                "`pass_env` has no meaning",
            ),
            (
                LEAST.replace("name = \"try\"", "name = \"../x\""),
                "`name` must be",
            ),
            (LEAST.replace("[{ id = \"W1\" }]", "[]"), "`windows` is empty"),
            (
                LEAST.replace("[{ id = \"W1\" }]", "[{ id = \"W1\" }, { id = \"W1\" }]"),
                "twice",
            ),
            (format!("seeds = \"1\"\n{LEAST}"), "seeds"),
        ] {
            let error = ExperimentConfig::parse(&text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
