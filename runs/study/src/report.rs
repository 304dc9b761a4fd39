//! Report of a study: what it says first, then tables, pictures and notes, as values.

use crate::StudyError;
use ktd_view::draw::TableData;
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
    /// The columns.
    pub heads: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<Value>>,
}

impl DataRows {
    /// Rows of plain members: numbers, texts, booleans, or nothing.
    ///
    /// # Errors
    /// [`StudyError`] for a member that is a list or an object.
    pub fn of<T: Serialize>(id: &str, rows: &[T]) -> Result<Self, StudyError> {
        let defect = |error: &dyn std::fmt::Display| {
            StudyError::input(
                format_args!("the rows {id} are no table: {error}"),
                "this is a defect of the program: report it",
            )
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        rows.iter()
            .try_for_each(|row| writer.serialize(row))
            .map_err(|error| defect(&error))?;
        let bytes = writer.into_inner().map_err(|error| defect(&error))?;
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let heads: Vec<String> = reader
            .headers()
            .map_err(|error| defect(&error))?
            .iter()
            .map(str::to_owned)
            .collect();
        let mut cells = Vec::with_capacity(rows.len());
        for row in rows {
            let value = serde_json::to_value(row).map_err(|error| defect(&error))?;
            cells.push(
                heads
                    .iter()
                    .map(|head| value.get(head).cloned().unwrap_or(Value::Null))
                    .collect(),
            );
        }
        Ok(Self {
            id: id.to_owned(),
            heads,
            rows: cells,
        })
    }

    /// The cells of a table for people, unrounded.
    #[must_use]
    pub fn of_table(table: &ReportTable) -> Self {
        let data = table.data.for_programs();
        let mut heads: Vec<String> = Vec::new();
        for (place, column) in data.columns.iter().enumerate() {
            let before = data.columns.iter().take(place);
            let again = before.filter(|before| before.head == column.head).count();
            let head = column.head.clone();
            heads.push(if again == 0 {
                head
            } else {
                format!("{head} {}", again + 1)
            });
        }
        Self {
            id: table.id.clone().into_owned(),
            heads,
            rows: data
                .rows
                .iter()
                .map(|row| row.iter().map(in_json).collect())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_view::draw::Align::Right;
    use ktd_view::draw::TableCell;
    use serde_json::json;

    #[test]
    fn columns_of_one_head_are_numbered_and_why_a_number_is_missing_is_a_column() {
        let data = TableData::new("t", [("gain", Right); 3]).with_rows([vec![
            TableCell::Worded(1.5, "1.50 *".to_owned()),
            TableCell::Missing("no day".to_owned()),
            TableCell::Count(2),
        ]]);
        let rows = DataRows::of_table(&ReportTable::new("t", data));
        assert_eq!(rows.heads, ["gain", "gain 2", "gain 3", "missing"]);
        assert_eq!(
            rows.rows,
            [[json!(1.5), Value::Null, json!(2), json!("gain: no day")]]
        );
    }
}
