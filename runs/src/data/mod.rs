//! Market data at the edge: reading sources, panel files, reports.

mod collector;
mod columns;
mod csv_rows;
mod facts;
mod index_levels;
mod members;
mod parquet_columns;
mod parquet_file;
mod parquet_rows;
mod parquet_values;
mod qlib_bins;
mod text_file;

pub mod check;
pub mod import;
pub mod panel_file;

pub use import::{ImportOptions, ImportReport, Imported, import};
pub use panel_file::{hash_text, is_panel, load_panel};
pub(crate) use text_file::open_text;

#[cfg(test)]
mod parquet_tests;
