//! Inputs from which nothing can be learnt.

use thiserror::Error;

/// What was wrong with an input, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// No row to fit on.
    #[error("there is no row to fit on")]
    NoRows,
    /// Rows of no width.
    #[error("a row needs at least one column")]
    NoColumns,
    /// Values that do not fill whole rows.
    #[error("{values} values are not {rows} rows of {width} columns")]
    Shape {
        /// How many values there are.
        values: usize,
        /// Rows expected.
        rows: usize,
        /// Columns of a row.
        width: usize,
    },
    /// A value that is NaN or infinite.
    #[error("{series}: value {place} is invalid: it must be a finite number")]
    NotFinite {
        /// Which series.
        series: &'static str,
        /// 0-based place.
        place: usize,
    },
    /// A system of equations without a solution.
    #[error("the columns have no ridge solution: column {column} has no positive pivot")]
    Singular {
        /// 0-based column.
        column: usize,
    },
    /// A setting outside its range.
    #[error("invalid setting {name}: it must be {rule}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// A sequence that begins before the table.
    #[error("row {row} has fewer than {lookback} rows up to it, or lies outside the table")]
    ShortSequence {
        /// 0-based row.
        row: usize,
        /// Rows of a sequence.
        lookback: usize,
    },
    /// A named weight that is unknown, or has another number of values.
    #[error("weight {place} of the list does not fit the network: its name is unknown or its size differs")]
    Weight {
        /// 0-based place in the list given.
        place: usize,
    },
}

/// `values` are `rows` rows of `width` finite numbers.
pub(crate) fn check_rows(
    series: &'static str,
    values: &[f64],
    rows: usize,
    width: usize,
) -> Result<(), LearnError> {
    if width == 0 {
        return Err(LearnError::NoColumns);
    }
    if rows.checked_mul(width) != Some(values.len()) {
        let values = values.len();
        return Err(LearnError::Shape { values, rows, width });
    }
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(place) => Err(LearnError::NotFinite { series, place }),
    }
}
