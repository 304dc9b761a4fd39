//! The files of a report: the page, Markdown, JSON, and a CSV of each table.

use super::bundles::FactorCodeReport;
use super::page::page;
use crate::error::CodeError;
use ktd_io::whole_file::{create_directory, json_bytes, write_together};
use ktd_view::draw::{TableCell, TableData};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A table of a report and the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportTable {
    /// The name, such as `T1_funnel`.
    pub id: &'static str,
    /// Its cells.
    pub data: TableData,
}

impl ReportTable {
    pub(crate) const fn new(id: &'static str, data: TableData) -> Self {
        Self { id, data }
    }

    /// The table in Markdown.
    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = self.data.columns.iter().map(|column| in_markdown(&column.head));
        let mut text = format!("## {}\n\n", in_markdown(&self.data.title));
        text.push_str(&line(heads.collect()));
        text.push_str(&line(
            self.data.columns.iter().map(|_| "---".to_owned()).collect(),
        ));
        for row in &self.data.rows {
            let cells = row
                .iter()
                .map(|cell| in_markdown(&missing(cell).unwrap_or_else(|| cell.on_page())));
            text.push_str(&line(cells.collect()));
        }
        for note in &self.data.notes {
            // Writing to a string cannot fail.
            write!(text, "\nnote: {}\n", in_markdown(note)).ok();
        }
        text.push('\n');
        text
    }

    fn csv(&self) -> Result<Vec<u8>, CodeError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let heads = self.data.columns.iter().map(|column| column.head.as_str());
        writer.write_record(heads).map_err(CodeError::invalid)?;
        for row in &self.data.rows {
            let cells = row.iter().map(|cell| missing(cell).unwrap_or_else(|| cell.raw()));
            writer.write_record(cells).map_err(CodeError::invalid)?;
        }
        writer.into_inner().map_err(CodeError::invalid)
    }

    /// The table with all of its cells, for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let rows = self.data.rows.iter().map(|row| {
            let cells = self.data.columns.iter().zip(row);
            Value::Array(cells.map(|(_, cell)| in_json(cell)).collect())
        });
        json!({
            "id": self.id,
            "title": self.data.title,
            "columns": self.data.columns.iter().map(|column| &column.head).collect::<Vec<_>>(),
            "rows": rows.collect::<Vec<_>>(),
            "notes": self.data.notes,
        })
    }
}

/// What stands for a number that is missing.
fn missing(cell: &TableCell) -> Option<String> {
    let TableCell::Missing(reason) = cell else {
        return None;
    };
    Some(format!("n/a ({reason})"))
}

fn in_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => escaped.extend(['\\', character]),
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

fn in_json(cell: &TableCell) -> Value {
    match cell {
        TableCell::Text(text) => json!(text),
        TableCell::Percent(value)
        | TableCell::Change(value)
        | TableCell::Ratio(value)
        | TableCell::Fine(value)
        | TableCell::P(value)
        | TableCell::Dollars(value) => json!(value),
        TableCell::Count(count) => json!(count),
        TableCell::Signed(count) => json!(count),
        TableCell::Missing(reason) => json!(format!("n/a ({reason})")),
        TableCell::Empty => Value::Null,
    }
}

/// Writes a report: the page, and beside it the same name with `.md`, `.json` and a folder of CSV tables. All are written,
/// or none; gives their paths.
///
/// # Errors
/// [`CodeError`] where a record cannot be read, or a file not be written.
pub fn write_report(report: &FactorCodeReport, out: &Path) -> Result<Vec<PathBuf>, CodeError> {
    let taken = |end: &str| out.extension().is_some_and(|own| own == end);
    if taken("md") || taken("json") {
        return Err(CodeError::input(
            format!("{}: the page's name is that of a file beside it", out.display()),
            "name a page that ends with .html: the same name with .md and .json is written beside it",
        ));
    }
    let tables = report.tables()?;
    let stem = out
        .file_stem()
        .unwrap_or(out.as_os_str())
        .to_string_lossy()
        .into_owned();
    let folder = out.parent().map_or_else(PathBuf::new, Path::to_owned);
    let csv_folder = folder.join(format!("{stem}_tables"));
    let record = folder.join(format!("{stem}.json"));
    let markdown: Vec<String> = tables.iter().map(ReportTable::markdown).collect();
    let document = json!({
        "benchmark": "factor-code",
        "ktd": env!("CARGO_PKG_VERSION"),
        "bundles": report.bundles.iter().map(|reported| &reported.bundle.header).collect::<Vec<_>>(),
        "left_out": report.left_out,
        "tables": tables.iter().map(ReportTable::json).collect::<Vec<_>>(),
    });
    let mut files = vec![
        (out.to_owned(), page(report, &tables)?.into_bytes()),
        (folder.join(format!("{stem}.md")), markdown.concat().into_bytes()),
        (record.clone(), json_bytes(&record, &document)?),
    ];
    for table in &tables {
        files.push((csv_folder.join(format!("{}.csv", table.id)), table.csv()?));
    }
    create_directory(&csv_folder)?;
    write_together(&files)?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
