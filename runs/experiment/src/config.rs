//! `EXPERIMENT.toml`, typed. Unknown keys are errors; every default is named here and echoed in the header.

use crate::ExperimentError;
use crate::agent::check_builtin;
pub use crate::agent::{AgentConfig, Control};
use crate::caps::Caps;
pub use crate::file_name::{NAME_LENGTH_MAX, is_file_name};
use crate::mask_arm::MaskArm;
use crate::mask_keys::{self, ArmKeys};
use crate::nearest::with_nearest;
use crate::provider::table_with;
use crate::rate_limits::RateLimits;
use crate::rules_config::RulesConfig;
use crate::score_files::hash_score_files;
pub use crate::step_config::{ConstraintFailures, RetryConfig, SessionConfig};
use crate::stop_rules::StopRules;
use crate::window_config::Windows;
use ktd_agents::{Dialect, DialectTable};
use ktd_masking::{Level, MaskSettings, Mode, Numeric};
pub use ktd_tools::ToolLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `kind` of a file of episodes.
pub const EPISODES: &str = "episodes";

/// A whole experiment file. What is only needed while it runs, such as a budget, is in no record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentConfig {
    /// `episodes`, which is also meant where it is left out.
    #[serde(skip_serializing)]
    pub kind: Option<String>,
    /// Name of the experiment and of its results directory.
    pub name: String,
    /// Panel file, relative to the experiment file. Without it, the synthetic market of `synthetic`.
    pub panel: Option<PathBuf>,
    /// The synthetic market, where no panel is named.
    pub synthetic: Option<SyntheticConfig>,
    /// Results directory, relative to the experiment file (default: `results/NAME`).
    #[serde(skip_serializing)]
    pub output: Option<PathBuf>,
    /// File with the experiment's mask key, 64 hexadecimal digits (default: drawn once and kept in `private/`).
    pub mask_key_file: Option<PathBuf>,
    /// How many cells run at once at most (default: those that compute as many as there are threads, of those that ask a model as
    /// many as their key bears).
    #[serde(skip_serializing)]
    pub parallel_cells: Option<usize>,
    /// Memory that the program may have while further cells begin, megabytes (default 2,000).
    #[serde(default = "default_memory_mb", skip_serializing)]
    pub memory_mb: u64,
    /// Who trades.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own, in the form of the table that `ktd vendors` shows; they go before rows of the same id.
    #[serde(default)]
    pub dialects: Vec<Dialect>,
    /// When.
    pub windows: Windows,
    /// What is hidden (default: bright and blinded, exact numbers). `instruction` makes a prompt-only control of bright.
    #[serde(
        default = "default_masks",
        deserialize_with = "mask_keys::masks",
        serialize_with = "mask_keys::write_masks"
    )]
    #[schemars(with = "Vec<ArmKeys>")]
    pub masks: Vec<MaskArm>,
    /// Decision modes (default: `open-research`).
    #[serde(default = "default_modes")]
    pub modes: Vec<Mode>,
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
    pub tools: ToolLimits,
    /// The exchange's rules, where they differ from the defaults.
    #[serde(default)]
    pub rules: RulesConfig,
    /// What is done about infrastructure faults.
    #[serde(default, skip_serializing)]
    pub retries: RetryConfig,
    /// When an agent is stopped that will not come to anything.
    #[serde(default, skip_serializing)]
    pub stop_after: StopRules,
    /// A fixed step that every model is asked over and over, to notice when another one answers (default: none).
    #[serde(skip_serializing)]
    pub canary: Option<CanaryConfig>,
    /// Price table, JSON or TOML, relative to the experiment file. Without it costs are unknown.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent; needs `prices`, and `max_output_tokens` of every model.
    #[serde(default, skip_serializing)]
    pub budget: Caps,
    /// Rates of a key, by the name of its environment variable or the path of its file.
    #[serde(default, skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
}

/// How often the canary step is asked: before the first cell, after so many, and after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CanaryConfig {
    /// Cells that end between two canaries, at least 1.
    pub every_cells: usize,
}

/// A synthetic market.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyntheticConfig {
    /// Seed (default 1).
    pub seed: Option<u64>,
    /// Names (default 300).
    pub names: Option<u32>,
    /// Trading days (default 800).
    pub days: Option<u32>,
}

const fn default_memory_mb() -> u64 {
    2_000
}

fn default_masks() -> Vec<MaskArm> {
    [Level::Bright, Level::Blinded]
        .map(|level| {
            MaskArm::from(MaskSettings {
                level,
                numeric: Numeric::Exact,
            })
        })
        .to_vec()
}

fn default_modes() -> Vec<Mode> {
    vec![Mode::OpenResearch]
}

fn default_seeds() -> Vec<u64> {
    vec![1]
}

impl ExperimentConfig {
    /// Reads an experiment file, and the hashes of its score files.
    ///
    /// # Errors
    /// [`ExperimentError::File`], or [`ExperimentError::Input`] naming key and line.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = ktd_io::whole_file::read_input(path)?;
        let mut config = Self::parse(&text)
            .map_err(|error| ExperimentError::input(format!("{}: {error}", path.display()), error.hint()))?;
        hash_score_files(&mut config.agents, path.parent().unwrap_or(Path::new("")))?;
        Ok(config)
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
        table_with(&self.dialects)
    }

    /// Whether the keys go together.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] naming the key.
    pub fn check(&self) -> Result<(), ExperimentError> {
        if let Some(kind) = self.kind.as_deref().filter(|kind| *kind != EPISODES) {
            let what = format!("`kind` is {kind:?}: it is no experiment of episodes");
            return Err(ExperimentError::input(what, "`ktd run FILE` runs every kind"));
        }
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
        if self.parallel_cells == Some(0) || self.retries.attempts == 0 {
            return Err(needs(
                "`parallel_cells` and `retries.attempts` must be at least 1",
            ));
        }
        self.stop_after
            .check(self.prices.is_some())
            .map_err(|what| needs(&what))?;
        if self.canary.is_some_and(|canary| canary.every_cells == 0) {
            return Err(needs("`canary.every_cells` must be at least 1"));
        }
        let hides_bars = |arm: &&MaskArm| !arm.settings.numeric.takes_formulas();
        if let Some(arm) = self
            .masks
            .iter()
            .find(hides_bars)
            .filter(|_| self.tools.expressions)
        {
            let what = format!(
                "`tools.expressions` does not go with the numeric setting {:?}",
                arm.settings.numeric.label()
            );
            return Err(ExperimentError::input(
                what,
                "percentiles of any formula would undo what percentiles and bands hide: remove the one or the other",
            ));
        }
        self.rules.rules()?;
        let without_pool = self.agents.iter().filter(|agent| agent.pool().is_none());
        for name in without_pool.filter_map(AgentConfig::builtin_name) {
            check_builtin(name)?;
        }
        unique("agents", self.agents.iter().map(|agent| agent.id.as_str()))?;
        let windows = self.windows.listed();
        if let Some(window) = windows.iter().find(|window| !is_file_name(&window.id)) {
            let what = format!(
                "window id {:?} must be letters, digits, `-`, `_` or `.`",
                window.id
            );
            return Err(ExperimentError::input(what, "it names directories and files"));
        }
        unique("windows", windows.iter().map(|window| window.id.as_str()))
    }
}

/// What the reader says, with the place. The line itself is not shown: a key may stand in it, though it should not.
#[must_use]
pub fn unreadable(text: &str, error: &toml::de::Error) -> String {
    let what = with_nearest(error.message());
    match error.span() {
        Some(span) => at_place(text, span.start, &what),
        None => what,
    }
}

/// What is wrong at a byte of a text, with its line, its column and the key whose value begins there.
#[must_use]
pub fn at_place(text: &str, byte: usize, what: &str) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next());
    let column = column.map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}{}: {what}", key_before(before))
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
        assert_eq!(config.windows.listed()[0].dates().unwrap().first, "2024-04-01");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            (format!("{LEAST}\nwindow = 1"), "; did you mean `windows`?"),
            (
                LEAST.replace("builtin = \"momentum\"", "model = \"x\", temprature = 1.0"),
                "; did you mean `temperature`?",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "model = \"x\""),
                "needs either `vendor`",
            ),
            (
                LEAST.replace(", builtin = \"momentum\"", ""),
                "line 3, column 18, key `agents`: agent \"m\" needs either `builtin`",
            ),
            (
                format!("{LEAST}\nmasks = [{{ level = \"dim\" }}]"),
                "unknown mask level \"dim\": it is one of bright, stock-blind, date-blind, blinded",
            ),
            (
                format!("{LEAST}\nmasks = [{{ level = \"date-blind\", instruction = \"blinded\" }}]"),
                "`instruction` stands with `level = \"bright\"` alone, but the level is date-blind",
            ),
            (
                format!("{LEAST}\nmasks = [{{ level = \"bright\", instruction = \"bright\" }}]"),
                "unknown variant `bright`, expected one of `stock-blind`, `date-blind`, `blinded`",
            ),
            (
                format!("{LEAST}\nmodes = [\"guess\"]"),
                "unknown mode \"guess\": it is one of memory-only, fixed-candidate, open-research",
            ),
            (
                format!("{LEAST}\nmodes = [\"open-reserch\"]"),
                "; did you mean `open-research`?",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "command = [\"a\"], external = \"mcp\""),
                "`external` does not belong",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "command = [\"a\"], temperature = 0.5"),
                "`temperature` does not belong",
            ),
            (
                LEAST.replace("builtin = \"momentum\"", "external = \"mcp\", pass_env = [\"A\"]"),
                "`pass_env` does not belong",
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
