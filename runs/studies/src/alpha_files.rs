//! The folder of a study: its report, tables and looks at the test days.

use crate::FormulaStudyError;
use crate::alpha_page::alpha_page;
use crate::alpha_report::AlphaReport;
use crate::alpha_tables::{alpha_table, combination_table, pool_table, split_table};
use crate::inference_tables::{
    curve_table, inference_table, rank_table, robustness_table, selection_table, year_table,
};
use crate::open_study::{FORMAT, OpenStudy};
use crate::rose_table::rose_table;
use crate::test_looks::{count_look, known_looks};
use ktd_io::file_set::replace_report;
use ktd_io::lock::FileLock;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, parse_json, read_if_exists};
use ktd_record::study_folder::StudyFolder;
use ktd_view::draw::TableData;
use std::path::{Path, PathBuf};

const REPORT: &str = "report.json";

const PAGE: &str = "report.html";

/// How a table is made from a report.
type TableOf = fn(&AlphaReport) -> TableData;

/// The CSV twins of the tables.
const TABLES: [(&str, TableOf); 11] = [
    ("pools.csv", pool_table),
    ("combinations.csv", combination_table),
    ("alphas.csv", alpha_table),
    ("stability_and_turnover.csv", split_table),
    ("robustness_and_drawdown.csv", robustness_table),
    ("best_of_pools.csv", inference_table),
    ("ranks.csv", rank_table),
    ("selections.csv", selection_table),
    ("curves.csv", curve_table),
    ("rose.csv", rose_table),
    ("years.csv", year_table),
];

/// Evaluates a study into a folder, or reads what an equal evaluation left there. A look at the test days is written before
/// they are read.
///
/// # Errors
/// [`FormulaStudyError`] when something cannot be evaluated or written.
pub fn evaluate_into(
    open: &OpenStudy,
    held: &StudyFolder,
    advance: &mut dyn FnMut(),
) -> Result<AlphaReport, FormulaStudyError> {
    // Of two evaluations at once, the second would count looks that the first has not written yet: the folder is held.
    let folder = held.path();
    let test = open.splits.iter().find(|split| split.name == "test");
    let test_looks = match (test, &open.study.splits.test) {
        (Some(_), Some([from, to])) => {
            let (formulas, panel) = (open.formulas_hash(), &open.data.panel.source);
            count_look(folder, &formulas, panel, (from, to))?
        }
        _ => known_looks(folder)?,
    };
    let inputs = open.inputs_hash(held.program())?;
    let path = folder.join(REPORT);
    // A report that another program left, or that is damaged, is made again.
    let known = read_if_exists(&path)?.and_then(|bytes| parse_json::<AlphaReport>(&path, &bytes).ok());
    let same = |report: &AlphaReport| report.inputs == inputs && report.test_looks == test_looks;
    if let Some(report) = known.filter(same)
        && is_whole(&report, folder)?
    {
        return Ok(report);
    }
    let mut report = open.evaluate((test_looks, held.program()), advance)?;
    write_report(folder, &mut report)?;
    Ok(report)
}

/// The report of a folder; its tables and its page are made again of it.
///
/// # Errors
/// [`FormulaStudyError`] for a folder without a report that this version reads, and where nothing can be written.
pub fn report_again(folder: &Path) -> Result<AlphaReport, FormulaStudyError> {
    let path = folder.join(REPORT);
    let no_report = || {
        FormulaStudyError::input(
            format_args!("{} has no report", folder.display()),
            "name the folder that `ktd alpha eval` wrote",
        )
    };
    // A folder without one is left as it is.
    if !path.is_file() {
        return Err(no_report());
    }
    let _lock = FileLock::of_folder(folder)?;
    let bytes = read_if_exists(&path)?.ok_or_else(no_report)?;
    let mut report: AlphaReport = parse_json(&path, &bytes)?;
    if report.format != FORMAT {
        return Err(FormulaStudyError::input(
            format_args!("{} has format {}, not {FORMAT}", path.display(), report.format),
            "evaluate the study again",
        ));
    }
    write_report(folder, &mut report)?;
    Ok(report)
}

/// Writes a report with its tables and its page, together.
fn write_report(folder: &Path, report: &mut AlphaReport) -> Result<(), FormulaStudyError> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut tables: Vec<(&str, Vec<u8>)> = vec![(PAGE, alpha_page(report).into_bytes())];
    for (name, table) in TABLES {
        tables.push((name, csv_bytes(&table(report))?));
    }
    for (name, bytes) in tables {
        report.tables.insert(name.to_owned(), sha256_hex(&bytes));
        files.push((folder.join(name), bytes));
    }
    let path = folder.join(REPORT);
    // The report stands for all.
    files.insert(0, (path.clone(), json_bytes(&path, report)?));
    replace_report(&files, &[])?;
    Ok(())
}

/// Whether every table beside a report is the one that was written with it: a run that was killed may have left others.
fn is_whole(report: &AlphaReport, folder: &Path) -> Result<bool, FormulaStudyError> {
    for name in TABLES.map(|(name, _)| name).into_iter().chain([PAGE]) {
        let found = read_if_exists(&folder.join(name))?.map(|bytes| sha256_hex(&bytes));
        if found.as_ref() != report.tables.get(name) || found.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(crate) fn csv_bytes(table: &TableData) -> Result<Vec<u8>, FormulaStudyError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in table.records() {
        writer.write_record(record).map_err(FormulaStudyError::invalid)?;
    }
    writer.into_inner().map_err(FormulaStudyError::invalid)
}
