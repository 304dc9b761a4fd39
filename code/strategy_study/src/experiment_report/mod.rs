//! The report on an experiment: tables T1 to T11, sources, traces and documents. Nothing is asked and nothing is run.

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

pub use material::{StrategyReport, people_table};
pub(crate) use page::study_report;

#[cfg(test)]
pub(crate) use material::fixture;
