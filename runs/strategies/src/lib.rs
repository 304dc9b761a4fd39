//! Trading strategies written by models: programs run in the box, gates, drift between versions, scores, tables.
//!
//! Knows: files, the box, what judges strategies. Never knows: a market, a mask, how a strategy is judged.

mod box_runs;
mod error;
mod judge;
mod report;
mod source_facts;
mod submission;
mod task;

pub use box_runs::RunFault;
pub use error::StrategyError;
pub use judge::{judge_submission, trace_program};
pub use report::{RunEvidence, StressOutcome, SubmissionReport};
pub use source_facts::source_facts;
pub use submission::StrategySubmission;
pub use task::{SCENARIO_SEED, StrategyTask};
