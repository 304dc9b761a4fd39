//! Trading strategies written by models: programs run in the box, gates, drift between versions, scores, tables.
//!
//! A [`StrategyTask`] is a document with the bars that programs of it are judged on. [`judge_submission`] takes a
//! [`StrategySubmission`] through the six gates, a [`VersionChain`] decides which of its iterations stand.
//! A [`StrategyStudy`] asks models for strategies and patches, and has them review each other's programs.
//!
//! Knows: files, panels, the box, the one client, what judges strategies. Never knows: a mask, an episode, how a gate decides.

mod arena;
mod bar_traces;
mod bars;
mod box_runs;
mod cells;
mod error;
mod experiment_report;
mod frames;
mod human_marks;
mod judge;
mod number;
mod own_lint;
mod own_strategy;
mod reference_program;
mod replies;
mod report;
mod rows;
mod run;
mod score_evidence;
mod score_tables;
mod source_facts;
mod strategy_id;
mod strategy_source;
mod strip;
mod study;
mod submission;
mod tables;
mod task;
mod versions;

pub use arena::{
    ArenaModel, ArenaRecord, ControlKind, LeftOut, ReviewEvent, ReviewScore, ReviewUnit, ReviewerRow,
    ReviewsFound,
};
pub use bar_traces::{BarTrace, MarketTrace};
pub use bars::{EarnedRow, FillRow, RealBars, RealRow, RealVersion, SeriesChoice, SplitDays};
pub use box_runs::RunFault;
pub use error::StrategyError;
pub use experiment_report::{StrategyReport, people_table};
pub use judge::{judge_submission, static_evidence, strategy_boxes, trace_program};
pub use ktd_strategy_code::{
    DocumentId, LONG_RUN, PatchSize, StrategyCard, StrategyDocument, StrategyVersion, VersionDrift,
    document_json, document_text,
};
pub use own_lint::own_findings;
pub use own_strategy::OwnStrategy;
pub use replies::{ScoredStrategy, StrategyReplies};
pub use report::{RunEvidence, StressOutcome, SubmissionReport};
pub use rows::{SubmissionRows, VersionRow};
pub use run::{
    ArenaKeys, DriftEvent, PatchEvent, RealSubmission, ReviewText, ReviewerChoice, SandboxKeys,
    StrategyChoice, StrategyExperiment, StrategyGoal, StrategyWorld, SubmissionFound, SubmissionUnit,
    VersionEvent, VersionReport,
};
pub use score_evidence::{MeasuredEvidence, PublishedEvidence, ScoreEvidence};
pub use score_tables::{score_tables, score_value};
pub use source_facts::source_facts;
pub use strategy_id::StrategyId;
pub use strategy_source::StrategySource;
pub use strip::scenario_strip;
pub use study::{
    RecordedScores, StrategyEvent, StrategyFound, StrategyStudy, StrategyUnit, VersionParts, recorded_scores,
};
pub use submission::StrategySubmission;
pub use tables::{
    document_table, document_value, drift_text, patch_text, published_text, report_text, scored_value,
    version_table,
};
pub use task::{SCENARIO_SEED, StrategyTask};
pub use versions::{DriftRule, SubmissionVersion, VersionChain};
