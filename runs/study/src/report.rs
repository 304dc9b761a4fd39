//! Report of a study: what it says first, then tables, pictures and notes, as values.

use crate::StudyError;
use ktd_view::draw::{MISSING, RowCells, TableData};
use ktd_view::report_table::{ReportTable, in_json};
use maud::Markup;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Report of a study of any kind. Its writers make a page, Markdown, CSV, Parquet, JSON and the terminal's text of it.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// The verdict: the first thing that anybody reads.
    pub verdict: String,
    /// What a reader must know, below the verdict of the page.
    pub notes: Vec<String>,
    /// Sections of the page.
    pub sections: Vec<Section>,
    /// The folder of the tables' CSV files; empty where they lie beside the page.
    pub folder: &'static str,
    /// Rows for programs alone: each a file.
    pub rows: Vec<DataRows>,
    /// Further files, by their place in the folder.
    pub files: Vec<(String, Vec<u8>)>,
    /// Style sheets of the page beside the house's.
    pub styles: Vec<&'static str>,
    /// The last lines of the page: what the figures hang on.
    pub footer: String,
}

/// Section of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its heading.
    pub heading: &'static str,
    /// Its anchor; made of the heading where there is none.
    pub anchor: Option<&'static str>,
    /// What it shows and how it is read; may be empty.
    pub lead: &'static str,
    /// What stands in it.
    pub parts: Vec<SectionPart>,
}

/// Part of a section.
#[derive(Debug, Clone)]
pub enum SectionPart {
    /// A table.
    Table(ReportTable, Shown),
    /// A picture.
    Picture(Markup),
    /// The name of a file that holds the numbers of the section.
    Source(&'static str),
}

/// Where a table is shown beside its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In the terminal and on the page.
    Everywhere,
    /// On the page, and in the terminal where everything is asked for.
    Page,
    /// On the page, folded under its own title, and in the terminal where everything is asked for.
    Folded,
    /// In the terminal and on the page, without files of its own: a part of another table.
    Excerpt,
    /// In the terminal alone: the page has another form of it.
    Terminal,
    /// On the page alone, without files of its own.
    PageAlone,
    /// As files alone.
    Files,
}

impl Shown {
    /// Whether the table has files of its own.
    #[must_use]
    pub const fn has_files(self) -> bool {
        !matches!(self, Self::Excerpt | Self::Terminal | Self::PageAlone)
    }

    pub(crate) const fn is_on_page(self) -> bool {
        !matches!(self, Self::Terminal | Self::Files)
    }

    pub(crate) const fn is_in_terminal(self) -> bool {
        matches!(self, Self::Everywhere | Self::Excerpt | Self::Terminal)
    }
}

impl Section {
    /// An empty section.
    #[must_use]
    pub const fn new(heading: &'static str) -> Self {
        Self {
            heading,
            anchor: None,
            lead: "",
            parts: Vec::new(),
        }
    }

    /// The section with an anchor, and with what it shows.
    #[must_use]
    pub const fn at(mut self, anchor: &'static str, lead: &'static str) -> Self {
        self.anchor = Some(anchor);
        self.lead = lead;
        self
    }

    /// The section with a table, whose files have the name `id`.
    #[must_use]
    pub fn table(mut self, id: impl Into<Cow<'static, str>>, data: TableData, shown: Shown) -> Self {
        self.parts
            .push(SectionPart::Table(ReportTable::new(id, data), shown));
        self
    }

    /// The section with a picture.
    #[must_use]
    pub fn picture(mut self, picture: Markup) -> Self {
        self.parts.push(SectionPart::Picture(picture));
        self
    }
}

impl Report {
    /// The tables that have files of their own, in the order of the page.
    pub(crate) fn filed(&self) -> impl Iterator<Item = &ReportTable> {
        self.tables()
            .filter(|(_, shown)| shown.has_files())
            .map(|(table, _)| table)
    }

    /// Every table with where it is shown, in the order of the page.
    pub fn tables(&self) -> impl Iterator<Item = (&ReportTable, Shown)> {
        self.sections
            .iter()
            .flat_map(|section| &section.parts)
            .filter_map(|part| match part {
                SectionPart::Table(table, shown) => Some((table, *shown)),
                SectionPart::Picture(_) | SectionPart::Source(_) => None,
            })
    }
}

/// Rows of equal members, as files that programs read: a column a member.
#[derive(Debug, Clone)]
pub struct DataRows {
    /// The name of the files.
    pub id: String,
    /// The columns, with what each holds in every report of its kind.
    pub columns: Vec<(String, RowCells)>,
    /// The cells, row by row.
    pub rows: Vec<Vec<Value>>,
}

impl DataRows {
    /// Rows of plain members, each with its column: numbers, texts, booleans, or nothing.
    ///
    /// # Errors
    /// [`StudyError`] for a member that has no column, or is not what its column holds.
    pub fn of<T: Serialize>(id: &str, columns: &[(&str, RowCells)], rows: &[T]) -> Result<Self, StudyError> {
        let defect = |error: &dyn std::fmt::Display| {
            StudyError::input(
                format_args!("the rows {id} are no table: {error}"),
                "this is a defect of the program: report it",
            )
        };
        let cells_of = |row: &T| {
            let value = serde_json::to_value(row).map_err(|error| defect(&error))?;
            let members = value.as_object().map_or(0, serde_json::Map::len);
            let cells = columns
                .iter()
                .map(|(head, cells)| value.get(head).filter(|cell| holds(*cells, cell)).cloned());
            let cells: Option<Vec<Value>> = cells.collect();
            let cells = cells.filter(|cells| cells.len() == members);
            cells.ok_or_else(|| defect(&"a row has other members than the columns say"))
        };
        Ok(Self {
            id: id.to_owned(),
            columns: columns
                .iter()
                .map(|(head, cells)| ((*head).to_owned(), *cells))
                .collect(),
            rows: rows.iter().map(cells_of).collect::<Result<_, _>>()?,
        })
    }

    /// The cells of a table for people, unrounded. Why numbers are missing is a column of every one, as files of several studies
    /// are one table only where they have the same columns.
    #[must_use]
    pub fn of_table(table: &ReportTable) -> Self {
        let data = table.data.for_programs();
        let mut rows: Vec<Vec<Value>> = data
            .rows
            .iter()
            .map(|row| row.iter().map(in_json).collect())
            .collect();
        let mut columns: Vec<(String, RowCells)> = data
            .columns
            .iter()
            .map(|column| (column.head.clone(), column.cells))
            .collect();
        if columns.len() == table.data.columns.len() {
            columns.push((MISSING.to_owned(), RowCells::Text));
            for row in &mut rows {
                row.push(Value::Null);
            }
        }
        for (place, (_, cells)) in columns.iter_mut().enumerate() {
            let fits = |row: &Vec<Value>| row.get(place).is_none_or(|cell| holds(*cells, cell));
            if !rows.iter().all(fits) {
                // No words are lost where a table says another kind than it holds.
                *cells = RowCells::Text;
            }
        }
        Self {
            id: table.id.clone().into_owned(),
            columns,
            rows,
        }
    }
}

/// Whether a cell may stand in a column.
fn holds(cells: RowCells, cell: &Value) -> bool {
    cell.is_null()
        || match cells {
            RowCells::Whole => cell.is_i64(),
            RowCells::Number => cell.is_number(),
            RowCells::Text => cell.is_string(),
            RowCells::Flag => cell.is_boolean(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_view::draw::Align::Right;
    use ktd_view::draw::TableCell;
    use serde_json::json;

    #[test]
    fn columns_have_heads_of_their_own_and_the_kind_that_the_table_says() {
        let data = TableData::new("t", [("gain", Right); 3]).with_rows([vec![
            TableCell::Worded(1.5, "1.50 *".to_owned()),
            TableCell::Missing("no day".to_owned()),
            TableCell::Count(2),
        ]]);
        let columns = ["gain", "gain 2", "gain 3"].map(|head| (head.to_owned(), RowCells::Number));
        let columns = [&columns[..], &[("missing".to_owned(), RowCells::Text)]].concat();
        let table = ReportTable::new("t", data.clone());
        assert!(table.csv().starts_with("gain,gain 2,gain 3,missing\n"));
        let rows = DataRows::of_table(&table);
        assert_eq!(rows.columns, columns);
        assert_eq!(
            rows.rows,
            [[json!(1.5), Value::Null, json!(2), json!("gain: no day")]]
        );
        let empty = DataRows::of_table(&ReportTable::new("t", data.with_rows([])));
        assert_eq!(empty.columns, columns);
    }

    #[test]
    fn a_member_without_a_column_or_of_another_kind_is_a_defect() {
        let rows = [json!({"a": 1, "b": null})];
        let of = |columns: &[(&str, RowCells)]| DataRows::of("t", columns, &rows);
        assert!(of(&[("a", RowCells::Whole), ("b", RowCells::Number)]).is_ok());
        for columns in [
            &[("a", RowCells::Whole)][..],
            &[("a", RowCells::Text), ("b", RowCells::Text)],
        ] {
            assert!(of(columns).is_err(), "{columns:?}");
        }
    }
}
