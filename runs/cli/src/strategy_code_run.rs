//! `ktd strategy-code run`, `report` and `replay`: models write strategies and mend them.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::run::runtime;
use crate::signals::unless_told_to_end;
use crate::this_program::this_program;
use clap::Args;
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_record::study_folder::StudyFolder;
use ktd_strategies::{
    StrategyExperiment, StrategyPlan, StrategyReport, StrategyResults, another_box, check_records,
    plan_experiment, replay_arena, replay_experiment, run_experiment, starting_versions, strategy_boxes,
    version_table, write_strategy_report,
};
use ktd_view::draw::visible;
use ktd_view::report_table::ReportTable;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const RUN_EXAMPLE: &str = "\
Examples:
  ktd strategy-code run strategies.toml --dry-run
  ktd strategy-code run strategies.toml

  benchmark = \"strategy-code\"
  name = \"first\"                       # results go to output, by default results/NAME
  strategies = [\"S01\", \"my/channel\"]   # default \"all\"; or folders of your own
  iterations = 3                        # patches that may be asked for
  drift = \"reference\"                   # or \"published\"
  goal = \"none\"                         # \"profit\" shows models what they earn on train days
  real = { panel = \"csi300.ktdp\", symbols = [\"SH600519\"] }
  continues = \"results/zeroth\"         # patches of reviewed versions; default: builds
  prices = \"prices.json\"
  budget = { experiment = \"20.00\" }
  [[agents]]
  id = \"writer\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 16384

Everything is recorded: the same command again asks nothing twice, and judges no finished submission twice.
Exit code 1: a submission was ended by its endpoint, or by a reference of your own that fails with its
values. Exit code 3: the budget is used up.";

const REPORT_EXAMPLE: &str = "\
Examples:
  ktd strategy-code report results/first --out report/page.html
  ktd strategy-code report results/first --human marks.csv

Without --out the tables are shown. With it the page is written, and beside it the same name with .md,
.json and a folder of CSV tables. Submissions that are not finished are left out. Nothing is run, and
nobody is asked.

Marks of people are a table with the columns rater, model, strategy, seed, D1, D2 (seed may be left out where a
model has one submission of a strategy): whole numbers from 1 to 10 for the ranked version, or empty.";

const REPLAY_EXAMPLE: &str = "\
Example:
  ktd strategy-code replay results/first

Every program runs in the box again, and the arena is made again where there is one; `ktd verify DIR`
does the same. Exit code 1: events, sources, results, reviews or any other file of the record differ from
what they were.";

#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment's file.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Folder of results [default: the file's `output`, else `results/NAME` beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show what would be asked and what it may cost, and ask nobody.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    boxes: BoxArgs,
}

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// The folder of results.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page to write.
    #[arg(long, value_name = "PAGE")]
    out: Option<PathBuf>,
    /// Marks that people gave the ranked versions: a CSV file.
    #[arg(long, value_name = "FILE")]
    human: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLE)]
pub(super) struct ReplayArgs {
    /// The folder of results.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    boxes: BoxArgs,
}

/// Asks models for strategies.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let experiment = StrategyExperiment::read(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    let folder = args.out.clone().unwrap_or_else(|| experiment.results(base));
    let starts = starting_versions(&experiment, (base, &folder))?;
    let plan = plan_experiment((&experiment, &starts), base)?;
    if args.dry_run {
        return show_plan(&plan, console);
    }
    let held = StudyFolder::hold(&folder, &this_program())?;
    let launcher = BoxLauncher::prove(strategy_boxes(args.boxes.setup()))?;
    let submissions = plan.models.iter().map(|model| model.submissions).sum();
    let bar = progress(console, submissions);
    let finished = || advance(&bar);
    let asked = run_experiment((&experiment, &starts), (base, &held), &launcher, &finished);
    let results = runtime()?.block_on(unless_told_to_end(asked))??;
    drop(bar);
    show(&results, &folder, console)
}

/// Makes an experiment again from its record.
pub(super) fn replay(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    let (results, other) = replayed(&args.folder, args.boxes.setup(), console)?;
    if let Some(other) = &other {
        console.note(other);
    }
    show(&results, &args.folder, console)
}

/// An experiment made again from its record, and what differs between its box and this one.
pub(super) fn replayed(
    folder: &Path,
    setup: BoxSetup,
    console: Console,
) -> Result<(StrategyResults, Option<String>), CliError> {
    // Before a box is proved: a changed file is found without one.
    check_records(folder)?;
    let launcher = BoxLauncher::prove(strategy_boxes(setup))?;
    let bar = progress(console, 0);
    let finished = || advance(&bar);
    let replayed = replay_experiment(folder, &launcher, &finished);
    let runtime = runtime()?;
    let results = runtime.block_on(unless_told_to_end(replayed))??;
    runtime.block_on(unless_told_to_end(replay_arena(folder)))??;
    drop(bar);
    Ok((results, another_box(folder, &launcher)?))
}

/// Shows what an experiment came to, or writes it.
pub(super) fn report(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    let mut report = StrategyReport::read(&args.folder)?;
    if let Some(human) = &args.human {
        report = report.with_human_marks(human)?;
    }
    for (submission, reason) in &report.results.lost {
        console.note(&format!(
            "note: {} is left out: it is lost, by no fault of the model ({})",
            visible(submission),
            visible(reason)
        ));
    }
    if let Some(out) = &args.out {
        let files = write_strategy_report(&report, out)?;
        let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        return console.result(&format!("{}\n", names.join("\n")), &json!({ "files": names }));
    }
    let tables = report.tables();
    let text: Vec<String> = tables
        .iter()
        .map(|table| table.data.text_in(console.layout()))
        .collect();
    let values: Vec<_> = tables.iter().map(ReportTable::json).collect();
    let rows = serde_json::to_value(&report.results.rows).map_err(CliError::invalid)?;
    console.result(
        &text.join("\n"),
        &json!({
            "tables": values, "submissions": rows, "lost": report.results.lost, "tokens": report.results.tokens,
        }),
    )
}

fn progress(console: Console, submissions: usize) -> Mutex<Progress> {
    let all = u64::try_from(submissions).unwrap_or(u64::MAX);
    Mutex::new(Progress::new(console, "strategies", all, "submissions finished"))
}

pub(super) fn advance(bar: &Mutex<Progress>) {
    if let Ok(mut bar) = bar.lock() {
        bar.advance(1);
    }
}

fn show_plan(plan: &StrategyPlan, console: Console) -> Result<(), CliError> {
    let models = plan.models.iter().map(|model| {
        json!({
            "id": model.id, "seed": model.seed, "submissions": model.submissions, "requests": model.requests,
            "input_tokens": model.input_tokens, "output_tokens": model.output_tokens, "dollars": model.dollars,
        })
    });
    let lines: Vec<String> = plan
        .models
        .iter()
        .map(|model| {
            let cost = model
                .dollars
                .map_or_else(|| "price unknown".to_owned(), |dollars| format!("$ {dollars:.2}"));
            format!(
                "{} (seed {}): {} submissions, at most {} requests, about {} tokens in and {} out, {cost}",
                model.id,
                model.seed,
                model.submissions,
                model.requests,
                model.input_tokens,
                model.output_tokens
            )
        })
        .collect();
    let text = format!("{}\nnobody was asked\n", lines.join("\n"));
    console.result(&text, &json!({"models": models.collect::<Vec<_>>()}))
}

fn show(results: &StrategyResults, folder: &Path, console: Console) -> Result<(), CliError> {
    let rows = serde_json::to_value(&results.rows).map_err(CliError::invalid)?;
    let value = json!({"submissions": rows, "lost": results.lost, "tokens": results.tokens});
    let text = format!(
        "{}\n{}: {} submissions, {} tokens\n",
        version_table(&results.rows).text_in(console.layout()),
        folder.display(),
        results.rows.len(),
        results.tokens
    );
    console.result(if console.quiet { "" } else { &text }, &value)?;
    match results.lost.first() {
        None => Ok(()),
        Some((name, reason)) => Err(CliError::difference(format!(
            "{} of the submissions are lost, and count in no table; {name}: {reason}",
            results.lost.len()
        ))
        .with_hint("move their folders away, and run the same command again to ask anew")),
    }
}
