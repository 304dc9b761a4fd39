//! A table of results: the same cells for the terminal, for CSV, for a page and for whoever reads any of them.

use super::cell::{TableCell, footnote};
use super::column::{Align, Column};
use super::safe::{csv_text, visible};
use super::text::wrapped;
use super::text_table::{Layout, Table};
use std::borrow::Cow;

/// The column that says why numbers of its row are missing.
pub const MISSING: &str = "missing";

/// A table with its title and notes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableData {
    /// What it shows.
    pub title: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<TableCell>>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

impl TableData {
    /// A table without rows and notes.
    pub fn new<C: Into<Column>>(title: impl Into<String>, columns: impl IntoIterator<Item = C>) -> Self {
        Self {
            title: title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// The table with these rows.
    #[must_use]
    pub fn with_rows(self, rows: impl IntoIterator<Item = Vec<TableCell>>) -> Self {
        let rows = rows.into_iter().collect();
        Self { rows, ..self }
    }

    /// The table with one more note.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether no row says anything.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let says_nothing = |cell: &TableCell| !matches!(cell, TableCell::Missing(_)) && cell.raw().is_empty();
        self.rows.iter().flatten().all(says_nothing)
    }

    /// The table without columns that say nothing in any row. Why all rows lack a figure is said once, in a note.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let mut absent: Vec<(String, Vec<String>)> = Vec::new();
        for place in (0..self.columns.len()).rev() {
            let cells = || self.rows.iter().filter_map(|row| row.get(place));
            let reason_of = |cell: &TableCell| {
                if let TableCell::Missing(reason) = cell {
                    Some(reason.clone())
                } else {
                    None
                }
            };
            let reason = cells().find_map(reason_of);
            let says_nothing = |cell: &TableCell| match reason_of(cell) {
                own @ Some(_) => own == reason,
                None => cell.raw().is_empty(),
            };
            if !cells().all(says_nothing) {
                continue;
            }
            let column = self.columns.remove(place);
            self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            let Some(reason) = reason else { continue };
            match absent.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, heads)) => heads.insert(0, column.head),
                None => absent.push((reason, vec![column.head])),
            }
        }
        let notes = absent
            .into_iter()
            .rev()
            .map(|(reason, heads)| format!("{}: {reason}", heads.join(", ")));
        self.notes.extend(notes);
        self
    }

    /// The table as text, with its title above and its notes below, all columns and no colour.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_in(Layout::default())
    }

    /// The table as text that fits, with its title above and, below, its notes and the reasons of what is missing in the
    /// columns that are shown.
    #[must_use]
    pub fn text_in(&self, layout: Layout<'_>) -> String {
        // The columns that a first draft shows number their reasons first.
        let draft = self.table(&mut Vec::new());
        let mut reasons = self.reasons(&draft.shown_in(layout));
        let table = self.table(&mut reasons);
        let stated = self.reasons(&table.shown_in(layout));
        let reasons = reasons.iter().enumerate();
        let reasons = reasons.filter(|(_, reason)| stated.contains(reason));
        let reasons = reasons.map(|(place, reason)| format!("n/a{}: {reason}", place + 1));
        let below = reasons.chain(self.notes.iter().map(|note| format!("note: {note}")));
        let title = paragraph(&self.title, layout);
        let below: Vec<String> = below.map(|line| paragraph(&line, layout)).collect();
        format!("{title}{}{}", table.render_in(layout), below.concat())
    }

    fn table<'c>(&'c self, reasons: &mut Vec<&'c str>) -> Table {
        let mut table = Table::with_columns(self.columns.iter().cloned());
        for row in &self.rows {
            table.row(row.iter().map(|cell| cell.in_terminal(reasons)));
        }
        table
    }

    /// Why cells of the shown columns are missing, each reason once.
    fn reasons(&self, shown: &[bool]) -> Vec<&str> {
        let mut reasons = Vec::new();
        for row in &self.rows {
            for (cell, _) in row.iter().zip(shown).filter(|(_, is_shown)| **is_shown) {
                if let TableCell::Missing(reason) = cell {
                    footnote(reason, &mut reasons);
                }
            }
        }
        reasons
    }

    /// The table for programs, which read a column of numbers as numbers and take one by its head: a head that stands again is
    /// numbered, and why numbers are missing stands in a last column.
    #[must_use]
    pub fn for_programs(&self) -> Cow<'_, Self> {
        let reasons: Vec<String> = self.rows.iter().map(|row| self.reasons_of(row)).collect();
        let is_whole = reasons.iter().all(String::is_empty);
        let heads = self.single_heads();
        if is_whole
            && heads
                .iter()
                .zip(&self.columns)
                .all(|(own, column)| *own == column.head)
        {
            return Cow::Borrowed(self);
        }
        let mut table = self.clone();
        for (column, head) in table.columns.iter_mut().zip(heads) {
            column.head = head;
        }
        if !is_whole {
            table.columns.push(Column::new(MISSING, Align::Left));
            for (row, reason) in table.rows.iter_mut().zip(reasons) {
                row.push(if reason.is_empty() {
                    TableCell::Empty
                } else {
                    TableCell::Text(reason)
                });
            }
        }
        Cow::Owned(table)
    }

    /// The heads, of equal ones the later with their number.
    fn single_heads(&self) -> Vec<String> {
        let heads = self.columns.iter().enumerate().map(|(place, column)| {
            let before = self.columns.iter().take(place);
            match before.filter(|before| before.head == column.head).count() {
                0 => column.head.clone(),
                again => format!("{} {}", column.head, again + 1),
            }
        });
        heads.collect()
    }

    /// Why cells of a row are missing: `head, head: reason; head: reason`.
    fn reasons_of(&self, row: &[TableCell]) -> String {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for (cell, column) in row.iter().zip(&self.columns) {
            let TableCell::Missing(reason) = cell else {
                continue;
            };
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, heads)) => heads.push(&column.head),
                None => reasons.push((reason, vec![&column.head])),
            }
        }
        let reasons = reasons
            .into_iter()
            .map(|(reason, heads)| format!("{}: {reason}", heads.join(", ")));
        reasons.collect::<Vec<_>>().join("; ")
    }

    /// Heads and rows for CSV: unrounded numbers, nothing where one is missing, and text that no spreadsheet runs.
    pub fn records(&self) -> impl Iterator<Item = Vec<String>> {
        let heads = self
            .columns
            .iter()
            .map(|column| csv_text(&column.head).into_owned());
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(TableCell::raw).collect());
        std::iter::once(heads.collect()).chain(rows)
    }
}

/// Text in lines that fit, each ended by a line feed, with what a terminal would obey made visible.
#[must_use]
pub fn paragraph(text: &str, layout: Layout<'_>) -> String {
    let text = visible(text);
    let lines = layout
        .width
        .map_or_else(|| vec![text.to_string()], |width| wrapped(&text, width));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::{Align, display_width};
    use super::*;

    fn table() -> TableData {
        TableData::new(
            "Agents \u{1b}[2J",
            [("agent", Align::Left), ("=head", Align::Right)],
        )
        .with_rows([
            vec![
                TableCell::Text("=cmd|'/C calc'!A0".to_owned()),
                TableCell::Change(-0.25),
            ],
            vec![
                TableCell::Text("\u{1b}]0;x\u{7}".to_owned()),
                TableCell::Missing("too few days".to_owned()),
            ],
        ])
        .with_note("one two three four five six seven")
    }

    #[test]
    fn csv_holds_exact_numbers_and_no_formula() {
        let records: Vec<Vec<String>> = table().records().collect();
        assert_eq!(
            records,
            [
                ["agent", "'=head"],
                ["'=cmd|'/C calc'!A0", "-0.25"],
                ["\\u{1b}]0;x\\u{7}", ""],
            ]
        );
    }

    #[test]
    fn a_column_that_says_nothing_in_any_row_is_left_out_and_why_is_a_note() {
        let missing = |reason: &str| TableCell::Missing(reason.to_owned());
        let row = |name: &str, second: TableCell| {
            let name = TableCell::Text(name.to_owned());
            vec![
                name,
                missing("hidden"),
                second,
                TableCell::Empty,
                missing("hidden"),
            ]
        };
        let heads = ["agent", "return", "cost", "tie", "drawdown"].map(|head| (head, Align::Right));
        let rows = [row("a", missing("no price")), row("b", TableCell::Count(1))];
        let table = TableData::new("t", heads).with_rows(rows).without_empty_columns();
        assert_eq!(
            table.text(),
            "t\nagent  cost\n    a  n/a1\n    b     1\nn/a1: no price\nnote: return, drawdown: hidden\n"
        );
    }

    #[test]
    fn text_is_safe_and_fits() {
        let text = table().text_in(Layout {
            width: Some(30),
            ..Layout::default()
        });
        assert!(text.lines().all(|line| display_width(line) <= 30), "{text}");
        assert!(
            !text.contains(|character: char| character.is_control() && character != '\n'),
            "{text:?}"
        );
        assert!(
            text.contains("note: one two three four five\nsix seven\n"),
            "{text}"
        );
        assert!(
            table()
                .text()
                .ends_with("n/a1: too few days\nnote: one two three four five six seven\n")
        );
    }

    #[test]
    fn only_what_is_shown_has_its_reason_below() {
        let missing = |reason: &str| TableCell::Missing(reason.to_owned());
        let heads = [
            ("agent", Align::Left, 0),
            ("hidden", Align::Right, 9),
            ("shown", Align::Right, 0),
        ];
        let table = TableData::new("t", heads).with_rows([
            vec![TableCell::Text("a".to_owned()), missing("one"), missing("two")],
            vec![
                TableCell::Text("b".to_owned()),
                missing("two"),
                TableCell::Count(1),
            ],
        ]);
        let layout = Layout {
            width: Some(14),
            ..Layout::default()
        };
        assert_eq!(
            table.text_in(layout),
            "t\nagent  shown\na       n/a1\nb          1\nnot shown:\nhidden\nn/a1: two\n"
        );
        assert!(table.text().ends_with("n/a1: one\nn/a2: two\n"));
    }
}
