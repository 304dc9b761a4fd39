//! Market data at the edge: reading sources, panel files, reports.
//!
//! Knows: files of market data and the market they make. Never knows: a mask, a model, a record.

mod checked_panel;
mod code_changes;
mod collector;
mod column;
mod columns;
mod csv_rows;
mod day_facts;
mod dividends;
mod error;
mod facts;
mod file_kind;
mod import_progress;
mod index_levels;
mod members;
mod missing_columns;
mod parquet_columns;
mod parquet_file;
mod parquet_rows;
mod parquet_values;
mod preset_windows;
mod qlib_bins;
mod sectors;
mod side_file;
mod source;
mod source_files;
mod source_forms;
mod span_columns;
mod statuses;
mod table_rows;
mod unit_check;
mod units;
mod vendor_forms;

pub mod bar_table;
pub mod check;
pub mod factor_file;
pub mod import;
pub mod market_source;
pub mod panel_file;
pub mod scores;
pub mod training_rows;
pub mod values_file;

pub use checked_panel::CheckedPanel;
pub use code_changes::JoinedCode;
pub use day_facts::DayFact;
pub use error::DataFileError;
pub use import::{ImportOptions, ImportReport, Imported, import};
pub use panel_file::{hash_text, is_panel, load_panel};
pub use source_forms::{SourceDocument, SourceForm, TakenColumn, forms_text};

#[cfg(test)]
mod code_changes_tests;
#[cfg(test)]
mod parquet_tests;
#[cfg(test)]
mod side_facts_tests;
#[cfg(test)]
mod vendor_forms_tests;
