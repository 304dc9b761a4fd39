//! The three kinds of study of formulas: what pools are worth, what judges think of them, and the search for them.
//!
//! Knows: formulas over a market, the one client of models. Never knows: a mask, an episode, how a formula is evaluated.

mod alpha_batch;
mod alpha_cost;
mod alpha_daily;
mod alpha_evaluation;
mod alpha_exchange;
mod alpha_found;
mod alpha_inference;
mod alpha_kind;
mod alpha_pictures;
mod alpha_report;
mod alpha_rows;
mod alpha_selection;
mod alpha_study;
mod alpha_tables;
mod figure_columns;
mod inference_tables;
mod keys;
mod language;
mod open_study;
mod pool_products;
mod size_table;
mod split_tables;
mod study_pool;
mod study_split;
mod threshold_pictures;

pub mod judge;
pub mod mine;

pub use alpha_cost::{FigureCost, ModelCost, StudyCost, cost_table, measure_cost};
pub use alpha_daily::write_daily;
pub use alpha_kind::AlphaEvaluating;
pub use alpha_report::{
    AlphaReport, AlphaRow, AlphaYearRow, CombinationRow, FigureRow, InferenceRow, PoolRow, RankRow,
    RefusedRow, SelectionRow, SplitRow,
};
pub use alpha_study::{AlphaStudy, StudyExchange, StudyOrientation};
pub use keys::{PoolSource, StudyNoise, StudyNumeric, StudySplits};
pub use language::{LossKind, LostCounts};
pub use open_study::OpenStudy;
pub use size_table::{AlphaSizeReport, AlphaSizeRow, alpha_size_designs, alpha_sizes};
pub use study_pool::{StudyPool, TrialsSource};
