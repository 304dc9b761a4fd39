//! The file of a study of alphas.

use crate::FormulaStudyError;
use crate::judge_config::JudgeConfig;
use crate::study_exchange::StudyExchange;
use ktd_env::TradeDate;
use ktd_expressions::FormulaPrecision;
use ktd_io::whole_file::read_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most that a study's file may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// The most draws of a law: each evaluates every formula once.
const MAX_DRAWS: usize = 1000;

const HINT: &str = "`ktd alpha eval --help` shows a file, and docs/formulas.md names every key";

/// What a study of alphas evaluates, on what, and how.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaStudy {
    /// `alpha-eval`.
    #[serde(default, skip_serializing)]
    pub kind: Option<String>,
    /// Its name: that of its folder of results.
    pub name: String,
    /// A panel file; without it and without `bins`, the synthetic market.
    #[serde(default)]
    pub panel: Option<PathBuf>,
    /// A data directory of Qlib.
    #[serde(default)]
    pub bins: Option<PathBuf>,
    /// The days.
    pub splits: StudySplits,
    /// What alphas are to predict.
    #[serde(default)]
    pub label: StudyLabel,
    /// The pools.
    pub pools: Vec<PoolSource>,
    /// Who scores the logic of formulas. Scores decide figures, not how they were asked for.
    #[serde(default, skip_serializing)]
    pub judge: Option<JudgeConfig>,
    /// How inputs are perturbed for robustness.
    #[serde(default)]
    pub noise: StudyNoise,
    /// Whether an alpha's sign is learned.
    #[serde(default)]
    pub orientation: StudyOrientation,
    /// Who counts.
    #[serde(default)]
    pub universe: StudyUniverse,
    /// The account that trades each alpha through the simulation's exchange; none leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<StudyExchange>,
    /// How columns and elements are computed.
    #[serde(default)]
    pub numeric: StudyNumeric,
    /// The weight of the correlation of values in predictive power.
    #[serde(default = "half")]
    pub beta: f64,
    /// Fewest usable names of a day.
    #[serde(default = "ten")]
    pub min_names: usize,
    /// The penalty of the ridge combination.
    #[serde(default = "one")]
    pub ridge_penalty: f64,
    /// Whether the test split stays closed: `--no-test`.
    #[serde(default, skip_serializing_if = "is_open")]
    pub test_closed: bool,
    /// Megabytes that the scores of alphas evaluated together may take (default 256); no figure depends on it.
    #[serde(default, skip_serializing)]
    pub batch_mb: Option<usize>,
    /// Seed of noise and intervals.
    #[serde(default = "first_seed")]
    pub seed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_open(test_closed: &bool) -> bool {
    !*test_closed
}

const fn half() -> f64 {
    0.5
}

const fn one() -> f64 {
    1.0
}

const fn ten() -> usize {
    10
}

const fn first_seed() -> u64 {
    1
}

/// First and last day of each split, both included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StudySplits {
    /// Days from which signs and weights are learned.
    #[serde(default)]
    pub train: Option<[String; 2]>,
    /// Days by which alphas are chosen.
    #[serde(default)]
    pub valid: Option<[String; 2]>,
    /// Days that are opened once.
    #[serde(default)]
    pub test: Option<[String; 2]>,
}

/// The returns that alphas are to predict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyLabel {
    /// From the open of the next day to that of the day after.
    #[default]
    NextOpen,
    /// From the signal's own close to the next: published studies' label, and a fill nobody gets.
    Close,
}

/// Where the formulas of a pool are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSource {
    /// The pool's name.
    pub id: String,
    /// A built-in set.
    #[serde(default)]
    pub builtin: Option<String>,
    /// A file of formulas.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// The formulas of the file that belong to this pool; none for all.
    #[serde(default)]
    pub pool: Option<String>,
    /// A folder that a search has written.
    #[serde(default)]
    pub mined: Option<PathBuf>,
    /// How many formulas are kept, from the first on.
    #[serde(default)]
    pub first: Option<usize>,
    /// The last day that whoever made the formulas may know of: a model's last day of training, or `unknown`.
    #[serde(default)]
    pub known_until: Option<String>,
}

/// What is perturbed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseMode {
    /// Prices and volumes that formulas read, each by a draw of its own.
    #[default]
    Input,
    /// The level of a bar's prices: one draw a bar.
    Bar,
    /// The alpha's own values: no formula is evaluated again.
    Output,
    /// The same as a published program has it: correlation of values, and the deviation of the index's level scaled to [0, 1].
    Code,
}

impl NoiseMode {
    /// Its word in files and heads.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Bar => "bar",
            Self::Output => "output",
            Self::Code => "code",
        }
    }
}

/// How inputs are perturbed.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StudyNoise {
    /// What is perturbed.
    #[serde(default)]
    pub mode: NoiseMode,
    /// Draws of each law; 0 leaves robustness out.
    #[serde(default = "five")]
    pub draws: usize,
    /// The deviation of a factor; none for that of the index's daily returns.
    #[serde(default)]
    pub sigma: Option<f64>,
}

const fn five() -> usize {
    5
}

impl Default for StudyNoise {
    fn default() -> Self {
        Self {
            mode: NoiseMode::Input,
            draws: five(),
            sigma: None,
        }
    }
}

/// How an alpha's sign is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyOrientation {
    /// Turned where its rank correlation on train days is below 0.
    #[default]
    Train,
    /// As written.
    None,
}

/// Which names count on a day, of those with a bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyUniverse {
    /// Members of the index; of a Qlib directory those of `instruments/all.txt`.
    #[default]
    Members,
    /// All.
    All,
}

/// How columns and elements are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyNumeric {
    /// Qlib's own types.
    #[default]
    Qlib,
    /// Everything in float64.
    F64,
}

impl StudyNumeric {
    /// The engine's precision.
    #[must_use]
    pub const fn precision(self) -> FormulaPrecision {
        match self {
            Self::Qlib => FormulaPrecision::Qlib,
            Self::F64 => FormulaPrecision::Float64,
        }
    }
}

impl AlphaStudy {
    /// Reads a study's file. Paths in it are beside the file.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a file that is none, or whose keys contradict each other.
    pub fn read(path: &Path) -> Result<Self, FormulaStudyError> {
        let text = read_text(path, FILE_LIMIT_BYTES)?;
        let base = path.parent().unwrap_or_else(|| Path::new(""));
        let study = Self::parse(&text).map_err(|error| {
            FormulaStudyError::input(format_args!("{}: {error}", path.display()), error.hint())
        })?;
        Ok(study.based(base))
    }

    /// The keys that decide figures: where files lie does not, their hashes stand beside.
    pub(crate) fn without_places(&self) -> serde_json::Value {
        let mut study = self.clone();
        (study.panel, study.bins) = (None, None);
        for pool in &mut study.pools {
            (pool.file, pool.mined) = (None, None);
        }
        // Numbers, text and lists of them cannot fail to be written.
        serde_json::to_value(&study).unwrap_or_default()
    }

    /// The study with the paths of its files from where its own file lies.
    pub(crate) fn based(mut self, base: &Path) -> Self {
        let files = self
            .pools
            .iter_mut()
            .flat_map(|pool| [&mut pool.file, &mut pool.mined]);
        for file in files.chain([&mut self.panel, &mut self.bins]).flatten() {
            *file = base.join(&*file);
        }
        self
    }

    /// The study of a text.
    ///
    /// # Errors
    /// Those of [`AlphaStudy::read`].
    pub fn parse(text: &str) -> Result<Self, FormulaStudyError> {
        let study: Self = toml::from_str(text).map_err(|error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            FormulaStudyError::input(format_args!("line {line}: {}", error.message()), HINT)
        })?;
        study.check()?;
        Ok(study)
    }

    pub(crate) fn check(&self) -> Result<(), FormulaStudyError> {
        let invalid = |what: String, hint: &str| Err(FormulaStudyError::input(what, hint));
        if !is_plain(&self.name) {
            return invalid(
                format!("the name {:?} is no name of a folder", self.name),
                "use letters, digits, `-`, `_` and `.`",
            );
        }
        if self.panel.is_some() && self.bins.is_some() {
            return invalid("`panel` and `bins` are both set".to_owned(), "keep one");
        }
        if !(0.0..=1.0).contains(&self.beta) {
            return invalid(format!("beta is {}", self.beta), "give a number from 0 to 1");
        }
        if !(self.ridge_penalty.is_finite() && 0.0 <= self.ridge_penalty) {
            return invalid(
                format!("ridge_penalty is {}", self.ridge_penalty),
                "give a number from 0 on",
            );
        }
        if self
            .noise
            .sigma
            .is_some_and(|sigma| !(sigma.is_finite() && 0.0 <= sigma))
        {
            return invalid(
                "noise.sigma is no deviation".to_owned(),
                "give a number from 0 on",
            );
        }
        if MAX_DRAWS < self.noise.draws {
            return invalid(
                format!("noise.draws is {}", self.noise.draws),
                "give 1000 or fewer; 5 is usual",
            );
        }
        if self.min_names < 2 {
            return invalid("min_names is below 2".to_owned(), "give 2 or more; 10 is usual");
        }
        if self.pools.is_empty() {
            return invalid(
                "there is no pool".to_owned(),
                "write pools = [{ id = \"alpha158\", builtin = \"alpha158\" }]",
            );
        }
        if let Some(exchange) = &self.exchange {
            exchange.check()?;
            if self.bins.is_some() {
                return invalid(
                    "`exchange` and `bins` are both set: bins hold no prices as traded".to_owned(),
                    "import a panel with `ktd data import`, or remove `exchange`",
                );
            }
        }
        self.check_pools()
    }

    fn check_pools(&self) -> Result<(), FormulaStudyError> {
        let mut seen = BTreeSet::new();
        for pool in &self.pools {
            if !seen.insert(&pool.id) {
                return Err(FormulaStudyError::input(
                    format_args!("two pools have the id {:?}", pool.id),
                    "give each pool an id of its own",
                ));
            }
            let sources = [pool.builtin.is_some(), pool.file.is_some(), pool.mined.is_some()];
            if sources.into_iter().filter(|is_set| *is_set).count() != 1 {
                return Err(FormulaStudyError::input(
                    format_args!(
                        "pool {:?} must have one of `builtin`, `file` and `mined`",
                        pool.id
                    ),
                    "keep one of the three",
                ));
            }
        }
        Ok(())
    }
}

/// Whether a name can be a folder and nothing else.
fn is_plain(name: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
}

/// A day of a split.
pub(crate) fn split_day(split: &str, text: &str) -> Result<TradeDate, FormulaStudyError> {
    TradeDate::parse(text).map_err(|error| {
        FormulaStudyError::input(
            format_args!("split {split}: {text:?}: {error}"),
            "write days as 2024-01-02",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::AlphaStudy;

    const SPLITS: &str = "splits = { train = ['2020-01-02', '2020-12-31'] }\n";

    #[test]
    fn keys_that_contradict_say_which() {
        let one = "pools = [{ id = 'a', builtin = 'alpha158' }]\n";
        for (keys, part) in [
            ("name = 'x'\npools = []\n", "there is no pool"),
            ("name = 'x'\ncolour = 1\n", "unknown field `colour`"),
            (
                "name = 'x'\npools = [{ id = 'a', builtin = 'alpha158' }, { id = 'a', file = 'f.csv' }]\n",
                "two pools have the id \"a\"",
            ),
            (
                "name = 'x'\npools = [{ id = 'a' }]\n",
                "one of `builtin`, `file` and `mined`",
            ),
            (&format!("name = '../x'\n{one}"), "is no name of a folder"),
            (&format!("name = 'x'\nbeta = 2.0\n{one}"), "beta is 2"),
            (&format!("name = 'x'\nmin_names = 1\n{one}"), "min_names"),
            (&format!("name = 'x'\npanel = 'p'\nbins = 'b'\n{one}"), "both set"),
            (
                &format!("name = 'x'\nnoise = {{ sigma = -1.0 }}\n{one}"),
                "noise.sigma",
            ),
            (
                &format!("name = 'x'\nnoise = {{ draws = 1001 }}\n{one}"),
                "noise.draws is 1001",
            ),
            (
                &format!("name = 'x'\nexchange = {{ top = 0 }}\n{one}"),
                "exchange.top",
            ),
            (
                &format!("name = 'x'\nexchange = {{ cash = 1 }}\n{one}"),
                "exchange.cash",
            ),
            (
                &format!("name = 'x'\nexchange = {{ splits = ['later'] }}\n{one}"),
                "exchange.splits names \"later\"",
            ),
            (
                &format!("name = 'x'\nexchange = {{ splits = [] }}\n{one}"),
                "exchange.splits is empty",
            ),
            (
                &format!("name = 'x'\nbins = 'b'\nexchange = {{}}\n{one}"),
                "no prices as traded",
            ),
            (&format!("name = 'x'\nnoise = {{ mode = 'loud' }}\n{one}"), "loud"),
        ] {
            let error = AlphaStudy::parse(&format!("{SPLITS}{keys}")).unwrap_err();
            assert!(error.to_string().contains(part), "{keys}: {error}");
            assert!(!error.hint().is_empty(), "{keys}");
        }
        let study = AlphaStudy::parse(&format!("name = 'x'\n{SPLITS}{one}")).unwrap();
        assert_eq!((study.noise.draws, study.min_names, study.seed), (5, 10, 1));
    }
}
