//! Studies beside episodes: files of formulas, the columns they read, their values, and reports.
//!
//! Knows: files, panels, formulas, the one client of models. Never knows: a mask, an episode, how a formula is evaluated.

mod alpha_batch;
mod alpha_cost;
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
mod error;
mod exact;
mod formula_file;
mod formula_set;
mod inference_tables;
mod judge_config;
mod language;
mod open_study;
mod pool_products;
mod proof_panel;
mod qlib_fields;
mod rose_table;
mod split_tables;
mod study_data;
mod study_exchange;
mod study_noise;
mod study_pool;
mod study_split;
mod study_values;
mod values_file;

pub mod judge;
pub mod mine;

pub use alpha_cost::{FigureCost, ModelCost, StudyCost, cost_table, measure_cost};
pub use alpha_kind::AlphaEvaluating;
pub use alpha_report::{
    AlphaReport, AlphaRow, AlphaYearRow, CombinationRow, FigureRow, InferenceRow, PoolRow, RankRow,
    RefusedRow, SelectionRow, SplitRow,
};
pub use alpha_study::{
    AlphaStudy, NoiseMode, PoolSource, StudyLabel, StudyNoise, StudyNumeric, StudyOrientation, StudySplits,
    StudyUniverse,
};
pub use alpha_tables::{alpha_table, combination_table, pool_table, split_table};
pub use error::FormulaStudyError;
pub use formula_file::{FormulaLine, MAX_FORMULAS, read_formulas};
pub use formula_set::{BuiltInSet, RefusedFormula, SetOfFormulas};
pub use inference_tables::{
    curve_table, inference_table, rank_table, robustness_table, selection_table, year_table,
};
pub use ktd_expressions::{FormulaPrecision, FormulaRole};
pub use ktd_formulas::{
    FieldColumn, FieldName, FieldPanel, FormulaValues, NameValues, ValueSpan, evaluate, evaluate_each,
    market_fields,
};
pub use language::{LossKind, LostCounts};
pub use open_study::{EvaluationRun, OpenStudy};
pub use proof_panel::{PROOF_NAMES, prove};
pub use qlib_fields::qlib_fields;
pub use rose_table::rose_table;
pub use study_data::{SYNTHETIC_STUDY, StudyData};
pub use study_exchange::StudyExchange;
pub use study_pool::StudyPool;
pub use values_file::{ValuesFile, ValuesFormat};
