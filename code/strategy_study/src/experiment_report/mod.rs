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
mod score_parts;
mod scores;
mod strategies;
mod strips;

pub use material::StrategyReport;
pub(crate) use page::study_report;
pub use people::people_table;
pub use score_parts::published_table;
pub(crate) use score_parts::tables as score_tables;

#[cfg(test)]
pub(crate) use material::fixture;
