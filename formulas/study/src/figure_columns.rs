//! Columns of figures.

use ktd_alphas::FigureRow;
use ktd_view::draw::{Align, TableCell, named};
use ktd_view::row_table::RowTable;

/// Figures that are whole numbers.
const COUNTS: [&str; 8] = [
    "days",
    "left_out",
    "without_label",
    "distinct",
    "trials_low",
    "trials_high",
    "rejected_exchange",
    "length_pairs",
];

/// Tables whose rows have figures.
pub(crate) trait FigureColumns<R> {
    /// The table with one more column of numbers of any form.
    fn right(self, head: &str, cell: impl Fn(R) -> TableCell) -> Self;

    /// The table with a column for each of these figures, under its own name.
    fn figures<'r>(self, names: &[&str], of: impl Fn(R) -> &'r FigureRow) -> Self;
}

impl<R: Copy> FigureColumns<R> for RowTable<R> {
    fn right(self, head: &str, cell: impl Fn(R) -> TableCell) -> Self {
        self.column((head, Align::Right), cell)
    }

    fn figures<'r>(self, names: &[&str], of: impl Fn(R) -> &'r FigureRow) -> Self {
        names.iter().fold(self, |table, name| {
            table.right(name, |row| figure_cell(of(row), name))
        })
    }
}

/// A figure, or why there is none; nothing where nobody asked for it.
pub(crate) fn figure_cell(row: &FigureRow, name: &str) -> TableCell {
    match (row.get(name), row.undefined.get(name)) {
        (Some(value), _) if name == "p" || name.ends_with("_p") => TableCell::P(value),
        (Some(value), _) if COUNTS.contains(&name) => TableCell::Count(whole(value)),
        (Some(value), _) => TableCell::Fine(value),
        (None, Some(reason)) => TableCell::Missing(named(reason)),
        (None, None) => TableCell::Empty,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53 and never negative"
)]
const fn whole(count: f64) -> usize {
    count as usize
}
