//! The file of a search for formulas.

use crate::keys::{MOST, StudyNoise, StudyNumeric, StudySplits, based, check_market, first_seed, half, ten};
use ktd_agents::Dialect;
use ktd_alphas::{FormulaGrowth, GeneticSettings, LabelKind, NoiseMode};
use ktd_asking::{AskingRole, AskingSettings};
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::{RetryConfig, SessionConfig};
use ktd_experiment::rate_limits::RateLimits;
use ktd_formulas::FormulaUniverse;
use ktd_study::{StudyError, within};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Formulas that a search may evaluate: their canonical forms stand in memory.
const MAX_EVALUATIONS: usize = 1_000_000;
/// Formulas of a generation, at most.
const MAX_POPULATION: usize = 100_000;
/// Formulas whose valid scores stand in memory together, at most.
const MAX_HALL: usize = 2_000;

/// What is searched, on what, and how.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MineStudy {
    /// `alpha-mine`.
    #[serde(default, skip_serializing)]
    pub kind: Option<String>,
    /// Its name: that of its folder of results, and of its pool.
    pub name: String,
    /// A panel file; without it and without `bins`, the synthetic market.
    #[serde(default)]
    pub panel: Option<PathBuf>,
    /// A data directory of Qlib.
    #[serde(default)]
    pub bins: Option<PathBuf>,
    /// Train and valid days; a search never reads test days.
    pub splits: StudySplits,
    /// How formulas are found.
    pub method: MineMethod,
    /// Seed of the search and of the noise.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// What formulas are to predict.
    #[serde(default)]
    pub label: LabelKind,
    /// Who counts.
    #[serde(default)]
    pub universe: FormulaUniverse,
    /// How columns and elements are computed.
    #[serde(default)]
    pub numeric: StudyNumeric,
    /// The weight of the correlation of values in predictive power.
    #[serde(default = "half")]
    pub beta: f64,
    /// Fewest usable names of a day.
    #[serde(default = "ten")]
    pub min_names: usize,
    /// How inputs are perturbed for the robustness that is shown.
    #[serde(default)]
    pub noise: StudyNoise,
    /// How random formulas are grown.
    #[serde(default)]
    pub growth: FormulaGrowth,
    /// Which formulas are left out.
    #[serde(default)]
    pub filter: FilterKeys,
    /// The keys of `method = "random"`.
    #[serde(default)]
    pub random: Option<RandomKeys>,
    /// The keys of `method = "gp"`.
    #[serde(default)]
    pub gp: Option<GeneticSettings>,
    /// The keys of `method = "llm"`.
    #[serde(default)]
    pub llm: Option<LlmKeys>,
    /// Which formulas become the pool.
    #[serde(default)]
    pub select: SelectKeys,
}

/// A way to find formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MineMethod {
    /// Random growth alone.
    Random,
    /// Genetic programming.
    Gp,
    /// A language model, in rounds.
    Llm,
}

impl MineMethod {
    /// Its name in a file.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Gp => "gp",
            Self::Llm => "llm",
        }
    }
}

/// Which formulas are left out, and what a node costs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterKeys {
    /// Nodes of a formula, at most.
    pub max_nodes: usize,
    /// The share of the universe's train cells on which a formula must be present.
    pub present: f64,
    /// The share of train days on which it may be constant.
    pub constant_days: f64,
    /// Taken off the fitness for each node.
    pub node_cost: f64,
}

impl Default for FilterKeys {
    fn default() -> Self {
        Self {
            max_nodes: 32,
            present: 0.8,
            constant_days: 0.1,
            node_cost: 0.001,
        }
    }
}

/// The keys of the search by random growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomKeys {
    /// Formulas that are evaluated.
    pub evaluations: usize,
}

impl Default for RandomKeys {
    fn default() -> Self {
        Self { evaluations: 10_000 }
    }
}

/// The keys of a search by a language model. Keys that experiments have mean what they mean there.
///
/// What decides no request, as prices and budget, is no part of a search's identity and may be changed at any time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmKeys {
    /// The model: one.
    pub agents: Vec<AgentConfig>,
    /// Vendors of one's own.
    pub dialects: Vec<Dialect>,
    /// Conversations (default 10).
    pub rounds: usize,
    /// Formulas that each round asks for (default 8).
    pub ask: usize,
    /// How often a bad answer may be corrected (default 3).
    pub schema_retries: u32,
    /// What is done about infrastructure faults.
    #[serde(skip_serializing)]
    pub retries: RetryConfig,
    /// Price table, relative to the file.
    #[serde(skip_serializing)]
    pub prices: Option<PathBuf>,
    /// What may be spent.
    #[serde(skip_serializing)]
    pub budget: Caps,
    /// Rates of a key.
    #[serde(skip_serializing)]
    pub rates: BTreeMap<String, RateLimits>,
}

impl Default for LlmKeys {
    fn default() -> Self {
        Self {
            agents: Vec::new(),
            dialects: Vec::new(),
            rounds: 10,
            ask: 8,
            schema_retries: SessionConfig::default().schema_retries,
            retries: RetryConfig::default(),
            prices: None,
            budget: Caps::default(),
            rates: BTreeMap::new(),
        }
    }
}

impl LlmKeys {
    fn check(&self) -> Result<(), StudyError> {
        within("llm.rounds", self.rounds, 1..=1_000)?;
        within("llm.ask", self.ask, 1..=32)?;
        self.asking(0).check()?;
        if self.agents.len() == 1 {
            return Ok(());
        }
        Err(StudyError::input(
            "`llm.agents` names several models",
            "keep one: a pool has one finder; give each model a search of its own",
        ))
    }

    pub(super) fn asking(&self, seed: u64) -> AskingSettings<'_> {
        AskingSettings {
            roles: AskingRole::one("miner", seed),
            table: "llm",
            agents: &self.agents,
            takes_programs: false,
            builtin: None,
            dialects: &self.dialects,
            retries: self.retries,
            prices: self.prices.as_deref(),
            budget: &self.budget,
            rates: &self.rates,
            temperature: None,
        }
    }
}

/// Which formulas become the pool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectKeys {
    /// Formulas of the pool, at most.
    pub take: usize,
    /// What the size of the mean daily rank correlation of each two stays below.
    pub correlation: f64,
    /// The fittest formulas that are looked at, of which each that orders names unlike the fitter ones may join.
    pub hall: usize,
}

impl Default for SelectKeys {
    fn default() -> Self {
        Self {
            take: 20,
            correlation: 0.7,
            hall: 1_000,
        }
    }
}

impl MineStudy {
    /// How random formulas are grown, of fields in lower case.
    pub(super) fn growth(&self) -> FormulaGrowth {
        FormulaGrowth {
            fields: self
                .growth
                .fields
                .iter()
                .map(|field| field.to_lowercase())
                .collect(),
            ..self.growth.clone()
        }
    }

    /// Normal draws of noise.
    pub(super) fn draws(&self) -> usize {
        self.noise.draws.unwrap_or(1)
    }

    /// The search with the path of its market from where its file lies.
    pub(super) fn based(mut self, base: &Path) -> Self {
        based([&mut self.panel, &mut self.bins], base);
        self
    }

    pub(super) fn check(&self) -> Result<(), StudyError> {
        let market = (&self.panel, &self.bins);
        check_market(&self.name, market, (self.beta, self.min_names, self.noise))?;
        self.check_method()?;
        if self.noise.mode != NoiseMode::Input {
            return Err(StudyError::input(
                "noise.mode is set, and a search perturbs inputs",
                "remove it",
            ));
        }
        if self.splits.test.is_some() {
            return Err(StudyError::input(
                "splits.test is set, and a search never reads test days",
                "remove it: `ktd alpha eval` opens them",
            ));
        }
        if self.splits.train.is_none() || self.splits.valid.is_none() {
            return Err(StudyError::input(
                "splits.train or splits.valid is missing",
                "write splits = { train = [\"2018-01-02\", \"2020-12-31\"], valid = [\"2021-01-04\", \"2021-12-31\"] }",
            ));
        }
        let filter = &self.filter;
        within("filter.max_nodes", filter.max_nodes, 1..=100_000)?;
        within("filter.present", filter.present, 0.0..=1.0)?;
        within("filter.constant_days", filter.constant_days, 0.0..=1.0)?;
        within("filter.node_cost", filter.node_cost, 0.0..=MOST)?;
        let select = &self.select;
        within("select.take", select.take, 1..=MAX_HALL)?;
        within("select.hall", select.hall, select.take..=MAX_HALL)?;
        within("select.correlation", select.correlation, 0.001..=1.0)
    }

    fn check_method(&self) -> Result<(), StudyError> {
        let given = [self.random.is_some(), self.gp.is_some(), self.llm.is_some()];
        let is_of_method = match self.method {
            MineMethod::Random => matches!(given, [_, false, false]),
            MineMethod::Gp => matches!(given, [false, _, false]),
            MineMethod::Llm => matches!(given, [false, false, true]),
        };
        if !is_of_method {
            return Err(StudyError::input(
                "keys of another method are set, or those of the model are missing",
                "keep those of the method, or change `method`; \"llm\" needs a table [llm]",
            ));
        }
        let growth = &self.growth;
        within("growth.levels", growth.levels, 1..=8)?;
        within("growth.leaf", growth.leaf, 0.0..=1.0)?;
        for rows in &growth.windows {
            within("growth.windows", *rows, 1..=ktd_expressions::MAX_FORMULA_WINDOW)?;
        }
        if growth.fields.is_empty() || growth.windows.is_empty() {
            return Err(StudyError::input(
                "growth.fields or growth.windows is empty",
                "name a field, such as \"close\", and a window, such as 5",
            ));
        }
        let shares = [growth.unary, growth.binary, growth.window, growth.pair];
        check_shares("growth.unary, binary, window and pair", &shares)?;
        within(
            "random.evaluations",
            self.random.unwrap_or_default().evaluations,
            1..=MAX_EVALUATIONS,
        )?;
        let gp = self.gp.unwrap_or_default();
        within("gp.evaluations", gp.evaluations, 1..=MAX_EVALUATIONS)?;
        within("gp.population", gp.population, 2..=MAX_POPULATION)?;
        within("gp.children", gp.children, 1..=MAX_POPULATION)?;
        within("gp.generations", gp.generations, 1..=MAX_EVALUATIONS)?;
        within("gp.tournament", gp.tournament, 1..=MAX_POPULATION)?;
        within("gp.niche", gp.niche, 0.0..=1.0)?;
        let shares = [gp.crossover, gp.subtree, gp.hoist, gp.point, gp.insertion];
        check_shares("gp.crossover, subtree, hoist, point and insertion", &shares)?;
        self.llm.iter().try_for_each(LlmKeys::check)
    }
}

/// Refuses shares that are not from 0 on and sum to 1.
fn check_shares(keys: &str, shares: &[f64]) -> Result<(), StudyError> {
    let sum: f64 = shares.iter().sum();
    if shares.iter().all(|share| (0.0..=1.0).contains(share)) && (sum - 1.0).abs() < 1e-9 {
        return Ok(());
    }
    Err(StudyError::input(
        format_args!("{keys} do not sum to 1"),
        "give shares from 0 on that sum to 1",
    ))
}

#[cfg(test)]
mod tests {
    use super::{LlmKeys, MineMethod, MineStudy};
    use ktd_study::StudyError;

    const BASE: &str = "name = 'x'\nmethod = 'gp'\n\
                        splits = { train = ['2020-01-02', '2020-12-31'], valid = ['2021-01-04', '2021-12-31'] }\n";

    fn read(text: &str) -> Result<MineStudy, StudyError> {
        let study: MineStudy =
            toml::from_str(text).map_err(|error| StudyError::input(error, "as in the kernel"))?;
        study.check().map(|()| study)
    }

    #[test]
    fn keys_that_contradict_say_which() {
        for (from, to, part) in [
            ("name = 'x'", "name = '../x'", "no name of a folder"),
            ("name = 'x'", "name = 'x'\ncolour = 1", "unknown field `colour`"),
            (
                "name = 'x'",
                "name = 'x'\ngp = { colour = 1 }",
                "unknown field `colour`",
            ),
            ("name = 'x'", "name = 'x'\npanel = 'p'\nbins = 'b'", "both set"),
            ("'gp'", "'annealing'", "annealing"),
            ("'gp'", "'random'\ngp = { population = 50 }", "another method"),
            ("'gp'", "'gp'\nrandom = { evaluations = 50 }", "another method"),
            ("'gp'", "'gp'\ngp = { population = 1 }", "gp.population"),
            ("'gp'", "'gp'\ngp = { generations = 0 }", "gp.generations"),
            ("'gp'", "'gp'\ngp = { children = 0 }", "gp.children"),
            ("'gp'", "'gp'\ngp = { niche = -0.1 }", "gp.niche"),
            ("'gp'", "'gp'\ngp = { crossover = 0.9 }", "sum to 1"),
            ("'gp'", "'gp'\ngp = { evaluations = 0 }", "evaluations"),
            ("'gp'", "'gp'\ngrowth = { unary = 0.5 }", "sum to 1"),
            ("'gp'", "'gp'\ngrowth = { windows = [0] }", "growth.windows"),
            ("'gp'", "'gp'\ngrowth = { fields = [] }", "growth.fields"),
            ("'gp'", "'gp'\nfilter = { present = 1.5 }", "filter.present"),
            ("'gp'", "'gp'\nfilter = { max_nodes = 0 }", "filter.max_nodes"),
            ("'gp'", "'gp'\nselect = { take = 30, hall = 20 }", "select.hall"),
            (
                "'gp'",
                "'gp'\nselect = { correlation = 0.0 }",
                "select.correlation",
            ),
            ("'gp'", "'gp'\nnoise = { sigma = -0.1 }", "noise.sigma"),
            ("'gp'", "'gp'\nmin_names = 1", "min_names"),
            ("'gp'", "'gp'\nbeta = nan", "beta"),
            ("valid = [", "test = [", "never reads test days"),
            (
                ", valid = ['2021-01-04', '2021-12-31']",
                "",
                "splits.valid is missing",
            ),
        ] {
            let text = BASE.replace(from, to);
            assert_ne!(text, BASE, "{from}");
            let error = read(&text).unwrap_err();
            assert!(error.to_string().contains(part), "{to}: {error}");
            assert!(!error.hint().is_empty(), "{to}");
        }
        let mine = read(BASE).unwrap();
        let gp = mine.gp.unwrap_or_default();
        assert_eq!(
            (mine.method, gp.evaluations, mine.select.hall),
            (MineMethod::Gp, 10_000, 1_000)
        );
    }

    #[test]
    fn a_search_has_one_model() {
        let agent = |id: &str| format!("{{ id = '{id}', base_url = 'http://127.0.0.1:9/v1', model = 'm' }}");
        let one = format!("agents = [{}]\n", agent("a"));
        let keys: LlmKeys = toml::from_str(&one).unwrap();
        keys.check().unwrap();
        assert_eq!((keys.rounds, keys.ask), (10, 8));
        for (text, part) in [
            (String::new(), "names no model"),
            (
                format!("agents = [{}, {}]", agent("a"), agent("b")),
                "several models",
            ),
            (format!("{one}rounds = 0"), "llm.rounds is 0"),
            (format!("{one}ask = 33"), "llm.ask is 33"),
        ] {
            let keys: LlmKeys = toml::from_str(&text).unwrap();
            let error = keys.check().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
