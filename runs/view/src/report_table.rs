//! A table of a report, in every form in which a report is written.

use crate::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A table of a report and the name of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportTable {
    /// The name, such as `T1_funnel`.
    pub id: Cow<'static, str>,
    /// Its cells.
    pub data: TableData,
}

impl ReportTable {
    /// A table with its name.
    #[must_use]
    pub fn new(id: impl Into<Cow<'static, str>>, data: TableData) -> Self {
        Self { id: id.into(), data }
    }

    /// The table in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
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

    /// The table in CSV: unrounded numbers, and a last column with the reasons where some are missing.
    #[must_use]
    pub fn csv(&self) -> String {
        self.data.for_programs().records().map(csv_line).collect()
    }

    /// The table for programs.
    #[must_use]
    pub fn document(&self) -> TableDocument<'_> {
        let shown = self.data.for_programs();
        let rows = shown.rows.iter().map(|row| row.iter().map(in_json).collect());
        TableDocument {
            id: &self.id,
            title: &self.data.title,
            columns: shown.columns.iter().map(|column| column.head.clone()).collect(),
            rows: rows.collect(),
            notes: &self.data.notes,
        }
    }
}

/// A table of a report, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TableDocument<'t> {
    id: &'t str,
    title: &'t str,
    columns: Vec<String>,
    /// A number, a text or nothing a column; where numbers are missing, the last column, `missing`, says why.
    rows: Vec<Vec<Value>>,
    notes: &'t [String],
}

fn csv_line(cells: Vec<String>) -> String {
    let cells: Vec<String> = cells
        .into_iter()
        .map(|cell| {
            if cell.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell
            }
        })
        .collect();
    cells.join(",") + "\n"
}

/// What stands for a number that is missing, for people.
fn missing(cell: &TableCell) -> Option<String> {
    let TableCell::Missing(reason) = cell else {
        return None;
    };
    Some(format!("n/a ({reason})"))
}

/// Text that ends no cell, opens no tag and sets no type.
#[must_use]
pub fn in_markdown(text: &str) -> String {
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

/// A text that [`in_markdown`] has written, without its escapes.
#[must_use]
pub fn out_of_markdown(text: &str) -> String {
    let (mut plain, mut is_escaped) = (String::with_capacity(text.len()), false);
    for character in text.chars() {
        if character != '\\' || is_escaped {
            plain.push(character);
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// A cell for programs.
#[must_use]
pub fn in_json(cell: &TableCell) -> Value {
    match cell {
        TableCell::Text(text) | TableCell::Formula(text) => json!(text),
        TableCell::Percent(value)
        | TableCell::Change(value)
        | TableCell::Ratio(value)
        | TableCell::Fine(value)
        | TableCell::P(value)
        | TableCell::Dollars(value)
        | TableCell::Worded(value, _) => json!(value),
        TableCell::Count(count) => json!(count),
        TableCell::Signed(count) => json!(count),
        TableCell::Missing(_) | TableCell::Empty => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Align::{Left, Right};

    #[test]
    fn a_table_is_safe_in_every_form_and_programs_read_its_numbers() {
        let columns = [("=model", Left), ("share", Right), ("gain", Right)];
        let data = TableData::new("T1. <b>", columns)
            .with_rows([
                vec![
                    TableCell::Text("a|b, \"c\"\n=1".to_owned()),
                    TableCell::Percent(0.125),
                    TableCell::Worded(5.854, "5.85 *".to_owned()),
                ],
                vec![
                    TableCell::Text("=1+1".to_owned()),
                    TableCell::Missing("no <task>".to_owned()),
                    TableCell::Missing("no <task>".to_owned()),
                ],
                vec![
                    TableCell::Formula("-Corr($close, $volume, 5)".to_owned()),
                    TableCell::Count(1),
                    TableCell::Empty,
                ],
            ])
            .with_note("a *note*");
        let table = ReportTable::new("T1_x", data);
        assert_eq!(
            table.csv(),
            "'=model,share,gain,missing\n\"a|b, \"\"c\"\"\\u{a}=1\",0.125,5.854,\n'=1+1,,,\"share, gain: no <task>\"\n\
             \"-Corr($close, $volume, 5)\",1,,\n"
        );
        assert_eq!(
            table.markdown(),
            "## T1. &lt;b&gt;\n\n| =model | share | gain |\n| --- | --- | --- |\n\
             | a\\|b, \"c\" =1 | 12.50\u{a0}% | 5.85 \\* |\n\
             | =1+1 | n/a (no &lt;task&gt;) | n/a (no &lt;task&gt;) |\n\
             | -Corr($close, $volume, 5) | 1 |  |\n\nnote: a \\*note\\*\n\n"
        );
        let document = json!(table.document());
        assert_eq!(document["columns"][3], "missing");
        assert_eq!(document["rows"][0][2], 5.854);
        assert_eq!(
            document["rows"][1],
            json!(["=1+1", null, null, "share, gain: no <task>"])
        );
    }
}
