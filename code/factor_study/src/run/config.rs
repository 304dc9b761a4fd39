//! The file of an experiment of factor functions, typed.

use super::style::CodeStyle;
use crate::error::CodeError;
use ktd_agents::Dialect;
use ktd_asking::{AskingRole, AskingSettings};
use ktd_boxed::BoxSetup;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, is_file_name};
use ktd_experiment::rate_limits::RateLimits;
use ktd_factor_code::{AccuracyRules, FactorCodeError, MOST_ROUNDS};
use ktd_study::StudyError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The word by which such a file is known.
pub(crate) const BENCHMARK: &str = "factor-code";

/// How much of a verdict is fed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackKey {
    /// Failures of layer 1 alone; any other ends the task.
    Execution,
    /// The first layer that is failed.
    Layers,
}

/// What the form of a reply is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FormatKey {
    /// It is reported.
    #[default]
    Report,
    /// It is a part of layer 4.
    Gate,
}

/// Tasks by name: `all`, ids, categories, or a file of tasks of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum TaskNames {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl TaskNames {
    /// The names that are no file, and the file.
    pub(crate) fn parts(&self) -> Result<(Vec<&str>, Option<&str>), CodeError> {
        let all: Vec<&str> = match self {
            Self::One(name) => vec![name],
            Self::Many(names) => names.iter().map(String::as_str).collect(),
        };
        let is_file = |name: &&str| Path::new(name).extension().is_some_and(|end| end == "jsonl");
        let (files, names): (Vec<&str>, Vec<&str>) = all.into_iter().partition(is_file);
        match files.as_slice() {
            [] if names.is_empty() => Err(CodeError::input("`tasks` is empty", "write tasks = \"all\"")),
            [] => Ok((names, None)),
            [file] => Ok((names, Some(file))),
            _ => Err(CodeError::input(
                "`tasks` names several files",
                "put all tasks into one",
            )),
        }
    }
}

/// A stock for panel Q.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RealStock {
    /// The panel file, relative to the experiment's.
    pub panel: PathBuf,
    /// The code, such as `SH600519`.
    pub symbol: String,
}

/// An experiment of factor functions. Keys that other experiments have mean what they mean there; those of money and places are
/// in no record.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeConfig {
    /// `factor-code`; files of earlier versions call it `benchmark`.
    #[serde(default, skip_serializing, alias = "benchmark")]
    pub kind: Option<String>,
    /// Name of the experiment and of its results directory (default `factor-code`).
    #[serde(default = "default_name")]
    pub name: String,
    /// Results directory, relative to the file (default: `results/NAME`).
    #[serde(default, skip_serializing)]
    pub output: Option<PathBuf>,
    /// Which tasks (default: all).
    #[serde(default = "all_tasks")]
    pub tasks: TaskNames,
    /// How models are asked (default: original).
    #[serde(default = "original")]
    pub styles: Vec<CodeStyle>,
    /// Rounds of a task at most (default 1).
    #[serde(default = "one_round")]
    pub rounds: u32,
    /// What is fed back (default: layers from two rounds on).
    pub feedback: Option<FeedbackKey>,
    /// Answers to each task (default 1); several need a temperature.
    #[serde(default = "one")]
    pub samples: u64,
    /// The k of Pass@k (default: 1).
    #[serde(default = "ones")]
    pub pass_at: Vec<u64>,
    /// Seeds, sent to vendors that take one where an agent asks for it (default: 1).
    #[serde(default = "ones")]
    pub seeds: Vec<u64>,
    /// The seed of panels and perturbations.
    #[serde(default = "panel_seed")]
    pub panel_seed: u64,
    /// File of the secret of the strict gate, 64 hexadecimal digits, relative to the file (default: drawn, and kept).
    #[serde(default, skip_serializing)]
    pub secret_file: Option<PathBuf>,
    /// The stock of panel Q (default: a second synthetic one).
    pub real: Option<RealStock>,
    /// What the form of replies is worth (default: reported).
    #[serde(default)]
    pub csr_format: FormatKey,
    /// Planted programs of each kind that go through the gates (default 4).
    #[serde(default = "four_controls")]
    pub controls: u64,
    /// Boxes side by side (default: one less than there are processors).
    #[serde(default)]
    pub jobs: usize,
    /// Requests to one model at once (default 4). Rates of its key hold besides.
    #[serde(default = "four")]
    pub parallel: usize,
    /// Models behind endpoints, and programs that speak lines.
    #[serde(default)]
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    #[serde(default)]
    pub dialects: Vec<Dialect>,
    /// What is done about infrastructure faults.
    #[serde(default, skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(default, skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent; `cell` caps one bundle.
    #[serde(default, skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(default, skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
    /// How boxes are to be, as the command says.
    #[serde(skip)]
    pub boxes: BoxSetup,
}

fn default_name() -> String {
    BENCHMARK.to_owned()
}

fn all_tasks() -> TaskNames {
    TaskNames::One("all".to_owned())
}

fn original() -> Vec<CodeStyle> {
    vec![CodeStyle::Original]
}

const fn one_round() -> u32 {
    1
}

const fn one() -> u64 {
    1
}

const fn four_controls() -> u64 {
    4
}

const fn four() -> usize {
    4
}

fn ones() -> Vec<u64> {
    vec![1]
}

const fn panel_seed() -> u64 {
    20_260_401
}

impl FactorCodeConfig {
    pub(crate) fn check(&self) -> Result<(), StudyError> {
        if self.kind.as_deref().is_some_and(|kind| kind != BENCHMARK) {
            return Err(StudyError::input(
                format_args!("`kind` is {:?}", self.kind.as_deref().unwrap_or_default()),
                format_args!("write kind = {BENCHMARK:?}"),
            ));
        }
        if !is_file_name(&self.name) {
            return Err(StudyError::input(
                format_args!("the name {:?} cannot name a directory", self.name),
                "use letters, digits, hyphens and underscores",
            ));
        }
        let within = |key: &str, value: u64, most: u64| {
            if (1..=most).contains(&value) {
                return Ok(());
            }
            Err(StudyError::input(
                format_args!("`{key}` is {value}"),
                format_args!("give a number from 1 to {most}"),
            ))
        };
        within("rounds", u64::from(self.rounds), u64::from(MOST_ROUNDS))?;
        within("samples", self.samples, 1_000)?;
        if 0 < self.controls {
            within("controls", self.controls, 1_000)?;
        }
        within(
            "parallel",
            u64::try_from(self.parallel).unwrap_or(u64::MAX),
            1_000,
        )?;
        for k in &self.pass_at {
            if *k == 0 || self.samples < *k {
                let samples = self.samples;
                return Err(CodeError::from(FactorCodeError::TooFewSamples { samples, k: *k }).into());
            }
        }
        self.check_lists()?;
        self.asking().check()?;
        let is_fixed = |agent: &&AgentConfig| {
            // what a program answers is its own affair
            agent.program().is_none() && agent.temperature().is_none_or(|degrees| degrees <= 0.0)
        };
        match self.agents.iter().find(is_fixed) {
            Some(agent) if 1 < self.samples => Err(StudyError::input(
                format_args!(
                    "agent {:?} has no temperature, and `samples` is {}",
                    agent.id, self.samples
                ),
                "give it a temperature above 0, or take one sample: equal answers are one",
            )),
            _ => Ok(()),
        }
    }

    fn check_lists(&self) -> Result<(), StudyError> {
        let twice = |key: &str| {
            StudyError::input(
                format_args!("`{key}` is empty or names one entry twice"),
                "name each once",
            )
        };
        let styles: BTreeSet<CodeStyle> = self.styles.iter().copied().collect();
        let seeds: BTreeSet<u64> = self.seeds.iter().copied().collect();
        if styles.is_empty() || styles.len() < self.styles.len() {
            return Err(twice("styles"));
        }
        if seeds.is_empty() || seeds.len() < self.seeds.len() {
            return Err(twice("seeds"));
        }
        Ok(())
    }

    /// What is fed back between rounds.
    #[must_use]
    pub fn feedback_key(&self) -> FeedbackKey {
        self.feedback.unwrap_or(if 1 < self.rounds {
            FeedbackKey::Layers
        } else {
            FeedbackKey::Execution
        })
    }

    /// By which rules functions are judged.
    #[must_use]
    pub const fn rules(&self) -> AccuracyRules {
        AccuracyRules {
            gates_format: matches!(self.csr_format, FormatKey::Gate),
            ..AccuracyRules::DEFAULT
        }
    }

    /// What the models of these cells are asked for, in the cells' order.
    fn roles(&self) -> Vec<AskingRole> {
        let seeds = self.seeds.iter();
        let roles = seeds.flat_map(|seed| self.styles.iter().map(move |style| (style, *seed)));
        let roles = roles.map(|(style, seed)| AskingRole {
            name: format!("{BENCHMARK}__{}__s{seed}", style.name()),
            seed,
            temperature: None,
        });
        roles.collect()
    }

    pub(crate) fn asking(&self) -> AskingSettings<'_> {
        AskingSettings {
            roles: self.roles(),
            table: "",
            agents: &self.agents,
            takes_programs: true,
            builtin: None,
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: Some(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENTS: &str = "agents = [{ id = 'w', base_url = 'http://127.0.0.1:9/v1', model = 'm' }]\n";

    fn parsed(text: &str) -> Result<FactorCodeConfig, String> {
        let config: FactorCodeConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    fn error(text: &str) -> String {
        parsed(&format!("{text}{AGENTS}")).unwrap_err()
    }

    #[test]
    fn a_file_without_keys_asks_once_for_all_tasks() {
        let config = parsed(&format!("benchmark = 'factor-code'\n{AGENTS}")).unwrap();
        assert_eq!(
            (config.rounds, config.samples, config.panel_seed),
            (1, 1, 20_260_401)
        );
        assert_eq!(config.feedback_key(), FeedbackKey::Execution);
        assert_eq!(config.tasks.parts().unwrap(), (vec!["all"], None));
        let several = FactorCodeConfig { rounds: 3, ..config };
        assert_eq!(several.feedback_key(), FeedbackKey::Layers);
    }

    #[test]
    fn keys_that_do_not_fit_are_named() {
        for (text, part) in [
            ("rounds = 0\n", "`rounds` is 0"),
            ("rounds = 11\n", "`rounds` is 11"),
            ("samples = 0\n", "`samples` is 0"),
            ("samples = 2\npass_at = [3]\n", "Pass@3 needs at least 3 samples"),
            ("pass_at = [0]\n", "Pass@0"),
            ("samples = 2\n", "has no temperature"),
            ("styles = ['terse']\n", "unknown variant `terse`"),
            ("styles = []\n", "`styles` is empty"),
            ("styles = ['cot', 'cot']\n", "twice"),
            ("seeds = [1, 1]\n", "`seeds`"),
            ("feedback = 'all'\n", "unknown variant `all`"),
            ("round = 3\n", "unknown field `round`"),
            ("name = 'a/b'\n", "cannot name a directory"),
            ("parallel = 0\n", "`parallel` is 0"),
        ] {
            let error = error(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(error("benchmark = 'other'\n").contains("\"other\""));
        let nobody = parsed("").unwrap_err();
        assert!(nobody.contains("`agents` names no model"), "{nobody}");
    }

    #[test]
    fn a_program_may_answer_whatever_its_temperature_and_a_client_that_calls_may_not() {
        let text = |agent: &str| format!("samples = 2\nagents = [{{ id = 'a', {agent} }}]\n");
        let program = parsed(&text("command = ['./agent']")).unwrap();
        assert!(program.agents[0].program().is_some());
        let client = parsed(&text("external = 'mcp'")).unwrap_err();
        assert!(client.contains("is not a language model"), "{client}");
    }

    #[test]
    fn tasks_are_names_or_one_file() {
        let names = |names: &[&str]| TaskNames::Many(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(
            names(&["causal", "mine.jsonl"]).parts().unwrap(),
            (vec!["causal"], Some("mine.jsonl"))
        );
        assert!(names(&[]).parts().is_err());
        assert!(names(&["a.jsonl", "b.jsonl"]).parts().is_err());
    }
}
