//! Text tables, numbers and pictures: pure functions from values to text.
//!
//! Knows: nothing of ours. Never knows: files, the terminal, or what its numbers mean.

pub mod draw;
pub mod report_table;
pub mod row_table;
pub mod table;
