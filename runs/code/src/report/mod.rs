//! The report on finished bundles: tables, and one page. All are views of the records; nothing is asked and nothing is run.

mod bundles;
mod failures;
mod false_accepts;
mod files;
mod money;
mod page;
mod plots;
mod rates;
mod score_tables;
mod sweep;

pub use bundles::FactorCodeReport;
pub(crate) use bundles::ReportedBundle;
pub use files::write_report;
