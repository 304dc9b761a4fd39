//! The leaderboard as data: everything that a table or a picture shows, and nothing that must still be computed.

use crate::BoardError;
use crate::by_basis::ByBasis;
use ktd_bundle::summary::Metric;
use ktd_experiment::label;
use ktd_experiment::provider::ForceLevel;
use ktd_io::sha256::sha256_hex;
use ktd_masking::{Level, Mode, Numeric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `leaderboard.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaderboard {
    /// Version of this file's form.
    pub format: u32,
    /// What it is called: the experiments' names.
    pub title: String,
    /// Version of the program that made it.
    pub ktd: String,
    /// The rules that all its bundles share; bundles that differ in one of them are not ranked together.
    pub protocol: Protocol,
    /// The factor model.
    pub model: ModelRecord,
    /// How uncertainty was resampled.
    pub resampling: Resampling,
    /// One ranking each: a window, a mask and a mode. The first is the headline.
    pub tracks: Vec<Track>,
    /// Bright against blinded, paired.
    pub contrasts: Vec<Contrast>,
    /// How the factor model fared, from the first day of any window to the last of any.
    pub health: ModelHealth,
    /// Selection ranks of the headline under other settings of the factor model.
    pub sensitivity: Vec<SensitivityRow>,
    /// SHA-256 of this document with this field empty: page and manifest name it too.
    pub content_sha256: String,
    /// What a reader must know: overlapping windows, missing index days, bundles left out and why.
    pub notes: Vec<String>,
}

impl Leaderboard {
    /// The board with the hash of its content.
    ///
    /// # Errors
    /// [`BoardError::Input`] when it cannot be JSON.
    pub fn sealed(mut self) -> Result<Self, BoardError> {
        self.content_sha256.clear();
        let bytes = serde_json::to_vec(&self).map_err(|error| {
            BoardError::input(format!("the board cannot be JSON: {error}"), "report this defect")
        })?;
        self.content_sha256 = sha256_hex(&bytes);
        Ok(self)
    }
}

/// SHA-256 or BLAKE3 of each part of the protocol, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The panel.
    pub data: String,
    /// The exchange's rules.
    pub rules: String,
    /// The prompts.
    pub prompts: String,
    /// The tools' names, descriptions, schemas and limits, and the session's limits.
    pub tools: String,
    /// Definitions of metrics, the factor model's configuration, and the factors that its screen kept.
    pub metrics: String,
}

/// The factor model that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Its configuration in one line a key, as hashed.
    pub configuration: String,
    /// SHA-256 of panel, configuration and days.
    pub fit_sha256: String,
    /// Names of the style factors kept, in the order of the columns.
    pub styles: Vec<String>,
    /// First and last day of the calibration window of the VIF screen; none where the panel has no days before.
    pub calibration: Option<DateBounds>,
    /// The VIF screen, round by round.
    pub vif_path: Vec<VifRound>,
    /// VIF above which a factor is dropped.
    pub vif_threshold: f64,
}

/// One round of the VIF screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VifRound {
    /// The factors still there.
    pub vif: Vec<FactorVif>,
    /// The factor that this round dropped.
    pub dropped: Option<String>,
}

/// How uncertainty was resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resampling {
    /// Replicates of every stationary bootstrap.
    pub replicates: u32,
    /// Their seed.
    pub seed: u64,
    /// Portfolios of each null band.
    pub null_portfolios: u32,
}

/// Who is on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cohort {
    /// A language model, or an outside agent.
    Model,
    /// A built-in agent.
    Builtin,
    /// A control that knows the future; it has no rank.
    Control,
    /// A portfolio computed from the panel: an index or its members; it has no rank.
    Reference,
}

/// One ranking: a window, a mask and a mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    /// The window's name.
    pub window: String,
    /// Which identifiers were hidden.
    #[serde(with = "label")]
    pub level: Level,
    /// How numbers were shown.
    #[serde(with = "label")]
    pub numeric: Numeric,
    /// The decision mode.
    #[serde(with = "label")]
    pub mode: Mode,
    /// Trading days.
    pub dates: Vec<String>,
    /// Total return of the benchmark index.
    pub benchmark_return: Metric,
    /// The benchmark at each close, 1 before the first day; empty without an index.
    pub benchmark: Vec<f64>,
    /// Trials counted for deflated Sharpe ratios: every finished episode on these days found on disk, of any mask, mode,
    /// seed, prompts, tools and rules, shown or not; controls and the cheater apart.
    pub trials: usize,
    /// Best first: by selection among the ranked; controls and references after them.
    pub leaders: Vec<LeaderboardRow>,
    /// Which differences are real.
    pub separation: Option<Separation>,
    /// What a reader of this ranking must know.
    pub notes: Vec<String>,
}

/// One agent on a track.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaderboardRow {
    /// Its name.
    pub agent: String,
    /// What it is.
    pub cohort: Cohort,
    /// How submissions were forced: parse failures compare within a level only. None for a reference.
    pub force: Option<ForceLevel>,
    /// Its seeds, ascending.
    pub seeds: Vec<u64>,
    /// The seed whose daily series are shown: the one of the median return, the lower of two.
    pub shown_seed: Option<u64>,
    /// Names of the models that answered, as the provider says: more than one is a drift.
    pub served_models: Vec<String>,
    /// Counters over all seeds.
    pub faults: Faults,
    /// Metrics by name over seeds: `total_return`, `excess_return`, `sharpe_ratio`, `max_drawdown`,
    /// `information_ratio`, `turnover`, `hhi`, `cash_ratio`, `abstention`, `parse_failure`, `ece`, and diagnostics.
    pub metrics: BTreeMap<String, SeedStat>,
    /// Rank by total return; none for what is not ranked.
    pub return_rank: Option<usize>,
    /// Rank by selection.
    pub alpha_rank: Option<usize>,
    /// `return_rank - alpha_rank`: above 0 is better judged by skill.
    pub delta_rank: Option<i64>,
    /// 95 % interval of the rank by selection.
    pub rank_interval: Option<RankBounds>,
    /// Share of replicates in which it is first.
    pub first_share: Option<f64>,
    /// Where the return came from, by basis; none for what has no holdings.
    pub attribution: Option<ByBasis<Contribution>>,
    /// Why there is no attribution.
    pub unattributed_reason: Option<String>,
    /// Selection and its uncertainty, basis `pre`.
    pub selection: Option<Selection>,
    /// Mean exposure to each style over invested days, weights over NAV.
    pub exposures: Vec<f64>,
    /// Daily exposures of the shown seed: one series a style.
    pub daily_exposures: Vec<Vec<f64>>,
    /// Daily series of the shown seed.
    pub curves: Option<Curves>,
    /// Stated confidence against what happened.
    pub reliability: Option<CalibrationRecord>,
    /// What hiding the identifiers took away: bright minus blinded, same window and mode, and
    /// the same numbers where both have them. None for a reference.
    pub memory_gap: Option<Gap>,
    /// Whether the mask of its runs is certified, and against whom. None for a reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mask: Option<ktd_probes::judge::CertificationMark>,
}

/// Counters that are never mixed, and money.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Steps that the infrastructure did not take away, of all steps.
    pub coverage: Option<f64>,
    /// The model's mistakes.
    pub model: usize,
    /// Failed attempts of the infrastructure.
    pub infrastructure: usize,
    /// Steps without a good submission.
    pub fallbacks: usize,
    /// Steps in which the model decided to hold.
    pub holds: usize,
    /// Cost of all seeds, US dollars, where known.
    pub cost_usd: Option<f64>,
}

/// A figure over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedStat {
    /// Median, or the reason why there is none.
    pub median: Metric,
    /// Quartiles (type 7); with fewer than five seeds look at `values`.
    pub quartiles: Option<Bounds>,
    /// One value a seed, where it is defined, in the order of the seeds.
    pub values: Vec<f64>,
}

/// Linked contributions of one basis: means over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contribution {
    /// Carino-linked: adds up to the geometric return.
    pub carino: Linked,
    /// In shares of the initial cash: adds up to the same return, in money.
    pub pnl: Linked,
    /// Plain sums of daily contributions.
    pub sum: Linked,
    /// Largest daily difference between the return and the sum of its parts, over all seeds.
    pub daily_gauge: f64,
}

/// Parts of a return.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linked {
    /// Common factor.
    pub common: f64,
    /// Styles, in the order of the model's styles.
    pub styles: Vec<f64>,
    /// Their sum.
    pub style: f64,
    /// Specific return of what was held.
    pub selection: f64,
    /// Execution timing.
    pub timing: f64,
    /// Fills away from the open.
    pub slip: f64,
    /// Fees.
    pub cost: f64,
    /// Rounding of corporate actions.
    pub corporate: f64,
    /// P&L of holdings that the model does not cover.
    pub unattributed: f64,
    /// The whole.
    pub portfolio: f64,
    /// The whole less its parts.
    pub gauge: f64,
    /// Standard error of common and style against selection that the fit's own uncertainty gives; `None` but for
    /// plain sums.
    pub split_standard_error: Option<f64>,
}

/// Selection and its uncertainty: Carino-linked, means over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Linked selection.
    pub value: f64,
    /// 95 % interval of the stationary bootstrap over days.
    pub interval: Option<Bounds>,
    /// Newey-West t of the daily series.
    pub newey_west_t: Metric,
    /// 95 % band of random portfolios with the same count, weights and holding periods.
    pub null_band: Option<Bounds>,
    /// Mean of those portfolios.
    pub null_mean: Option<f64>,
    /// Share of them below the value.
    pub null_percentile: Option<f64>,
    /// Probabilistic Sharpe ratio of the daily selection against 0.
    pub psr: Metric,
    /// The same deflated by the number of trials.
    pub dsr: Metric,
}

/// Daily series at each close.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Net asset value, 1 before the first day.
    pub nav: Vec<f64>,
    /// Fall from the highest so far, positive.
    pub drawdown: Vec<f64>,
    /// Common, linked up to the day; with the next three it adds up to `nav - 1`.
    pub common: Vec<f64>,
    /// Styles together, linked up to the day.
    pub style: Vec<f64>,
    /// Selection, linked up to the day.
    pub selection: Vec<f64>,
    /// Timing, slippage, cost, corporate rounding and unattributed, linked up to the day.
    pub other: Vec<f64>,
}

/// Stated confidence against what happened, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRecord {
    /// Expected calibration error, ten bins.
    pub ece: Metric,
    /// 95 % interval, resampling steps.
    pub ece_interval: Option<Bounds>,
    /// Filled orders with a known outcome.
    pub orders: usize,
    /// Bins from 0 to 1.
    pub bins: Vec<CalibrationBin>,
    /// Brier score.
    pub brier: Metric,
    /// Its parts.
    pub murphy: Option<MurphyParts>,
}

/// A bin of stated confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationBin {
    /// Orders in it.
    pub orders: usize,
    /// Their mean confidence.
    pub confidence: Option<f64>,
    /// Share that came true.
    pub accuracy: Option<f64>,
}

/// Bright minus blinded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Of total return: medians over seeds.
    pub total_return: f64,
    /// Of selection.
    pub selection: Option<f64>,
}

/// Which differences of a track are real. Agents are named in the order of their rank by selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Separation {
    /// The agents.
    pub agents: Vec<String>,
    /// Share of replicates in which the row's selection is above the column's, a tie counting half.
    pub win_share: Vec<Vec<f64>>,
    /// Places in `agents` of groups that the data cannot separate.
    pub groups: Vec<Vec<usize>>,
    /// Probability of backtest overfitting.
    pub pbo: Metric,
    /// White's reality check of the best selection against 0.
    pub reality_check_p: Metric,
    /// Hansen's test.
    pub spa_p: Option<SpaP>,
}

/// One agent's bright against its blinded, paired over windows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// The agent, or `all models` for the cohort.
    pub agent: String,
    /// The decision mode.
    #[serde(with = "label")]
    pub mode: Mode,
    /// Blinded with these numbers.
    #[serde(with = "label")]
    pub numeric: Numeric,
    /// What is compared.
    pub metric: ContrastMetric,
    /// The pairs: medians over seeds.
    pub pairs: Vec<Pair>,
    /// Two-sided p of the signed-rank test.
    pub p: Option<f64>,
    /// Whether `p` is exact; else by the normal approximation.
    pub is_exact: bool,
    /// The same, adjusted by Holm over the contrasts of one metric.
    pub holm_p: Option<f64>,
    /// Smallest p that the pairs which differ can reach.
    pub least_p: f64,
    /// What to make of it in words: `underpowered`, ...
    pub reading: String,
    /// Hodges-Lehmann shift, bright minus blinded.
    pub shift: Option<f64>,
    /// Rank-biserial correlation.
    pub rank_biserial: Option<f64>,
}

/// Figure whose bright and blinded values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContrastMetric {
    /// Total return.
    TotalReturn,
    /// Linked selection.
    Selection,
}

impl ContrastMetric {
    /// The name in files.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::TotalReturn => "total_return",
            Self::Selection => "selection",
        }
    }
}

/// A pair of a contrast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The window.
    pub window: String,
    /// Bright.
    pub bright: f64,
    /// Blinded.
    pub blinded: f64,
}

/// How the factor model fared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHealth {
    /// Return days.
    pub dates: Vec<String>,
    /// R2 of each day's fit.
    pub r_squared: Vec<f64>,
    /// Names in each day's estimation set.
    pub names: Vec<usize>,
    /// Exposures imputed each day.
    pub imputed: Vec<usize>,
    /// Days whose cross-section was too thin to fit.
    pub thin_days: usize,
    /// The common factor and the styles.
    pub factors: Vec<StyleHealth>,
}

/// How one factor fared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StyleHealth {
    /// Its name; `COMMON` for the intercept.
    pub name: String,
    /// Mean daily factor return.
    pub mean_return: f64,
    /// Its Newey-West t (Fama-MacBeth).
    pub newey_west_t: Option<f64>,
    /// Mean of |t| over days.
    pub mean_abs_t: f64,
    /// Share of days with |t| above 2.
    pub significant_share: f64,
    /// Days on which its column was dropped.
    pub dropped_days: usize,
}

/// Selection under another setting of the factor model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityRow {
    /// What was changed, in words.
    pub setting: String,
    /// Kendall's tau-b of the ranks by selection against the default.
    pub kendall_tau: Metric,
    /// Linked selection by agent, in the order of the headline's ranked agents.
    pub selection: Vec<f64>,
    /// Largest change of a daily selection against the default.
    pub largest_daily_change: f64,
}

/// Lower and upper end of an interval, or two quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Lower and upper end of an interval of ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankBounds {
    /// The best rank.
    pub low: usize,
    /// The worst rank.
    pub high: usize,
}

/// First and last day of a span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateBounds {
    /// The first day.
    pub first: String,
    /// The last day.
    pub last: String,
}

/// Variance inflation of a factor in one round of the screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorVif {
    /// The factor's name.
    pub factor: String,
    /// Its VIF; `null` where it is infinite.
    pub vif: Option<f64>,
}

/// The three p-values of Hansen's test for superior predictive ability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaP {
    /// The lower one.
    pub lower: f64,
    /// The consistent one.
    pub consistent: f64,
    /// The upper one.
    pub upper: f64,
}

/// Murphy's parts of a Brier score: it is reliability less resolution plus uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MurphyParts {
    /// How far stated confidences are from what happened.
    pub reliability: f64,
    /// How far outcomes differ between bins.
    pub resolution: f64,
    /// The variance of the outcomes.
    pub uncertainty: f64,
}
