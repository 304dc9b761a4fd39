//! What a formula is worth: prediction, stability, robustness and diversity of alphas, alone and in pools.
//!
//! Scores, labels and members come in as tables by day and name ([`DayTable`], [`MemberTable`]); a metric is a number, or
//! [`ktd_stats::Undefined`] with the reason, never NaN and never 0 in its place.
//!
//! Knows: `env` (keyed streams), `expressions`, `stats`. Never knows: panels, files, masks, models.

mod alpha_figures;
mod combination;
mod composite;
mod control_formula;
mod daily_ranks;
mod day_series;
mod day_table;
mod diversity;
mod eigen;
mod evaluation;
mod figure_row;
mod gain;
mod gram;
mod inference;
mod judge_order;
mod judgement;
mod label;
mod noise_mode;
mod perturbation;
mod pool_comparison;
mod pool_sizes;
mod portfolio;
mod predictive;
mod proposal;
mod ranking;
mod robustness;
mod score_grid;
mod score_list;
mod search;
mod stability;

pub use alpha_figures::stability_line;
pub use combination::{equal_weights, ridge_of_products, weighted_combination};
pub use composite::{COMPOSITE_FIGURES, composite_correlations, composite_scores};
pub use control_formula::{NONSENSE_FORMULAS, longer_formula};
pub use daily_ranks::DailyRanks;
pub use day_series::{DaySeries, exact_series, mean_interval, sharpe_interval};
pub use day_table::{DayTable, MemberTable};
pub use diversity::{
    DaySpread, PoolDiversity, daily_z_scores, day_spreads, diversity_of_products, pool_diversity,
};
pub use evaluation::{AlphaEvaluation, EvaluationSplit, evaluate_alpha};
pub use figure_row::{Figure, FigureOf, FigureRow, coded};
pub use gain::ndcg;
pub use gram::{GRAM_BLOCK, GramMatrix, products_of_rows};
pub use inference::{
    PoolInference, PoolTrials, SeriesRank, UNKNOWN_TRIALS, alpha_representatives, pool_inference,
    series_ranks,
};
pub use judge_order::judge_orders;
pub use judgement::{
    JudgedScore, LengthControl, RepeatControl, length_control, length_slope, repeat_control,
};
pub use label::{LabelKind, label_returns};
pub use noise_mode::NoiseMode;
pub use perturbation::{
    AdjustedBars, NoiseLaw, PerturbedBars, noise_stream, perturbed_bars, perturbed_levels,
};
pub use pool_comparison::{ROSE_FIGURES, RobustAlphas, mean_percentiles, robust_and_rest};
pub use pool_sizes::{PLANTED_RATIO, PlantedPool, PoolConclusion, PoolSizeDesign};
pub use portfolio::{PortfolioTerms, PortfolioTest, Ties, max_drawdown, portfolio_test, portfolio_weights};
pub use predictive::{DailyCorrelations, DayCorrelation, PredictivePower, daily_correlations};
pub use proposal::{ProposalFault, screen_proposals};
pub use ranking::highest;
pub use robustness::{mean_rank_correlation, rank_robustness};
pub use score_grid::{JudgedRole, ScoreGrid};
pub use score_list::{ScoresFault, SubmittedScore, complete_scores};
pub use search::{
    FormulaGrowth, FormulaSearch, GeneticSearch, GeneticSettings, RandomSearch, SearchCandidate, SearchTerms,
    TrainTables, Trial, TrialBook, TrialFault, TrialScore,
};
pub use stability::{RankStability, StabilityMode, rank_stability};
