//! Factor functions written by models: can the code be trusted?
//!
//! A model gets a sentence about one factor of one stock and writes a Python function. The function is judged in four
//! layers: it runs, it does not look ahead, it is right, it is vectorised. This crate holds the tasks with definitions
//! that a program can compute, the panels, the plans of runs that each layer needs, and what judges their outputs. Who
//! runs a function is the caller: a job goes out as a description, and a column of numbers comes back.
//!
//! Knows: `env` for its keyed stream of chance, `stats`. Never knows: processes, files, clocks, models, markets.

mod accuracy;
mod bars;
mod casts;
mod error;
mod false_accepts;
mod family_rate;
mod feedback;
mod funnel;
pub mod fx;
mod fx_error;
mod gate;
mod gate_plan;
mod gate_secret;
mod job;
mod judge;
mod loops;
mod near_miss;
mod panel;
mod pass_at_k;
mod planted;
mod rates;
mod replies;
mod reply;
mod rounds;
mod sizes;
mod source_size;
mod step_count;
mod structure;
#[cfg(test)]
mod structure_tests;
mod sweep;
mod syntax;
mod task;
mod verdict;
mod verdict_words;

pub use accuracy::{AccuracyFigures, AccuracyRules, DifferingRows, differing_rows};
pub use bars::{BAR_COLUMNS, FactorBar, FactorBars, PanelDay};
pub use error::FactorCodeError;
pub use false_accepts::{FalseAccepts, false_accepts};
pub use family_rate::{FamilyRate, compared_models};
pub use feedback::{FeedbackFacts, FeedbackScope, without_paths};
pub use funnel::{Funnel, FunnelCounts, JudgedTask, TaskGroup, level_weighted};
pub use gate::{CausalityGate, GateRule, LeakEvidence, PUBLISHED_CUTS, SWEPT_CUTS, SafetyVerdict};
pub use gate_secret::{FactorGateSecret, GatedPanels};
pub use job::{FactorJob, FailureReason, PanelChange, RunColumn, RunFailure, RunOutcome};
pub use judge::{FactorJudge, GoldenColumns, curve_of};
pub use loops::LoopMeasure;
pub use near_miss::{JudgedColumn, NearMiss, near_miss};
pub use panel::{
    ChangedColumns, FactorPanels, LEAST_PANEL_ROWS, PANEL_ROWS, PanelKind, TIMING_ROWS, timing_bars,
};
pub use pass_at_k::PassAtK;
pub use planted::{PlantedKind, PlantedProgram, planted_program};
pub use rates::{TaskRate, mean_pass_at_k, pass_at_k};
pub use replies::{FactorReplies, MOST_ROUNDS};
pub use reply::{ChosenFunction, ReplyFlag, ReplySource, SourceProblem};
pub use rounds::{ScoredReplies, ScoredRound};
pub use sizes::{FactorSizeDesign, FactorSizes, PlantedSkill};
pub use source_size::SourceSize;
pub use step_count::{CountFault, StepCount};
pub use structure::{StructureReport, Violation};
pub use sweep::SweepSetting;
pub use syntax::{SyntaxFact, SyntaxFacts};
pub use task::{FactorCategory, FactorLevel, FactorTask, FactorTasks, TaskId};
pub use verdict::{CodeExecution, FactorVerdict, FailureClass, JudgeRule, LayersPassed, VerdictDocument};
pub use verdict_words::verdict_words;
