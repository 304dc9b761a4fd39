//! Statistics of repeated runs: intervals, tests, ranks, and what a design can detect.
//!
//! Inputs are parsed once into [`Sample`], [`DailyTable`], [`Confidence`] and [`StationaryBootstrap`]; what is wrong
//! with them is an [`StatsError`] there. A statistic then is a number, or [`Undefined`] with
//! the reason: never NaN, never infinite.
//!
//! A mean, a difference of means, the best of many and ranks are judged by one thing: [`MeanContrasts`] of the series themselves,
//! and turns of many of them together ([`MeanTable`], [`RankSets`]). [`StationaryBootstrap`] is for
//! the calibration error, which is no mean. Everything about a replicate depends on its number alone.
//!
//! Source of every formula and edge rule: docs/spec/statistics.md#tests, #contrasts and #bootstrap.
//!
//! Knows: nothing of ours. Never knows: markets, accounts, agents, files, clocks.

pub mod moments;

mod binomial;
mod clustered_share;
mod contrasts;
mod distinct_series;
mod error;
mod hodges_lehmann;
mod holm;
mod incomplete_beta;
mod interval;
mod kendall_tau;
mod line_fit;
mod newey_west;
mod normal;
mod open_runs;
mod pbo;
mod power;
mod quantile;
mod rank_sets;
mod ranks;
mod rotation;
mod sample;
mod sharpe_inference;
mod sign_flips;
mod simulated_power;
mod spearman;
mod split_mix;
mod splits;
mod stationary;
mod student_t;
mod table;
mod two_groups;
mod undefined;
mod wilcoxon;
mod wilson;

pub use binomial::{binomial_at_most, binomial_two_sided_p};
pub use clustered_share::{TrialCluster, clustered_share};
pub use contrasts::{MeanContrasts, MeanEstimate, contrasts_of_days};
pub use distinct_series::{LIKE_CORRELATION, distinct_series, series_representatives};
pub use error::StatsError;
pub use hodges_lehmann::hodges_lehmann;
pub use holm::holm;
pub use interval::{Confidence, Interval};
pub use kendall_tau::kendall_tau;
pub use line_fit::{LineFit, line_fit};
pub use newey_west::{NeweyWest, default_lag_days, newey_west};
pub use normal::{normal_cdf, normal_quantile, normal_two_sided_p};
pub use open_runs::open_runs;
pub use pbo::{Pbo, pbo, pbo_of_distinct};
pub use power::{PairedDesign, PairedTest};
pub use quantile::{Quartiles, median, quantile, spread};
pub use rank_sets::{PairTest, RankSet, RankSets};
pub use ranks::{SkillRank, competition_ranks, skill_ranks};
pub use rotation::{BestOfMany, MeanTable, Rotations};
pub use sample::Sample;
pub use sharpe_inference::{
    DeflatedSharpe, ProbabilisticSharpe, Trials, deflated_sharpe, probabilistic_sharpe,
};
pub use sign_flips::{FlippedPair, FlippedRank, FlippedSums};
pub use simulated_power::{SIMULATED_EXPERIMENTS, SimulatedPower};
pub use spearman::{Ranking, mid_ranks, pearson, rank_correlation, spearman};
pub use split_mix::SplitMix64;
pub use stationary::{DEFAULT_MEAN_BLOCK_DAYS, Draw, StationaryBootstrap};
pub use student_t::{student_t_quantile, student_t_two_sided_p};
pub use table::DailyTable;
pub use two_groups::{MannWhitney, WelchTest, mann_whitney, welch_test};
pub use undefined::Undefined;
pub use wilcoxon::{PValueMethod, Underpowered, Wilcoxon, Zeros, minimum_p, wilcoxon};
pub use wilson::wilson;

/// Trading days in a year, by which daily figures are annualised (KTD-Fin; Qlib's own default is 238).
pub const TRADING_DAYS_PER_YEAR: f64 = 252.0;
