//! Factor code written by models: files of panels and replies, functions run in the box, verdicts and tables.
//!
//! Knows: files, the box, what judges factor code. Never knows: a market, a mask, how a function is judged.

mod boxed_reply;
mod error;
mod panel_files;
mod scored;
mod tables;

pub use boxed_reply::judge_reply;
pub use error::CodeError;
pub use ktd_factor_code::{AccuracyRules, FactorPanels, FactorReplies, FactorTask, FactorTasks, PanelKind};
pub use panel_files::{read_bars, read_panels, write_golden};
pub use scored::{ScoredRound, score_replies};
pub use tables::{funnel_table, scored_json, task_table, verdict_json, verdict_text};
