//! The benchmark of factor functions as a study: models are asked, their functions are judged in the box, all is recorded.

mod cell;
mod cell_run;
mod comparison;
mod config;
mod estimate;
mod event;
mod feedback;
mod found;
mod real_stock;
mod style;
mod summary;
mod world;

pub use cell::{FactorCodeCell, FactorCodeUnit};
pub(crate) use cell_run::CellRun;
pub(crate) use comparison::difference;
pub(crate) use config::BENCHMARK;
pub use config::{FactorCodeConfig, FeedbackKey, FormatKey, RealStock, TaskNames};
pub use event::FactorCodeEvent;
pub use found::{
    CellFound, FactorCodeFound, FactorCodeReport, JudgedAnswer, JudgedOn, RoundSpending, TaskFacts,
};
pub use style::CodeStyle;
pub(crate) use summary::rounds_of;
pub use summary::{PassAtK, RoundCounts};
pub use world::FactorCodeWorld;
