//! The folder of a study: its report, tables and looks at the test days.

use crate::StudyError;
use crate::alpha_report::AlphaReport;
use crate::alpha_tables::{alpha_table, combination_table, pool_table, split_table};
use crate::open_study::OpenStudy;
use crate::test_looks::count_look;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, parse_json, read_if_exists, write_together};
use ktd_view::draw::TableData;
use std::path::{Path, PathBuf};

const REPORT: &str = "report.json";

/// How a table is made from a report.
type TableOf = fn(&AlphaReport) -> TableData;

/// The CSV twins of the tables.
const TABLES: [(&str, TableOf); 4] = [
    ("pools.csv", pool_table),
    ("combinations.csv", combination_table),
    ("alphas.csv", alpha_table),
    ("stability_and_turnover.csv", split_table),
];

/// Evaluates a study into a folder, or reads what an equal evaluation left there. A look at the test days is written before
/// they are read.
///
/// # Errors
/// [`StudyError`] when something cannot be evaluated or written.
pub fn evaluate_into(
    open: &OpenStudy,
    folder: &Path,
    advance: &mut dyn FnMut(),
) -> Result<AlphaReport, StudyError> {
    create_directory(folder)?;
    let test = open.splits.iter().find(|split| split.name == "test");
    let test_looks = match (test, &open.study.splits.test) {
        (Some(_), Some([from, to])) => {
            let (formulas, panel) = (open.formulas_hash(), &open.data.panel.source);
            count_look(folder, &formulas, panel, (from, to))?
        }
        _ => 0,
    };
    let inputs = open.inputs_hash()?;
    let path = folder.join(REPORT);
    // A report that another version left, or that is damaged, is made again.
    let known = read_if_exists(&path)?.and_then(|bytes| parse_json::<AlphaReport>(&path, &bytes).ok());
    let same = |report: &AlphaReport| report.inputs == inputs && report.test_looks == test_looks;
    if let Some(report) = known.filter(same)
        && is_whole(&report, folder)?
    {
        return Ok(report);
    }
    let mut report = open.evaluate(test_looks, advance)?;
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for (name, table) in TABLES {
        let bytes = csv_bytes(&table(&report))?;
        report.tables.insert(name.to_owned(), sha256_hex(&bytes));
        files.push((folder.join(name), bytes));
    }
    files.push((path.clone(), json_bytes(&path, &report)?));
    write_together(&files)?;
    Ok(report)
}

/// Whether every table beside a report is the one that was written with it: a run that was killed may have left others.
fn is_whole(report: &AlphaReport, folder: &Path) -> Result<bool, StudyError> {
    for (name, _) in TABLES {
        let found = read_if_exists(&folder.join(name))?.map(|bytes| sha256_hex(&bytes));
        if found.as_ref() != report.tables.get(name) || found.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn csv_bytes(table: &TableData) -> Result<Vec<u8>, StudyError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in table.records() {
        writer.write_record(record).map_err(StudyError::invalid)?;
    }
    writer.into_inner().map_err(StudyError::invalid)
}
