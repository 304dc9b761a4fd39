//! The files of a report: page, Markdown, JSON, and a CSV and a Parquet file of each table.

use crate::StudyError;
use crate::parquet_rows::parquet_bytes;
use crate::report::{DataRows, Report};
use crate::report_page::ShownRecord;
use ktd_io::file_set::replace_report;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, open_regular, read_if_exists};
use ktd_view::draw::paragraph;
use ktd_view::report_table::{ReportTable, out_of_markdown};
use ktd_view::table::Layout;
use serde::Serialize;
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The file that stands for the whole report.
pub(crate) const SUMMARY: &str = "report.json";
/// The folder of the tables as Parquet.
const PARQUET: &str = "parquet";

/// Writes the files of a report together; those that stand already are left.
pub(crate) fn write_report(out: &Path, summary: &impl Serialize, report: &Report) -> Result<(), StudyError> {
    let files = files_of(out, summary, report)?;
    let mut is_same = true;
    for (path, bytes) in &files {
        is_same &= read_if_exists(path)?.as_ref() == Some(bytes);
    }
    if is_same {
        return Ok(());
    }
    for (path, _) in &files {
        create_directory(path.parent().unwrap_or(out))?;
    }
    Ok(replace_report(&files, &[])?)
}

/// The files of a report with their bytes; the first stands for all.
pub(crate) fn files_of(
    out: &Path,
    summary: &impl Serialize,
    report: &Report,
) -> Result<Vec<(PathBuf, Vec<u8>)>, StudyError> {
    let path = out.join(SUMMARY);
    let files = report.files(SUMMARY, json_bytes(&path, summary)?)?;
    Ok(files
        .into_iter()
        .map(|(name, bytes)| (out.join(name), bytes))
        .collect())
}

fn csv_bytes(rows: &DataRows) -> Result<Vec<u8>, StudyError> {
    let unwritable = |error: csv::Error| StudyError::input(format_args!("{}.csv: {error}", rows.id), "");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heads = rows.columns.iter().map(|(head, _)| head);
    writer.write_record(heads).map_err(unwritable)?;
    for row in &rows.rows {
        let cells = row.iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => ktd_view::draw::csv_text(text).into_owned(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => cell.to_string(),
        });
        writer.write_record(cells).map_err(unwritable)?;
    }
    writer
        .into_inner()
        .map_err(|error| unwritable(error.into_error().into()))
}

/// The verdict of the report that was written into a folder, from its Markdown; none where there is none, or it begins otherwise.
#[must_use]
pub fn recorded_verdict(folder: &Path) -> Option<String> {
    /// Title and verdict are much shorter.
    const HEAD_BYTES: u64 = 16 << 10;
    let mut head = Vec::new();
    let file = open_regular(&folder.join("report.md")).ok()?;
    file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let verdict = head.strip_prefix("# ")?.split("\n\n").nth(1)?;
    Some(out_of_markdown(verdict))
}

/// All tables as Markdown, below the verdict.
fn markdown(report: &Report) -> String {
    let line = |text: &str| ktd_view::report_table::in_markdown(text);
    let tables: String = report
        .filed()
        .filter(|table| !table.data.rows.is_empty() || !table.data.notes.is_empty())
        .map(ReportTable::markdown)
        .collect();
    format!(
        "# {}\n\n{}\n\n{tables}",
        line(&report.title),
        line(&report.verdict)
    )
}

impl Report {
    /// Its files by their places in a folder: first `record`, the document that it shows, then the page, Markdown, and CSV and
    /// Parquet of each table and of rows for programs.
    ///
    /// # Errors
    /// [`StudyError`] for rows that no file holds, which is a defect.
    pub fn files(&self, record: &str, bytes: Vec<u8>) -> Result<Vec<(String, Vec<u8>)>, StudyError> {
        let sha256 = sha256_hex(&bytes);
        let page = self.page(ShownRecord {
            name: record,
            sha256: &sha256,
        });
        let mut files = vec![
            (record.to_owned(), bytes),
            ("index.html".to_owned(), page.into_bytes()),
            ("report.md".to_owned(), markdown(self).into_bytes()),
        ];
        let parquet = |rows: &DataRows| {
            let bytes = parquet_bytes(rows)?;
            Ok::<_, StudyError>((format!("{PARQUET}/{}.parquet", rows.id), bytes))
        };
        for table in self.filed() {
            files.push((self.csv_file(&table.id), table.csv().into_bytes()));
            files.push(parquet(&DataRows::of_table(table))?);
        }
        for rows in &self.rows {
            files.push((self.csv_file(&rows.id), csv_bytes(rows)?));
            files.push(parquet(rows)?);
        }
        files.extend(self.files.iter().cloned());
        Ok(files)
    }

    /// Where the CSV file of a table lies.
    pub(crate) fn csv_file(&self, id: &str) -> String {
        match self.folder {
            "" => format!("{id}.csv"),
            folder => format!("{folder}/{id}.csv"),
        }
    }

    /// The report in a terminal: the verdict, then its tables: the shown ones, or all that have files.
    #[must_use]
    pub fn text(&self, layout: Layout<'_>, all: bool) -> String {
        let verdict = paragraph(&self.verdict, layout);
        let shown = self.tables().filter(|(table, shown)| {
            let is_asked_for = if all {
                shown.has_files()
            } else {
                shown.is_in_terminal()
            };
            is_asked_for && !(table.data.rows.is_empty() && table.data.notes.is_empty())
        });
        let tables = shown.map(|(table, _)| table.data.text_in(layout));
        std::iter::once(verdict)
            .chain(tables)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The names of its files beside `report.json`, as people look for them.
    #[must_use]
    pub fn file_names(&self) -> Vec<String> {
        let tables = self.filed().map(|table| self.csv_file(&table.id));
        let rows = self.rows.iter().map(|rows| self.csv_file(&rows.id));
        let own = ["index.html", "report.md"].map(str::to_owned).into_iter();
        own.chain(tables).chain(rows).collect()
    }
}
