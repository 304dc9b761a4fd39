//! The report: tables, and one page.

mod cells;
mod comparison;
mod failures;
mod functions;
mod help;
mod layers;
mod money;
mod over_engineered;
mod page;
mod pictures;
mod plots;
mod score_tables;
mod sweep;

pub use failures::gates_table;
pub(crate) use page::factor_code_report;
