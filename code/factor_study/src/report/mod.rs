//! The report: tables, and one page.

mod cells;
mod failures;
mod false_accepts;
mod functions;
mod money;
mod page;
mod plots;
mod rates;
mod score_tables;
mod sweep;

pub(crate) use page::factor_code_report;
