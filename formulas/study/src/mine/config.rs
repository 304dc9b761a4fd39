//! The file of a search for formulas.

use super::keys::{FilterKeys, GeneticKeys, GrowthKeys, MineNoise, RandomKeys, SelectKeys};
use super::llm_keys::LlmKeys;
use crate::FormulaStudyError;
use crate::alpha_study::{StudyLabel, StudyNumeric, StudySplits, StudyUniverse};
use ktd_io::whole_file::read_text;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The most that a file may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

const HINT: &str = "`ktd alpha mine --help` shows a file, and docs/formulas.md names every key";

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<PathBuf>,
    /// A data directory of Qlib.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<PathBuf>,
    /// Train and valid days; a search never reads test days.
    pub splits: StudySplits,
    /// How formulas are found.
    pub method: MineMethod,
    /// Seed of the search and of the noise.
    #[serde(default = "one")]
    pub seed: u64,
    /// What formulas are to predict.
    #[serde(default)]
    pub label: StudyLabel,
    /// Who counts.
    #[serde(default)]
    pub universe: StudyUniverse,
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
    pub noise: MineNoise,
    /// How random formulas are grown.
    #[serde(default)]
    pub growth: GrowthKeys,
    /// Which formulas are left out.
    #[serde(default)]
    pub filter: FilterKeys,
    /// The keys of `method = "random"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomKeys>,
    /// The keys of `method = "gp"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gp: Option<GeneticKeys>,
    /// The keys of `method = "llm"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmKeys>,
    /// Which formulas become the pool.
    #[serde(default)]
    pub select: SelectKeys,
}

const fn half() -> f64 {
    0.5
}

const fn one() -> u64 {
    1
}

const fn ten() -> usize {
    10
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

impl MineStudy {
    /// Reads the file of a search. Paths in it are beside the file.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a file that is none, or whose keys contradict each other.
    pub fn read(path: &Path) -> Result<Self, FormulaStudyError> {
        let text = read_text(path, FILE_LIMIT_BYTES)?;
        let base = path.parent().unwrap_or_else(|| Path::new(""));
        let mine = Self::parse(&text).map_err(|error| {
            FormulaStudyError::input(format_args!("{}: {error}", path.display()), error.hint())
        })?;
        Ok(mine.based(base))
    }

    /// The search with the paths of its files from where its own file lies.
    pub(super) fn based(mut self, base: &Path) -> Self {
        for file in [&mut self.panel, &mut self.bins].into_iter().flatten() {
            *file = base.join(&*file);
        }
        self
    }

    /// The search of a text.
    ///
    /// # Errors
    /// Those of [`MineStudy::read`].
    pub fn parse(text: &str) -> Result<Self, FormulaStudyError> {
        let mine: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            FormulaStudyError::input(format_args!("line {line}: {}", error.message()), HINT)
        })?;
        mine.check()?;
        Ok(mine)
    }

    pub(super) fn check(&self) -> Result<(), FormulaStudyError> {
        let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let is_plain = !self.name.is_empty() && !self.name.starts_with('.') && self.name.chars().all(plain);
        let splits = &self.splits;
        let sigma = self.noise.sigma.unwrap_or(0.0);
        let rules = [
            (
                is_plain,
                "the name is no name of a folder",
                "use letters, digits, `-`, `_` and `.`",
            ),
            (
                self.panel.is_none() || self.bins.is_none(),
                "`panel` and `bins` are both set",
                "keep one",
            ),
            (
                splits.test.is_none(),
                "splits.test is set, and a search never reads test days",
                "remove it: `ktd alpha eval` opens them",
            ),
            (
                splits.train.is_some() && splits.valid.is_some(),
                "splits.train or splits.valid is missing",
                "write splits = { train = [\"2018-01-02\", \"2020-12-31\"], valid = [\"2021-01-04\", \"2021-12-31\"] }",
            ),
            (
                is_share(self.beta),
                "beta is out of range",
                "give a number from 0 to 1",
            ),
            (
                2 <= self.min_names,
                "min_names is below 2",
                "give 2 or more; 10 is usual",
            ),
            (
                sigma.is_finite() && 0.0 <= sigma,
                "noise.sigma is no deviation",
                "give a number from 0 on",
            ),
        ];
        first_broken(&rules)?;
        self.check_growth()?;
        self.check_genetic()?;
        self.check_search()?;
        self.check_select()?;
        self.llm.iter().try_for_each(LlmKeys::check)
    }

    fn check_growth(&self) -> Result<(), FormulaStudyError> {
        let growth = &self.growth;
        let shares = [growth.unary, growth.binary, growth.window, growth.pair];
        let longest = ktd_expressions::MAX_FORMULA_WINDOW;
        let rules = [
            (
                growth.levels <= 8,
                "growth.levels is above 8",
                "give 1 to 8; 4 is usual",
            ),
            (
                is_share(growth.leaf),
                "growth.leaf is out of range",
                "give a probability from 0 to 1",
            ),
            (
                is_whole(&shares),
                "growth.unary, binary, window and pair do not sum to 1",
                "give shares from 0 on that sum to 1",
            ),
            (
                !growth.fields.is_empty(),
                "growth.fields is empty",
                "name a field, such as \"close\"",
            ),
            (
                !growth.windows.is_empty() && growth.windows.iter().all(|rows| (1..=longest).contains(rows)),
                "growth.windows is empty, or has one out of range",
                "give whole numbers from 1 to 5000",
            ),
        ];
        first_broken(&rules)
    }

    fn check_genetic(&self) -> Result<(), FormulaStudyError> {
        let gp = self.gp.clone().unwrap_or_default();
        let shares = [gp.crossover, gp.subtree, gp.hoist, gp.point, gp.insertion];
        let rules = [
            (
                (2..=MAX_POPULATION).contains(&gp.population),
                "gp.population is out of range",
                "give 2 to 100000; 60 is usual",
            ),
            (
                (1..=MAX_POPULATION).contains(&gp.children),
                "gp.children is out of range",
                "give 1 to 100000; 30 is usual",
            ),
            (
                1 <= gp.generations,
                "gp.generations is 0",
                "give 1 or more; 333 is usual",
            ),
            (
                1 <= gp.tournament,
                "gp.tournament is 0",
                "give 1 or more; 4 is usual",
            ),
            (
                is_share(gp.niche),
                "gp.niche is out of range",
                "give a share from 0 to 1; 0.015 is usual",
            ),
            (
                is_whole(&shares),
                "gp.crossover, subtree, hoist, point and insertion do not sum to 1",
                "give shares from 0 on that sum to 1",
            ),
        ];
        first_broken(&rules)
    }

    fn check_search(&self) -> Result<(), FormulaStudyError> {
        let filter = &self.filter;
        let (random, gp) = (
            self.random.clone().unwrap_or_default(),
            self.gp.clone().unwrap_or_default(),
        );
        let is_of_method = match self.method {
            MineMethod::Random => self.gp.is_none() && self.llm.is_none(),
            MineMethod::Gp => self.random.is_none() && self.llm.is_none(),
            MineMethod::Llm => self.random.is_none() && self.gp.is_none() && self.llm.is_some(),
        };
        let rules = [
            (
                is_of_method,
                "keys of another method are set, or those of the model are missing",
                "keep those of the method, or change `method`; \"llm\" needs a table [llm]",
            ),
            (
                1 <= filter.max_nodes,
                "filter.max_nodes is 0",
                "give 1 or more; 32 is usual",
            ),
            (
                is_share(filter.present),
                "filter.present is out of range",
                "give a share from 0 to 1",
            ),
            (
                is_share(filter.constant_days),
                "filter.constant_days is out of range",
                "give a share from 0 to 1",
            ),
            (
                filter.node_cost.is_finite() && 0.0 <= filter.node_cost,
                "filter.node_cost is out of range",
                "give a number from 0 on; 0.001 is usual",
            ),
            (
                (1..=MAX_EVALUATIONS).contains(&random.evaluations)
                    && (1..=MAX_EVALUATIONS).contains(&gp.evaluations),
                "evaluations is out of range",
                "give 1 to 1000000",
            ),
        ];
        first_broken(&rules)
    }

    fn check_select(&self) -> Result<(), FormulaStudyError> {
        let select = &self.select;
        let rules = [
            (
                1 <= select.take,
                "select.take is 0",
                "give 1 or more; 20 is usual",
            ),
            (
                (select.take..=MAX_HALL).contains(&select.hall),
                "select.hall is out of range",
                "give at least `take` and at most 2000; 200 is usual",
            ),
            (
                0.0 < select.correlation && select.correlation <= 1.0,
                "select.correlation is out of range",
                "give a number above 0 and at most 1; 0.7 is usual",
            ),
        ];
        first_broken(&rules)
    }
}

/// Formulas that a search may evaluate: their canonical forms stand in memory.
const MAX_EVALUATIONS: usize = 1_000_000;
/// Formulas of a generation, at most.
const MAX_POPULATION: usize = 100_000;
/// Formulas whose valid scores stand in memory together, at most.
const MAX_HALL: usize = 2_000;

fn is_share(value: f64) -> bool {
    (0.0..=1.0).contains(&value)
}

/// Whether shares are from 0 on and sum to 1.
fn is_whole(shares: &[f64]) -> bool {
    let sum: f64 = shares.iter().sum();
    shares.iter().all(|share| is_share(*share)) && (sum - 1.0).abs() < 1e-9
}

/// The first rule that does not hold, as an error with how to fix it.
fn first_broken(rules: &[(bool, &str, &str)]) -> Result<(), FormulaStudyError> {
    match rules.iter().find(|(holds, _, _)| !holds) {
        Some((_, what, hint)) => Err(FormulaStudyError::input(what, *hint)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{MineMethod, MineStudy};

    const BASE: &str = "name = 'x'\nmethod = 'gp'\n\
                        splits = { train = ['2020-01-02', '2020-12-31'], valid = ['2021-01-04', '2021-12-31'] }\n";

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
            let error = MineStudy::parse(&text).unwrap_err();
            assert!(error.to_string().contains(part), "{to}: {error}");
            assert!(!error.hint().is_empty(), "{to}");
        }
        let mine = MineStudy::parse(BASE).unwrap();
        let gp = mine.gp.unwrap_or_default();
        assert_eq!(
            (mine.method, gp.evaluations, mine.select.hall),
            (MineMethod::Gp, 10_000, 1_000)
        );
    }
}
