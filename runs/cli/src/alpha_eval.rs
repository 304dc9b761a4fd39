//! `ktd alpha eval`: what pools of formulas are worth.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::this_program::this_program;
use clap::Args;
use ktd_io::parallel::available_threads;
use ktd_record::study_folder::StudyFolder;
use ktd_studies::judge::StudyLogic;
use ktd_studies::{
    AlphaReport, AlphaStudy, EvaluationRun, OpenStudy, StudyData, alpha_table, combination_table, cost_table,
    evaluate_into, inference_table, measure_cost, pool_table, report_again, selection_table, split_table,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

const EXAMPLE: &str = "\
Example:
  ktd alpha eval alphas.toml --no-test

  name = \"pools\"
  panel = \"csi300.ktdp\"      # or bins = \"qlib_dir\"; without both the synthetic market
  pools = [{ id = \"alpha158\", builtin = \"alpha158\" }, { id = \"mine\", file = \"mine.csv\" }]
  noise = { mode = \"input\", draws = 5 }
  [splits]
  train = [\"2018-01-02\", \"2021-12-31\"]
  valid = [\"2022-01-04\", \"2022-12-30\"]
  test = [\"2023-01-03\", \"2024-12-31\"]

Each pool is evaluated on each split: predictive power, stability, robustness, diversity, and a portfolio of its top and bottom \
fifth. report.html, report.json and CSV tables are written; the same inputs again change nothing. The test split is opened once: another set of \
formulas in the same folder is counted as another look.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct EvalArgs {
    /// The study's file.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Leave the test split closed.
    #[arg(long)]
    no_test: bool,
    /// Measure also what each figure costs, into cost.json and cost.csv.
    #[arg(long)]
    cost: bool,
}

/// Alphas that a terminal shows; the CSV has all.
const SHOWN_ALPHAS: usize = 20;

/// Evaluates a study of alphas.
pub(super) fn run(args: &EvalArgs, console: Console) -> Result<(), CliError> {
    let study = AlphaStudy::read(&args.study)?;
    let beside = args.study.parent().unwrap_or_else(|| Path::new(""));
    let beside = beside.join("results").join(&study.name);
    let data = StudyData::read(&study)?;
    let run = EvaluationRun {
        is_test_open: !args.no_test,
        threads: available_threads(),
        batch_bytes: EvaluationRun::BATCH_BYTES,
    };
    let open = OpenStudy::new(study.clone(), data, run)?;
    let held = StudyFolder::hold(&args.out.clone().unwrap_or(beside), &this_program())?;
    let folder = held.path();
    let open = open.with_logic(StudyLogic::read(&study, folder)?);
    let work = u64::try_from(open.work()).unwrap_or(u64::MAX);
    let mut bar = Progress::new(console, "evaluating", work, "instruments");
    let report = evaluate_into(&open, &held, &mut || bar.advance(1))?;
    drop(bar);
    show(&report, folder, console)?;
    if args.cost {
        let started = Instant::now();
        let cost = measure_cost(&open, folder, &|| started.elapsed().as_secs_f64())?;
        if !console.quiet && !console.json {
            console.result(
                &cost_table(&cost).text_in(console.layout()),
                &serde_json::Value::Null,
            )?;
        }
    }
    Ok(())
}

const REPORT_EXAMPLE: &str = "\
Example:
  ktd alpha report results/pools

The tables and the page are made again of report.json, byte for byte; no formula is evaluated, and no test day is read.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// The folder of `ktd alpha eval`.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Makes tables and page again.
pub(super) fn report(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    show(&report_again(&args.dir)?, &args.dir, console)
}

fn show(report: &AlphaReport, folder: &Path, console: Console) -> Result<(), CliError> {
    let value = serde_json::to_value(report).map_err(CliError::invalid)?;
    let text = if console.quiet {
        String::new()
    } else {
        text(report, folder, console)
    };
    console.result(&text, &value)
}

fn text(report: &AlphaReport, folder: &Path, console: Console) -> String {
    let shown = report.of_last_split(SHOWN_ALPHAS);
    let alphas = if shown.alphas.len() < report.alphas.len() {
        let all = report.alphas.len();
        alpha_table(&shown).with_note(format!("alphas.csv has all {all} rows, of every split"))
    } else {
        alpha_table(&shown)
    };
    let tables = [
        pool_table(report),
        combination_table(report),
        inference_table(report),
        selection_table(report),
        split_table(report),
        alphas,
    ];
    let mut text: Vec<String> = tables.map(|table| table.text_in(console.layout())).to_vec();
    text.push(format!(
        "{}: report.html, report.json and CSV tables",
        folder.display()
    ));
    text.join("\n")
}
