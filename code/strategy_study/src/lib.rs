//! Trading strategies written by models: programs run in the box, gates, drift between versions, scores, tables.
//!
//! A [`StrategyTask`] is a document with the bars that programs of it are judged on. [`judge_submission`] takes card and source
//! through the six gates, a [`BoxedJudge`] serves the chain that decides which iterations stand.
//! A [`StrategyStudy`] asks models for strategies and patches, and has them review each other's programs.
//!
//! Knows: files, panels, the box, the one client, what judges strategies. Never knows: a mask, an episode, how a gate decides.

mod arena;
mod bars;
mod box_runs;
mod cells;
mod error;
mod experiment_report;
mod human_marks;
mod judge;
mod leak_gate;
mod own_lint;
mod own_strategy;
mod reference_program;
mod replies;
mod run;
mod run_outcome;
mod size_table;
mod stepped;
mod strategy_source;
mod strip;
mod study;
mod tables;
mod task;

pub use arena::ReviewUnit;
pub use bars::{RealBars, SeriesChoice, SplitDays};
pub use error::StrategyError;
pub use experiment_report::{StrategyReport, people_table, published_table};
pub use judge::{BoxedJudge, judge_submission, static_scores, strategy_boxes, trace_program};
pub use ktd_strategy_code::PaperScores;
pub use ktd_strategy_code::{
    DocumentId, DriftRule, GateSecret, PATCH_LINES_MAX, PatchSize, StrategyCard, StrategyContract,
    StrategyDocument, StrategySubmission, StrategyVersion, VersionDrift, scenario_answers,
};
pub use own_lint::own_findings;
pub use own_strategy::OwnStrategy;
pub use replies::{ScoredStrategy, StrategyReplies};
pub use run::{
    ArenaKeys, ReviewText, ReviewerChoice, StrategyChoice, StrategyExperiment, StrategyWorld,
    SubmissionFound, SubmissionUnit, VersionEvent,
};
pub use run_outcome::RunFault;
pub use size_table::{StrategySizeReport, StrategySizeRow, strategy_size_designs, strategy_sizes};
pub use strategy_source::StrategySource;
pub use strip::scenario_strip;
pub use study::{StrategyEvent, StrategyFound, StrategyStudy, StrategyUnit, recorded_scores};
pub use tables::{
    DescribedStrategy, DriftDocument, GateDocument, PatchDocument, document_table, drift_table, gate_tables,
    version_table,
};
pub use task::{SCENARIO_SEED, StrategyTask};
