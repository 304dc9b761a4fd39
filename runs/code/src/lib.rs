//! Factor code written by models: files of panels and replies, functions run in the box, verdicts and tables.
//!
//! Knows: files, the box, models that are asked, what judges factor code. Never knows: a mask, an episode, how a function is
//! judged.

mod boxed_reply;
mod error;
mod panel_files;
mod report;
mod run;
mod scored;
mod tables;
mod timing;

pub use boxed_reply::{JudgedReply, judge_reply};
pub use error::CodeError;
pub use ktd_factor_code::{AccuracyRules, FactorPanels, FactorReplies, FactorTask, FactorTasks, PanelKind};
pub use panel_files::{read_bars, read_panels, write_golden};
pub use report::{FactorCodeReport, write_report};
pub use run::{
    CellEnd, CodeStyle, FactorCodeBundle, FactorCodeCell, FactorCodeConfig, FactorCodeEstimate,
    FactorCodeEvent, FactorCodeHeader, FactorCodePaths, FactorCodeRun, FactorCodeSummary, FeedbackKey,
    FormatKey, PassAtK, RealStock, RoundCounts, SandboxRecord, TaskNames, estimate_table, is_factor_code,
    replay_factor_code, summary_table,
};
pub use scored::{ScoredRound, score_replies};
pub use tables::{funnel_table, scored_json, task_table, verdict_json, verdict_text};
pub use timing::{FactorCodeTimes, TIMED_RUNS, TimedFunction};
