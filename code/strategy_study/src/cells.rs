//! Cells and columns of tables.

use ktd_strategy_code::SubmissionRows;
use ktd_view::draw::{Align, Column, RowCells, TableCell};
use ktd_view::row_table::RowTable;

pub(crate) fn missing(reason: &str) -> TableCell {
    TableCell::Missing(reason.to_owned())
}

/// A table with the columns that name a submission.
pub(crate) fn of_submissions<'r, R: Copy>(
    table: RowTable<R>,
    rows: impl Fn(R) -> &'r SubmissionRows + Copy,
) -> RowTable<R> {
    table
        .text("model", |row| &rows(row).model)
        .text("strategy", |row| &rows(row).strategy)
        .column(Column::new("seed", Align::Right).of(RowCells::Text), |row| {
            TableCell::Text(rows(row).seed.to_string())
        })
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines and of submissions")]
pub(crate) const fn as_number(count: usize) -> f64 {
    count as f64
}

/// Mean; none of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / as_number(values.len()))
}

/// A share; none of nothing.
pub(crate) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| as_number(part) / as_number(whole))
}

/// Why what counts valid versions alone is missing.
pub(crate) const NONE_VALID: &str = "no ranked version passes all gates";
/// Why what reviewers say is missing.
pub(crate) const NO_REVIEW: &str = "no valid submission that another model reviewed";
/// Why D1 has no bounds.
pub(crate) const FEW_DRAWS: &str = "it was not run, or its bars are not drawn from several seeds";
