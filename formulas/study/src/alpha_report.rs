//! What a study of alphas found.

use crate::study_pool::TrialsSource;
pub use ktd_alphas::FigureRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An alpha over the days of a split.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AlphaRow {
    /// The split.
    pub split: String,
    /// Its pool.
    pub pool: String,
    /// Its name.
    pub id: String,
    /// Its canonical form.
    pub formula: String,
    /// Whether its values were multiplied by -1.
    pub is_turned: bool,
    /// An earlier formula of the pool with the same canonical form.
    pub duplicate_of: Option<String>,
    /// Whether its values differ on no day.
    pub is_constant: bool,
    /// The alpha of the split, `pool/id`, whose daily returns are like its own, and which counts for both where alphas are counted.
    pub like: Option<String>,
    /// Its figures.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// A pool over the days of a split.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct PoolRow {
    /// The split.
    pub split: String,
    /// The pool.
    pub pool: String,
    /// Formulas that were evaluated.
    pub alphas: usize,
    /// Of them, repeats of an earlier one.
    pub duplicates: usize,
    /// Of them, constants.
    pub constants: usize,
    /// Formulas that were refused.
    pub refused: usize,
    /// Who or what made it, where that is said.
    pub made_by: Option<String>,
    /// Expressions that were tried to get the pool; none where nobody says.
    pub tried: Option<usize>,
    /// Who says so.
    pub trials_from: TrialsSource,
    /// First and last day by which it was chosen, where that is declared.
    pub chosen_on: Option<[String; 2]>,
    /// Whether days of the split are among them.
    pub is_chosen_here: bool,
    /// The last day that whoever made the pool may know of, or `unknown`, and of a test split also the last day that a search
    /// chose it by; none where nobody is known to have searched.
    pub known_until: Option<String>,
    /// Whether the split begins before that day, or the day is unknown: its figures may be hindsight.
    pub is_hindsight: bool,
    /// Means over its alphas, and its diversity.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// The combination of a pool over the days of a split.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CombinationRow {
    /// The split.
    pub split: String,
    /// The pool.
    pub pool: String,
    /// How its alphas are weighted: `equal`, `ic` or `ridge`.
    pub weights: String,
    /// Its figures.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// A split: its days, the line of turnover on stability over all alphas, and what the composite goes with over those that are not alike.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SplitRow {
    /// The split.
    pub split: String,
    /// Its first day.
    pub from: String,
    /// Its last day.
    pub to: String,
    /// Its sessions.
    pub days: usize,
    /// Sessions whose label ends within it.
    pub label_days: usize,
    /// Names that count, summed over its sessions.
    pub cells: usize,
    /// Alphas that the line is drawn through.
    pub points: usize,
    /// Slope, intercept and share of the variance; standard errors and p-value, of alphas that are not alike (`distinct`); rank correlations
    /// of the composite.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// A calendar year of a split: an alpha, or the equal-weight combination of a pool under the id `equal`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AlphaYearRow {
    /// The split.
    pub split: String,
    /// The pool.
    pub pool: String,
    /// The alpha.
    pub id: String,
    /// The year.
    pub year: String,
    /// Its figures.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// What may be concluded of a pool on a split, given how many expressions were tried for it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct InferenceRow {
    /// The split.
    pub split: String,
    /// The pool.
    pub pool: String,
    /// Who says how many expressions were tried: deflated ratios of pools are compared where this is the same.
    pub trials_from: TrialsSource,
    /// The alpha with the highest Sharpe ratio.
    pub best: Option<String>,
    /// Its figures.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// A rank with its interval: of the best alphas of a split, or of its pools' equal-weight combinations.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct RankRow {
    /// The split.
    pub split: String,
    /// What is ranked: `alphas` or `pools`.
    pub of: String,
    /// The pool.
    pub pool: String,
    /// The alpha; `equal` of a pool.
    pub id: String,
    /// Its place by mean daily return of its portfolio.
    pub rank: usize,
    /// Lower end of the place's 95 % interval.
    pub rank_low: usize,
    /// Upper end.
    pub rank_high: usize,
    /// The share of replicates in which it is the best.
    pub probability_best: f64,
    /// Letters of the groups within which no pair can be separated.
    pub groups: String,
}

/// The best alphas by a figure of valid days, together on test days.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SelectionRow {
    /// The figure: `pps`, `rre`, `pfs`, `composite`, or `pps` with another weight of values.
    pub by: String,
    /// The weight of values in PPS.
    pub beta: f64,
    /// The alphas, `pool/id`, the best first.
    pub alphas: Vec<String>,
    /// The value of the portfolio after each day of [`AlphaReport::curve_days`], 1 before the first.
    pub curve: Vec<f64>,
    /// Its figures.
    #[serde(flatten)]
    pub row: FigureRow,
}

/// A formula that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct RefusedRow {
    /// Its pool.
    pub pool: String,
    /// Its name.
    pub id: String,
    /// The stable word of its fault.
    pub code: String,
    /// What is wrong, where, and what would hold.
    pub error: String,
}

/// What a study of alphas found.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AlphaReport {
    /// The version of this layout.
    pub format: u32,
    /// The study.
    pub name: String,
    /// SHA-256 of everything that decides the figures.
    pub inputs: String,
    /// SHA-256 of the canonical forms of all pools.
    pub formulas: String,
    /// Hash of the panel.
    pub panel: String,
    /// The label that is predicted: `next_open` or `close`.
    pub label: String,
    /// What was perturbed for robustness: `input`, `bar`, `output` or `code`.
    pub noise_mode: String,
    /// The deviation of the noise; none where robustness is left out.
    pub noise_sigma: Option<f64>,
    /// Draws of each law.
    pub noise_draws: usize,
    /// Factors of the noise that were raised to the least one.
    pub noise_raised: usize,
    /// Whether test days were read.
    pub is_test_open: bool,
    /// How many sets of formulas have seen the test days with this folder, or any other of this user that was known when it ran.
    pub test_looks: usize,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// The splits.
    pub splits: Vec<SplitRow>,
    /// The pools.
    pub pools: Vec<PoolRow>,
    /// Their combinations.
    pub combinations: Vec<CombinationRow>,
    /// The alphas.
    pub alphas: Vec<AlphaRow>,
    /// Figures by calendar year.
    pub years: Vec<AlphaYearRow>,
    /// What may be concluded of each pool.
    pub inference: Vec<InferenceRow>,
    /// Ranks with intervals and groups.
    pub ranks: Vec<RankRow>,
    /// The best alphas by each figure of valid days, on test days; none without both splits.
    pub selections: Vec<SelectionRow>,
    /// The test days of the selections' curves.
    pub curve_days: Vec<String>,
    /// Formulas that no rule takes.
    pub refused: Vec<RefusedRow>,
}

impl AlphaReport {
    /// Names of pools in their order.
    pub(crate) fn pool_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for pool in &self.pools {
            if !names.contains(&pool.pool) {
                names.push(pool.pool.clone());
            }
        }
        names
    }
}
