//! The benchmark of factor functions: models are asked, their functions are judged in the box, everything is recorded.
//!
//! | file of a bundle | holds |
//! |---|---|
//! | `header.json` | all that decides the run: tasks, texts, panels, box, rounds |
//! | `agent.json` | the agent and its endpoint |
//! | `exchanges.jsonl.zst` | every request before it is sent, and what came back |
//! | `events.jsonl` | a line a task, sample and round: the verdict, or why there is none |
//! | `sources/ID-ROUND.py` | the functions |
//! | `spending.json` | tokens and money |
//! | `summary.json` | counts that follow from the events; its presence says that the bundle is whole |
//! | `judged.jsonl` | while it runs: verdicts so far |
//! | `private/panel_Q.csv` | the bars of a real stock |

mod bundle;
mod cell;
mod cell_run;
mod comparison;
mod config;
mod estimate;
mod event;
mod experiment;
mod feedback;
mod header;
mod real_stock;
mod replay;
mod style;
mod summary;
mod summary_table;
mod verdicts;

pub(crate) use bundle::panels_of;
pub use bundle::{FactorCodeBundle, FactorCodePaths};
pub use cell::FactorCodeCell;
pub use config::{FactorCodeConfig, FeedbackKey, FormatKey, RealStock, TaskNames};
pub use estimate::{FactorCodeEstimate, estimate_table};
pub use event::FactorCodeEvent;
pub use experiment::{CellEnd, FactorCodeRun};
pub use header::{FactorCodeHeader, SandboxRecord, is_factor_code};
pub use replay::replay_factor_code;
pub use style::CodeStyle;
pub(crate) use summary::rounds_of;
pub use summary::{FactorCodeSummary, PassAtK, RoundCounts};
pub use summary_table::summary_table;
