//! Strategies that models write as a kind of study: its units, its plan, and what others take of its records.

mod continued;
mod kind;
mod planned;
mod recorded_scores;
mod unit;

pub use kind::StrategyStudy;
pub use recorded_scores::{RecordedScores, VersionParts, recorded_scores};
pub use unit::{StrategyEvent, StrategyFound, StrategyUnit};
