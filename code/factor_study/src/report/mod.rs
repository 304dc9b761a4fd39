//! The report: tables, and one page.

mod cells;
mod failures;
mod functions;
mod layers;
mod money;
mod page;
mod plots;
mod score_tables;
mod sweep;

pub(crate) use failures::gates as gate_table;
pub(crate) use page::factor_code_report;
