//! The files of a report: the page, Markdown, JSON, and a CSV of each table.

use super::bundles::FactorCodeReport;
use super::page::page;
use crate::error::CodeError;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::create_directory;
use ktd_view::report_table::{is_name_taken, report_files};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

/// Writes a report: the page, and beside it the same name with `.md`, `.json` and a folder of CSV tables. All are written,
/// or none; gives their paths.
///
/// # Errors
/// [`CodeError`] where a record cannot be read, or a file not be written.
pub fn write_report(report: &FactorCodeReport, out: &Path) -> Result<Vec<PathBuf>, CodeError> {
    if is_name_taken(out) {
        return Err(CodeError::input(
            format!("{}: the page's name is that of a file beside it", out.display()),
            "name a page that ends with .html: the same name with .md and .json is written beside it",
        ));
    }
    let tables = report.tables()?;
    let headers: Vec<_> = report
        .bundles
        .iter()
        .map(|reported| &reported.bundle.header)
        .collect();
    let members = [
        ("benchmark", json!("factor-code")),
        ("ktd", json!(env!("CARGO_PKG_VERSION"))),
        ("bundles", json!(headers)),
        ("left_out", json!(report.left_out)),
    ];
    let members: Map<_, _> = members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let files = report_files(out, page(report, &tables)?, members, &tables);
    let folders = files.iter().filter_map(|(path, _)| path.parent());
    for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
        create_directory(folder)?;
    }
    replace_report(&files, &[])?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
