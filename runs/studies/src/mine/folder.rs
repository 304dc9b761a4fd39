//! The folder of a search: its header, the journal of its trials, and its pool.

use super::config::MineStudy;
use super::journal::TrialJournal;
use super::market::OpenMine;
use super::pool::{FORMAT, MinedFormula, MinedPool};
use super::proposals::tool_sha256;
use crate::FormulaStudyError;
use ktd_alphas::FormulaSearch;
use ktd_io::whole_file::{json_bytes, parse_json, read_if_exists, write_whole};
use ktd_record::program_record::{ProgramRecord, check_program};
use ktd_record::study_folder::StudyFolder;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde::Serialize;
use std::path::Path;

pub(super) const HEADER: &str = "header.json";
pub(super) const TRIALS: &str = "trials.jsonl";
pub(super) const EVENTS: &str = "events.jsonl";
pub(super) const POOL: &str = "pool.json";

/// Everything that decides what a search finds.
#[derive(Debug, Serialize)]
struct MineHeader<'h> {
    format: u32,
    ktd: &'static str,
    /// The program; absent from folders of earlier ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'h ProgramRecord>,
    panel: String,
    /// Models that find formulas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    /// SHA-256 of all texts for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts_sha256: Option<String>,
    /// SHA-256 of the tool that they answer by.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_sha256: Option<String>,
    settings: MineStudy,
}

/// Searches into a folder, continues what a killed run left there, or reads what a whole one left; `advance` is called with
/// the number of formulas that are done. The bytes do not depend on threads or on where a run was killed.
///
/// # Errors
/// [`FormulaStudyError`] when the folder holds another search or that of another program, or something cannot be evaluated.
pub fn mine_into(
    open: &OpenMine,
    held: &StudyFolder,
    advance: &mut dyn FnMut(usize),
) -> Result<MinedPool, FormulaStudyError> {
    let folder = held.path();
    check_header(open, (folder, Some(held.program())))?;
    let (journal, path) = (folder.join(TRIALS), folder.join(POOL));
    // A pool that is damaged, or not of this journal, is made again.
    let known = read_if_exists(&path)?.and_then(|bytes| parse_json::<MinedPool>(&path, &bytes).ok());
    if let Some(pool) = known
        && TrialJournal::hash(&journal)?.as_ref() == Some(&pool.trials)
    {
        return Ok(pool);
    }
    let mut search = open.search().ok_or_else(|| {
        FormulaStudyError::input(
            "method = \"llm\" asks a model",
            "search with `ktd alpha mine`, which asks it",
        )
    })?;
    run(open, search.as_mut(), &mut TrialJournal::open(&journal)?, advance)?;
    let hash = TrialJournal::hash(&journal)?.unwrap_or_default();
    let pool = open.pool(search.book(), hash)?;
    write_whole(&path, &json_bytes(&path, &pool)?)?;
    Ok(pool)
}

/// Runs a search to its end.
fn run(
    open: &OpenMine,
    search: &mut dyn FormulaSearch,
    journal: &mut TrialJournal,
    advance: &mut dyn FnMut(usize),
) -> Result<(), FormulaStudyError> {
    while let Some(batch) = search.next_batch() {
        search.take(journal.tried(open, &batch, advance)?);
    }
    Ok(())
}

/// Writes what decides the search, or compares it with what is there. Where the files of the market are does not matter:
/// their hash is in it.
pub(super) fn check_header(
    open: &OpenMine,
    (folder, program): (&Path, Option<&ProgramRecord>),
) -> Result<(), FormulaStudyError> {
    let path = folder.join(HEADER);
    let llm = open.mine.llm.as_ref();
    let agents = llm.into_iter().flat_map(|llm| &llm.agents);
    let header = MineHeader {
        format: FORMAT,
        ktd: env!("CARGO_PKG_VERSION"),
        program,
        panel: open.panel_hash().to_owned(),
        models: agents.map(|agent| agent.model_name().to_owned()).collect(),
        prompts_sha256: llm.map(|_| ktd_prompts::alpha_hash()),
        tool_sha256: llm.map(|_| tool_sha256()),
        settings: MineStudy {
            panel: None,
            bins: None,
            ..open.mine.clone()
        },
    };
    let bytes = json_bytes(&path, &header)?;
    match read_if_exists(&path)? {
        Some(known) if known != bytes => {
            check_program(&path, &known, &bytes)?;
            Err(FormulaStudyError::input(
                format_args!(
                    "{} holds a search with other settings, on another panel or of another version",
                    folder.display()
                ),
                "name another folder with --out, or remove this one",
            ))
        }
        Some(_) => Ok(()),
        None => Ok(write_whole(&path, &bytes)?),
    }
}

/// The pool as a table.
#[must_use]
pub fn mined_table(pool: &MinedPool) -> TableData {
    let heads = [
        ("id", Left),
        ("valid PPS", Right),
        ("train PPS", Right),
        ("formula", Left),
        ("nodes", Right),
        ("train RankIC", Right),
        ("valid RankIC", Right),
        ("RRE", Right),
        ("PFS_N", Right),
        ("correlation", Right),
    ];
    let row = |formula: &MinedFormula| {
        let number = |value: Option<f64>| TableCell::optional(value, TableCell::Fine);
        let sign = if formula.is_turned { "-" } else { "" };
        vec![
            TableCell::Text(formula.id.clone()),
            number(formula.valid.get("pps")),
            number(formula.train.get("pps")),
            TableCell::Text(format!("{sign}{}", formula.expression)),
            TableCell::Count(formula.nodes),
            number(formula.train.get("rank_ic")),
            number(formula.valid.get("rank_ic")),
            number(formula.train.get("rre")),
            number(formula.train.get("pfs_n")),
            number(formula.train.get("correlation")),
        ]
    };
    let title = format!(
        "{}: {} formulas of {} tried ({})",
        pool.name,
        pool.formulas.len(),
        pool.tried,
        pool.method
    );
    TableData::new(title, heads).with_rows(pool.formulas.iter().map(row))
}
