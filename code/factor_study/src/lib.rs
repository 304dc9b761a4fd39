//! Factor code written by models, as a study: files of panels and replies, functions run in the box, verdicts and tables.
//!
//! Knows: the box, what judges factor code, the shape of a study. Never knows: a mask, an episode, how a function is judged, how
//! a record is kept.

mod boxed_reply;
mod error;
mod kind;
mod panel_files;
mod report;
mod run;
mod scored;
mod size_table;
mod tables;

pub use boxed_reply::{FactorJudgedBy, JudgedReply, judge_reply};
pub use error::CodeError;
pub use kind::{FactorCodeStudy, read_factor_code_config};
pub use ktd_factor_code::{
    AccuracyRules, FactorGateSecret, FactorPanels, FactorReplies, FactorTask, FactorTasks, PanelKind,
    PlantedKind, ScoredReplies, VerdictDocument,
};
pub use panel_files::{read_bars, read_panels, write_golden};
pub use report::gates_table;
pub use run::{
    CellFound, CodeStyle, FactorCodeCell, FactorCodeConfig, FactorCodeEvent, FactorCodeFound,
    FactorCodeReport, FactorCodeUnit, FactorCodeWorld, FeedbackKey, FormatKey, GateFound, GatesFound,
    JudgedAnswer, JudgedOn, RealStock, RoundCounts, RoundSpending, TaskFacts, TaskNames, WrongProgram,
    planted_gates,
};
pub use scored::score_replies;
pub use size_table::{FactorSizeReport, FactorSizeRow, factor_size_designs, factor_sizes};
pub use tables::{funnel_table, task_table, verdict_text};
