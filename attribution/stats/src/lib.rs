//! Statistics of repeated runs: intervals, tests, ranks, and what a design can detect.
//!
//! Inputs are parsed once into [`Sample`], [`DailyTable`], [`Confidence`] and [`StationaryBootstrap`]; what is wrong
//! with them is an [`StatsError`] there. A statistic then is a number, or [`Undefined`] with
//! the reason: never NaN, never infinite.
//!
//! A bootstrap draws days, not returns: [`ReplicateSums`] applies one draw to all columns of all tables, so that
//! agents are compared on the same days. Everything about a replicate depends on its number alone, never on those
//! before it, and no draw is kept.
//!
//! Source of every formula and edge rule: docs/spec/statistics.md#tests and #bootstrap.
//!
//! Knows: nothing of ours. Never knows: markets, accounts, agents, files, clocks.

pub mod moments;

mod binomial;
mod block_length;
mod error;
mod hodges_lehmann;
mod holm;
mod incomplete_beta;
mod interval;
mod kendall_tau;
mod line_fit;
mod newey_west;
mod normal;
mod pbo;
mod pooled;
mod power;
mod quantile;
mod rank_interval;
mod ranks;
mod reality_check;
mod replicates;
mod sample;
mod seeded;
mod separable_groups;
mod sharpe_inference;
mod simulated_power;
mod spa;
mod spearman;
mod split_mix;
mod splits;
mod stationary;
mod student_t;
mod table;
mod two_groups;
mod undefined;
mod unexplained;
mod wilcoxon;
mod wilson;

pub use binomial::binomial_two_sided_p;
pub use block_length::{BlockLength, DEFAULT_MEAN_BLOCK_DAYS, block_length};
pub use error::StatsError;
pub use hodges_lehmann::hodges_lehmann;
pub use holm::holm;
pub use interval::{Confidence, Interval, mean_intervals, sharpe_intervals, sum_intervals};
pub use kendall_tau::kendall_tau;
pub use line_fit::{LineFit, line_fit};
pub use newey_west::{NeweyWest, default_lag_days, newey_west};
pub use normal::{normal_cdf, normal_quantile, normal_two_sided_p};
pub use pbo::{Pbo, pbo, pbo_of_distinct};
pub use pooled::{PooledMeans, PooledWindow, pooled_means};
pub use power::{PairedDesign, PairedTest};
pub use quantile::{Quartiles, median, quantile, spread};
pub use rank_interval::{RankInterval, RankIntervals, rank_intervals};
pub use ranks::{SkillRank, competition_ranks, skill_ranks};
pub use reality_check::{RealityCheck, reality_check};
pub use replicates::ReplicateSums;
pub use sample::Sample;
pub use seeded::{SeededAgent, seeded_sums};
pub use separable_groups::{NotSeparable, SeparableGroups, separable_groups, separable_groups_beside};
pub use sharpe_inference::{
    DeflatedSharpe, ProbabilisticSharpe, Trials, deflated_sharpe, probabilistic_sharpe,
};
pub use simulated_power::{SIMULATED_EXPERIMENTS, SimulatedPower};
pub use spa::{SuperiorAbility, superior_ability};
pub use spearman::{Ranking, mid_ranks, pearson, rank_correlation, spearman};
pub use split_mix::SplitMix64;
pub use stationary::{Draw, StationaryBootstrap};
pub use student_t::student_t_two_sided_p;
pub use table::DailyTable;
pub use two_groups::{MannWhitney, WelchTest, mann_whitney, welch_test};
pub use undefined::Undefined;
pub use wilcoxon::{PValueMethod, Underpowered, Wilcoxon, Zeros, minimum_p, wilcoxon};
pub use wilson::wilson;

/// Trading days in a year, by which daily figures are annualised (KTD-Fin; Qlib's own default is 238).
pub const TRADING_DAYS_PER_YEAR: f64 = 252.0;
