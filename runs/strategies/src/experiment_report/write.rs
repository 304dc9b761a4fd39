//! The files of a report: the page, Markdown, JSON, and a CSV of each table.

use super::material::StrategyReport;
use super::page::page;
use crate::error::StrategyError;
use ktd_io::file_set::replace_report;
use ktd_io::whole_file::create_directory;
use ktd_view::report_table::{is_name_taken, report_files};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

/// Writes a report: the page, and beside it the same name with `.md`, `.json` and a folder of CSV tables. All are written,
/// or none; gives their paths.
///
/// # Errors
/// [`StrategyError`] where a file cannot be written.
pub fn write_strategy_report(report: &StrategyReport, out: &Path) -> Result<Vec<PathBuf>, StrategyError> {
    if is_name_taken(out) {
        return Err(StrategyError::input(
            format_args!("{}: the page's name is that of a file beside it", out.display()),
            "name a page that ends with .html: the same name with .md and .json is written beside it",
        ));
    }
    let tables = report.tables();
    let members = [
        ("benchmark", json!("strategy-code")),
        ("ktd", json!(env!("CARGO_PKG_VERSION"))),
        ("submissions", json!(report.results.rows)),
        ("lost", json!(report.results.lost)),
        ("arena", json!(report.arena)),
        ("tokens", json!(report.results.tokens)),
    ];
    let members: Map<_, _> = members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let files = report_files(out, page(report, &tables), members, &tables);
    let folders = files.iter().filter_map(|(path, _)| path.parent());
    for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
        create_directory(folder)?;
    }
    replace_report(&files, &[])?;
    Ok(files.into_iter().map(|(path, _)| path).collect())
}
