//! The file of an experiment.

use super::arena_keys::ArenaKeys;
use crate::bars::RealBars;
use crate::error::StrategyError;
use crate::strategy_source::StrategySource;
use crate::task::SCENARIO_SEED;
use ktd_agents::Dialect;
use ktd_asking::{AskingRole, AskingSettings};
use ktd_boxed::BoxSetup;
use ktd_client::AskedModel;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, unique};
use ktd_experiment::rate_limits::RateLimits;
use ktd_strategy_code::{DocumentId, DriftRule, ITERATIONS_MAX, StrategyContract, StrategyGoal, StrategyId};
use ktd_study::Opening;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What `kind` must be.
pub(crate) const KIND: &str = "strategy-code";
/// How to write the file.
const HINT: &str = "`ktd strategy-code run --help` shows a file";

/// Which strategies are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum StrategyChoice {
    /// A word: `all`.
    Word(String),
    /// These: identifiers, and folders of one's own.
    List(Vec<String>),
}

impl Default for StrategyChoice {
    fn default() -> Self {
        Self::Word("all".to_owned())
    }
}

/// The file of an experiment. Keys that other experiments have mean what they mean there. Where results go and what may be spent
/// is no part of a record.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StrategyExperiment {
    /// `strategy-code`.
    #[serde(alias = "benchmark", skip_serializing)]
    pub kind: Option<String>,
    /// Its name, and that of the folder of its results.
    pub name: String,
    /// The folder of its results, relative to the file (default `results/NAME`).
    #[serde(skip_serializing)]
    pub output: Option<PathBuf>,
    /// Strategies (default those of the benchmark).
    pub strategies: StrategyChoice,
    /// Patches that a model may be asked for (default 3, at most 3).
    pub iterations: usize,
    /// What makes an iteration void.
    pub drift: DriftRule,
    /// Seeds; each is a submission of its own (default 1).
    pub seeds: Vec<u64>,
    /// The seed of scenarios and long runs.
    pub scenario_seed: u64,
    /// How programs are handed their bars: all at once to `run`, or one after the other to `step` (default `run`).
    pub contract: StrategyContract,
    /// File of the secret of the gate on look-ahead, 64 hexadecimal digits, relative to the file (default: drawn, and kept).
    #[serde(skip_serializing)]
    pub secret_file: Option<PathBuf>,
    /// Submissions that are asked for at once (default 4). Rates of a key hold besides.
    pub parallel: usize,
    /// How models review each other's programs, where they are asked to.
    pub arena: Option<ArenaKeys>,
    /// What a model is asked to mend its strategy for (default `none`; `profit` needs `real`).
    pub goal: StrategyGoal,
    /// Real bars that strategies run on (default none).
    pub real: Option<RealBars>,
    /// The folder of results of an experiment with an arena, relative to the file: its ranked versions are mended, with what
    /// reviewers said of them (default none: every submission begins with a build).
    pub continues: Option<PathBuf>,
    /// Models behind endpoints.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    pub dialects: Vec<Dialect>,
    /// What is done about infrastructure faults.
    #[serde(skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent; `cell` caps one model with one seed.
    #[serde(skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
    /// The boxes of this run.
    #[serde(skip)]
    pub boxes: BoxSetup,
}

impl Default for StrategyExperiment {
    fn default() -> Self {
        Self {
            kind: None,
            name: String::new(),
            output: None,
            strategies: StrategyChoice::default(),
            iterations: ITERATIONS_MAX,
            drift: DriftRule::default(),
            seeds: vec![1],
            scenario_seed: SCENARIO_SEED,
            contract: StrategyContract::Run,
            secret_file: None,
            parallel: 4,
            arena: None,
            goal: StrategyGoal::None,
            real: None,
            continues: None,
            agents: Vec::new(),
            dialects: Vec::new(),
            retries: RetryConfig::default(),
            prices: None,
            budget: Caps::default(),
            rates: BTreeMap::new(),
            boxes: BoxSetup::default(),
        }
    }
}

impl StrategyExperiment {
    /// Whether everything fits.
    ///
    /// # Errors
    /// [`StrategyError`] naming the key.
    pub fn check(&self) -> Result<(), StrategyError> {
        let wrong = |what: String| Err(StrategyError::input(what, HINT));
        if let Some(kind) = self.kind.as_ref().filter(|kind| *kind != KIND) {
            return wrong(format!("`kind` is {kind:?}; it must be {KIND:?}"));
        }
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if self.name.is_empty() || !self.name.bytes().all(is_word) {
            return wrong(format!(
                "`name` is {:?}; write letters, digits, - and _",
                self.name
            ));
        }
        if self.iterations > ITERATIONS_MAX {
            return wrong(format!(
                "`iterations` is {}; at most {ITERATIONS_MAX}",
                self.iterations
            ));
        }
        if self.seeds.is_empty() || self.parallel == 0 {
            return wrong("`seeds` must name one, and `parallel` be at least 1".to_owned());
        }
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        unique("seeds", seeds.iter().map(String::as_str))?;
        self.words()?;
        match &self.real {
            Some(real) => real.check()?,
            None if self.goal == StrategyGoal::Profit => {
                return wrong(
                    "`goal` is \"profit\" and `real` is missing; name the bars to earn on".to_owned(),
                );
            }
            None => {}
        }
        self.asking().check()?;
        self.arena.as_ref().map_or(Ok(()), |arena| {
            arena.check()?;
            arena.reviewers(&self.agents).map(drop)
        })
    }

    /// The strategies, in their order; folders are read where the study is opened.
    ///
    /// # Errors
    /// [`StrategyError`] naming one that is unknown, a folder that cannot be read, and two with one identifier.
    pub fn strategies(&self, at: &Opening<'_>) -> Result<Vec<StrategySource>, StrategyError> {
        let words = self.words()?;
        let found: Vec<StrategySource> = words
            .iter()
            .map(|word| StrategySource::find(word, at))
            .collect::<Result<_, _>>()?;
        let ids: Vec<StrategyId> = found.iter().map(StrategySource::id).collect();
        // Folders are named by them, and some file systems take upper and lower case for the same.
        let lower: Vec<String> = ids.iter().map(|id| id.label().to_ascii_lowercase()).collect();
        unique("strategies", lower.iter().map(String::as_str))?;
        Ok(found)
    }

    /// The words that name strategies.
    fn words(&self) -> Result<Vec<&str>, StrategyError> {
        let wrong = |what: String| {
            StrategyError::input(
                what,
                "write strategies = \"all\", or identifiers and folders such as [\"S01\", \"my/strategies/channel\"]",
            )
        };
        match &self.strategies {
            StrategyChoice::Word(word) if word == "all" => {
                Ok(DocumentId::ALL.into_iter().map(DocumentId::label).collect())
            }
            StrategyChoice::Word(word) => Err(wrong(format!("`strategies` is {word:?}"))),
            StrategyChoice::List(list) if list.is_empty() => Err(wrong("`strategies` names none".to_owned())),
            StrategyChoice::List(list) => {
                unique("strategies", list.iter().map(String::as_str))?;
                Ok(list.iter().map(String::as_str).collect())
            }
        }
    }

    /// Who is asked: each seed is a role, and reviews are the last one.
    pub(crate) fn asking(&self) -> AskingSettings<'_> {
        let role = |name: &str, seed: u64, temperature| AskingRole {
            name: format!("{name}{seed}"),
            seed,
            temperature,
        };
        let writers = self.seeds.iter().map(|seed| role("strategies", *seed, None));
        let reviews = self.arena.as_ref();
        let reviews = reviews.map(|arena| role("reviews", self.first_seed(), Some(arena.temperature)));
        AskingSettings {
            roles: writers.chain(reviews).collect(),
            table: "",
            agents: &self.agents,
            takes_programs: false,
            builtin: None,
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: Some(0.0),
        }
    }

    /// Those who are asked for submissions, seed by seed. `base` is where relative paths start.
    pub(crate) fn writers(&self, base: &Path) -> Result<Vec<AskedModel>, StrategyError> {
        let (mut models, _) = self.asking().models(base)?;
        models.truncate(self.seeds.len() * self.agents.len());
        Ok(models)
    }

    /// The first seed.
    pub(crate) fn first_seed(&self) -> u64 {
        self.seeds.first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "agents = [{ id = \"m\", base_url = \"http://127.0.0.1:9/v1\", model = \"m\" }]\n";

    fn here() -> Opening<'static> {
        Opening::unkept(Path::new(""), Path::new(""), 1)
    }

    fn error(keys: &str) -> String {
        let text = format!("{keys}\n{MODEL}");
        match toml::from_str::<StrategyExperiment>(&text) {
            Ok(read) => match read.check() {
                Ok(()) => read.strategies(&here()).unwrap_err().to_string(),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn keys_say_what_is_wrong_with_them() {
        let base = "kind = \"strategy-code\"\nname = \"x\"\n";
        let sound: StrategyExperiment = toml::from_str(&format!("{base}{MODEL}")).unwrap();
        sound.check().unwrap();
        assert_eq!(sound.strategies(&here()).unwrap().len(), 12);
        for (keys, part) in [
            ("benchmark = \"x\"", "`kind` is \"x\""),
            ("kind = \"strategy-code\"", "`name` is \"\""),
            (&format!("{base}iterations = 4"), "`iterations` is 4; at most 3"),
            (&format!("{base}strategies = []"), "`strategies` names none"),
            (
                &format!("{base}strategies = [\"S13\"]"),
                "unknown strategy \"S13\": neither S01 to S12 nor a folder",
            ),
            (
                &format!("{base}strategies = \"some\""),
                "`strategies` is \"some\"",
            ),
            (&format!("{base}seeds = [1, 1]"), "seeds"),
            (&format!("{base}goal = \"profit\""), "`real` is missing"),
            (&format!("{base}goal = \"fame\""), "unknown variant `fame`"),
            (&format!("{base}drift = \"none\""), "unknown variant `none`"),
            (
                &format!("{base}arena = {{ temperature = -1.0 }}"),
                "`arena.temperature` is -1",
            ),
            (
                &format!("{base}arena = {{ repetitions = 4 }}"),
                "`arena.repetitions` is 4; it lies from 5 to 60",
            ),
            (
                &format!("{base}arena = {{ reviewers = [\"x\"] }}"),
                "names \"x\", which is no agent",
            ),
            (
                &format!("{base}arena = {{ reviewers = \"some\" }}"),
                "`arena.reviewers` is \"some\"",
            ),
            (
                &format!("{base}arena = {{ review = \"half\" }}"),
                "unknown variant `half`",
            ),
            (
                &format!("{base}real = {{ symbols = \"all\" }}"),
                "`panel`, `bars` or `minutes` is missing",
            ),
        ] {
            let error = error(keys);
            assert!(error.contains(part), "{keys}: {error}");
        }
    }
}
