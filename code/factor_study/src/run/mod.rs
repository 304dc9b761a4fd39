//! The benchmark of factor functions as a study: models are asked, their functions are judged in the box, all is recorded.

mod cell;
mod cell_run;
mod config;
mod estimate;
mod event;
mod feedback;
mod found;
mod gates;
mod real_stock;
mod rounds;
mod style;
mod world;

pub use cell::{FactorCodeCell, FactorCodeUnit};
pub(crate) use cell_run::CellRun;
pub(crate) use config::BENCHMARK;
pub use config::{FactorCodeConfig, FeedbackKey, FormatKey, RealStock, TaskNames};
pub use event::FactorCodeEvent;
pub use found::{
    CellFound, FactorCodeFound, FactorCodeReport, JudgedAnswer, JudgedOn, RoundCounts, RoundSpending,
    TaskFacts,
};
pub use gates::{GateFound, GatesFound, WrongProgram, planted_gates};
pub(crate) use rounds::{FIRST_ROUND, rounds_of};
pub use style::CodeStyle;
pub use world::FactorCodeWorld;
