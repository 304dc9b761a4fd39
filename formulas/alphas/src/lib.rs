//! What a formula is worth: prediction, stability, robustness and diversity of alphas, alone and in pools.
//!
//! Scores, labels and members come in as tables by day and name ([`DayTable`], [`MemberTable`]); a metric is a number, or
//! [`ktd_stats::Undefined`] with the reason, never NaN and never 0 in its place.
//!
//! Knows: `env` (keyed streams), `expressions`, `stats`. Never knows: panels, files, masks, models.

mod combination;
mod composite;
mod control_formula;
mod daily_ranks;
mod day_table;
mod diversity;
mod eigen;
mod evaluation;
mod gain;
mod gram;
mod judge_order;
mod judgement;
mod label;
mod perturbation;
mod portfolio;
mod predictive;
mod proposal;
mod ranking;
mod robustness;
mod score_list;
mod search;
mod shared_intervals;
mod stability;

pub use combination::{
    correlation_weights, equal_weights, ridge_of_products, ridge_weights, weighted_combination,
};
pub use composite::{composite_scores, percentiles};
pub use control_formula::{NONSENSE_FORMULAS, longer_formula};
pub use daily_ranks::DailyRanks;
pub use day_table::{DayTable, MemberTable};
pub use diversity::{
    DaySpread, PoolDiversity, daily_z_scores, day_spreads, diversity_of_products, pool_diversity,
};
pub use evaluation::{AlphaEvaluation, EvaluationSplit, evaluate_alpha};
pub use gain::ndcg;
pub use gram::{GRAM_BLOCK, GramMatrix, products_of_rows};
pub use judge_order::judge_orders;
pub use judgement::{
    JudgedScore, LengthControl, RepeatControl, length_control, length_slope, repeat_control,
};
pub use label::{LabelKind, label_returns};
pub use perturbation::{
    AdjustedBars, NoiseLaw, PerturbedBars, noise_stream, perturbed_bars, perturbed_levels,
};
pub use portfolio::{PortfolioTerms, PortfolioTest, max_drawdown, portfolio_test};
pub use predictive::{DailyCorrelations, DayCorrelation, PredictivePower, daily_correlations};
pub use proposal::{ProposalFault, screen_proposals};
pub use robustness::rank_robustness;
pub use score_list::{ScoresFault, SubmittedScore, complete_scores};
pub use search::{
    FormulaGrowth, FormulaSearch, GeneticSearch, GeneticSettings, PoolTerms, RandomSearch, SearchCandidate,
    SearchTerms, TrainTables, Trial, TrialBook, TrialFault, TrialScore, Variation, mean_rank_correlation,
    select_pool,
};
pub use shared_intervals::{DaySeries, shared_mean_intervals, shared_sharpe_intervals};
pub use stability::{RankStability, StabilityMode, rank_stability};
