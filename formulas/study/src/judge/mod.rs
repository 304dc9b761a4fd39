//! Language models as judges of formulas: the score Logic, with what length, nonsense and chance have to do with it.

mod config;
mod human;
mod kind;
mod list;
mod question;
mod reading;
mod reading_pool;
mod record;
mod request;
mod scores;
mod summary;
mod tables;

pub use config::{JudgeStudy, JudgeWording};
pub use kind::{FormulaJudging, JudgeFound, JudgeUnit, JudgeWorld};
pub use reading::JudgeReading;
pub use record::{
    JudgeAgreement, JudgeRecord, JudgedBy, JudgedFormula, JudgedPool, LogicJudgement, UnjudgedFormula,
};
pub use request::JudgeRequest;
pub use scores::{AnswerScore, read_scores};
pub use summary::JudgeAnswers;
