//! The cells of a table that a job gave back.

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
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
