//! The files of a report: page, Markdown, JSON, and a CSV and a Parquet file of each table.

use crate::StudyError;
use crate::parquet_rows::parquet_bytes;
use crate::report::{DataRows, Report, Section, SectionPart, Shown};
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::{create_directory, json_bytes, read_if_exists};
use ktd_view::draw::{STYLE, document, paragraph};
use ktd_view::report_table::ReportTable;
use ktd_view::table::Layout;
use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;
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
    writer.write_record(&rows.heads).map_err(unwritable)?;
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

/// The sections that the contents of a page lead to.
fn contents(report: &Report) -> Markup {
    let anchored = report.sections.iter().filter(|section| !section.parts.is_empty());
    let anchored: Vec<_> = anchored
        .filter_map(|section| Some((section.anchor?, section.heading)))
        .collect();
    html! {
        @if !anchored.is_empty() {
            nav aria-label="contents" {
                ul { @for (anchor, heading) in anchored { li { a href={ "#" (anchor) } { (heading) } } } }
            }
        }
    }
}

fn section_html(report: &Report, section: &Section) -> Markup {
    let files = section.parts.iter().filter_map(|part| match part {
        SectionPart::Table(table, shown) => shown.has_files().then(|| report.csv_file(&table.id)),
        SectionPart::Source(name) => Some((*name).to_owned()),
        SectionPart::Picture(_) => None,
    });
    let files: Vec<String> = files.collect();
    html! {
        section id=[section.anchor] {
            h2 { (section.heading) }
            @if !section.lead.is_empty() { p.lead { (section.lead) } }
            @for part in &section.parts {
                @match part {
                    SectionPart::Table(table, Shown::Everywhere | Shown::Excerpt | Shown::Page | Shown::PageAlone) => (table.data.html()),
                    SectionPart::Table(table, Shown::Folded) => details { summary { (table.data.title) } (table.data.html()) },
                    SectionPart::Table(_, Shown::Terminal | Shown::Files) | SectionPart::Source(_) => {},
                    SectionPart::Picture(picture) => (picture),
                }
            }
            @if !files.is_empty() || section.anchor.is_none() { p.source { (files.join(", ")) } }
        }
    }
}

impl Report {
    /// The page: one file without anything to load.
    #[must_use]
    pub fn page(&self) -> String {
        let body = html! {
            h1 { bdi { (self.title) } }
            p.lead { (self.verdict) }
            @if !self.notes.is_empty() { ul.notes { @for note in &self.notes { li { (note) } } } }
            (contents(self))
            @for section in &self.sections {
                @if !section.parts.is_empty() { (section_html(self, section)) }
            }
            footer { p.hashes { (self.footer) } }
        };
        let styles: Vec<&'static str> = [STYLE].into_iter().chain(self.styles.iter().copied()).collect();
        document(&self.title, &styles, &body)
    }

    /// Its files by their places in a folder: first `record`, the document that it shows, then the page, Markdown, and CSV and
    /// Parquet of each table and of rows for programs.
    ///
    /// # Errors
    /// [`StudyError`] for rows that no file holds, which is a defect.
    pub fn files(&self, record: &str, bytes: Vec<u8>) -> Result<Vec<(String, Vec<u8>)>, StudyError> {
        let mut files = vec![
            (record.to_owned(), bytes),
            ("index.html".to_owned(), self.page().into_bytes()),
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
    fn csv_file(&self, id: &str) -> String {
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
