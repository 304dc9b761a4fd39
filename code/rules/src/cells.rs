//! The cells of a table that a job gave back.

use serde::Deserialize;

/// A cell of a table. Of what is written, the first kind that it can be.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum TableCellValue {
    /// Nothing.
    Missing,
    /// True or false.
    Flag(bool),
    /// A whole number of 64 bits.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// A text, foreign like all of it: escaped wherever it is shown.
    Text(String),
}
