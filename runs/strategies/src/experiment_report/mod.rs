//! The report on an experiment: tables T1 to T11, and one page. All are views of the records; nothing is asked and nothing is
//! run.

mod cells;
mod convergence;
mod equity;
mod execution;
mod gates;
mod iterations;
mod material;
mod money;
mod page;
mod peers;
mod people;
mod real_bars;
mod scores;
mod strategies;
mod strips;
mod write;

pub use material::StrategyReport;
pub use write::write_strategy_report;
