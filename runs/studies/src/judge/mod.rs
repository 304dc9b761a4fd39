//! Language models as judges of formulas: the score Logic, with what length, nonsense and chance have to do with it.
//!
//! | file of the folder | holds |
//! |---|---|
//! | `request.json` | what decides every request: the list of formulas with its controls, prompt, seed, orders |
//! | `reading.json` | how scores are read: pools, models that found them, a human ranking |
//! | `agents/ID/agent.json` | the agent and its endpoint |
//! | `agents/ID/exchanges.jsonl.zst` | every request before it is sent, and what came back |
//! | `agents/ID/events.jsonl` | a line a question: scores and explanations, or why there are none |
//! | `agents/ID/spending.json` | tokens and money |
//! | `judgement.json` | what follows from all of it; a replay makes the same bytes |

mod events;
mod folder;
mod human;
mod list;
mod question;
mod reading;
mod record;
mod replay;
mod run;
mod scores;
mod study_logic;
mod summary;
mod tables;

pub use crate::judge_config::{JudgeConfig, JudgeWording};
pub use record::{
    JudgeAgreement, JudgeRecord, JudgedBy, JudgedFormula, JudgedPool, LogicJudgement, UnjudgedFormula,
};
pub use replay::replay_judgement;
pub use run::FormulaJudges;
pub use scores::{AnswerScore, read_scores};
pub use study_logic::StudyLogic;
pub use tables::{judge_table, judged_formula_table, judged_pool_table};
