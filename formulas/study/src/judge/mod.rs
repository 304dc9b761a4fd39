//! Language models as judges of formulas: the score Logic, with what length, nonsense and chance have to do with it.

mod events;
mod human;
mod kind;
mod list;
mod question;
mod questions_held;
mod reading;
mod record;
mod scores;
mod study_logic;
mod summary;
mod tables;

pub use crate::judge_config::{JudgeConfig, JudgeWording};
pub use kind::{FormulaJudging, JudgeFound, JudgeKeys, JudgeRequest, JudgeUnit, JudgeWorld};
pub use reading::JudgeReading;
pub use record::{
    JudgeAgreement, JudgeRecord, JudgedBy, JudgedFormula, JudgedPool, LogicJudgement, UnjudgedFormula,
};
pub use scores::{AnswerScore, read_scores};
pub use study_logic::StudyLogic;
pub use summary::JudgeAnswers;
