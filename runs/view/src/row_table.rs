//! Tables whose rows have a type: a column is a head, and what it shows of a row.

use crate::draw::{Align, Column, RowCells, TableCell, TableData};
use std::fmt::Display;

/// Table of rows `R`, column by column.
#[derive(Debug, Clone)]
pub struct RowTable<R> {
    rows: Vec<R>,
    data: TableData,
}

impl<R: Copy> RowTable<R> {
    /// A table of these rows without a column.
    #[must_use]
    pub fn new(title: impl Into<String>, rows: impl IntoIterator<Item = R>) -> Self {
        let rows: Vec<R> = rows.into_iter().collect();
        Self {
            data: TableData {
                title: title.into(),
                rows: vec![Vec::new(); rows.len()],
                ..TableData::default()
            },
            rows,
        }
    }

    /// The table.
    #[must_use]
    pub fn table(self) -> TableData {
        self.data
    }

    /// With one more column of any cells.
    #[must_use]
    pub fn column(mut self, column: impl Into<Column>, cell: impl Fn(R) -> TableCell) -> Self {
        self.data.columns.push(column.into());
        for (row, cells) in self.rows.iter().zip(&mut self.data.rows) {
            cells.push(cell(*row));
        }
        self
    }

    /// With one more column of text.
    #[must_use]
    pub fn text<T: Display>(self, head: &str, of: impl Fn(R) -> T) -> Self {
        self.column((head, Align::Left), |row| TableCell::Text(of(row).to_string()))
    }

    /// With one more column of counts.
    #[must_use]
    pub fn count<N: TryInto<usize>>(self, head: &str, of: impl Fn(R) -> N) -> Self {
        let count = |row| TableCell::Count(of(row).try_into().unwrap_or(usize::MAX));
        self.column(Column::new(head, Align::Right).of(RowCells::Whole), count)
    }

    /// With one more column of numbers with two decimals; empty where there is none.
    #[must_use]
    pub fn ratio<N: Into<Option<f64>>>(self, head: &str, of: impl Fn(R) -> N) -> Self {
        self.number(head, of, TableCell::Ratio)
    }

    /// With one more column of numbers with three decimals; empty where there is none.
    #[must_use]
    pub fn fine<N: Into<Option<f64>>>(self, head: &str, of: impl Fn(R) -> N) -> Self {
        self.number(head, of, TableCell::Fine)
    }

    /// With one more column of numbers in a form, or why there is none.
    #[must_use]
    pub fn figure(
        self,
        head: &str,
        of: impl Fn(R) -> Option<f64>,
        (form, reason): (fn(f64) -> TableCell, &str),
    ) -> Self {
        self.column((head, Align::Right), |row| {
            of(row).map_or_else(|| TableCell::Missing(reason.to_owned()), form)
        })
    }

    /// With one more column of numbers in a form; empty where there is none.
    #[must_use]
    pub fn number<N: Into<Option<f64>>>(
        self,
        head: &str,
        of: impl Fn(R) -> N,
        form: fn(f64) -> TableCell,
    ) -> Self {
        self.column((head, Align::Right), |row| {
            TableCell::optional(of(row).into(), form)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_says_its_head_its_side_and_its_cells() {
        let rows = [("a", 1_u64, Some(0.5)), ("b", 2, None)];
        let table = RowTable::new("t", &rows)
            .text("name", |row| row.0)
            .count("n", |row| row.1)
            .ratio("x", |row| row.2)
            .column(("y", Align::Right, 3), |_| TableCell::Empty)
            .table();
        assert_eq!(table.text(), "t\nname  n     x  y\na     1  0.50\nb     2\n");
        assert_eq!(table.columns[3].priority, 3);
    }
}
