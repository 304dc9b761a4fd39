//! `ktd strategy-code run`, `report` and `replay`: models write strategies, mend them, and review each other's.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_strategy_study::{
    PlannedModel, StrategyExperiment, StrategyPlan, StrategyReport, StrategyStudy, people_table,
    plan_experiment,
};
use ktd_study::{Depth, Section, SectionPart, Shown, any};
use serde_json::json;
use std::path::{Path, PathBuf};

const RUN_EXAMPLE: &str = "\
Examples:
  ktd strategy-code run strategies.toml --dry-run
  ktd strategy-code run strategies.toml

  kind = \"strategy-code\"
  name = \"first\"                       # results go to output, by default results/NAME
  strategies = [\"S01\", \"my/channel\"]   # default \"all\"; or folders of your own
  iterations = 3                        # patches that may be asked for
  drift = \"reference\"                   # or \"published\"
  goal = \"none\"                         # \"profit\" shows models what they earn on train days
  real = { panel = \"csi300.ktdp\", symbols = [\"SH600519\"] }
  continues = \"results/zeroth\"         # patches of reviewed versions; default: builds
  arena = { temperature = 0.7 }         # agents review each other's programs; default: they do not
  prices = \"prices.json\"
  budget = { experiment = \"20.00\" }
  [[agents]]
  id = \"writer\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 16384

Everything is recorded: the same command again asks nothing twice, and judges nothing twice. Reviewers get the ranked
program of every submission and three planted ones, once all submissions are finished.
Exit code 1: a submission was ended by its endpoint, or by a reference of your own that fails with its
values. Exit code 3: the budget is used up.";

const REPORT_EXAMPLE: &str = "\
Examples:
  ktd strategy-code report results/first --all
  ktd strategy-code report results/first --human marks.csv

Writes index.html, report.md, CSV and Parquet files beside report.json, all made of it. Nothing is run, and nobody is asked.

Marks of people are a table with the columns rater, model, strategy, seed, D1, D2 (seed may be left out where a
model has one submission of a strategy): whole numbers from 1 to 10 for the ranked version, or empty. They are shown beside
the tables, and are no part of the files.";

const REPLAY_EXAMPLE: &str = "\
Example:
  ktd strategy-code replay results/first

Every program runs in the box again, and reviews are made again from what was answered; `ktd replay DIR --deep` does the
same, and without --deep it takes recorded verdicts. Exit code 1: a file of the record differs from what it was.";

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
    /// Show all tables.
    #[arg(long)]
    all: bool,
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
    /// Where relative paths of the file start [default: where they did when it was run].
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
}

/// Asks models for strategies.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let experiment = StrategyExperiment::read(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    let folder = args.out.clone().unwrap_or_else(|| experiment.results(base));
    let experiment = experiment.in_boxes(args.boxes.setup());
    if args.dry_run {
        return show_plan(&plan_experiment(&experiment, base)?, console);
    }
    experiment.admit(base, &folder)?;
    let report = study::run_keys::<StrategyStudy>(experiment, (base, &folder), console)?;
    match report.lost.first() {
        None => Ok(()),
        Some((name, reason)) => Err(CliError::difference(format!(
            "{} of the submissions are lost, and count in no table; {name}: {reason}",
            report.lost.len()
        ))
        .with_hint("move their folders away, and run the same command again to ask anew")),
    }
}

/// Makes an experiment again from its record.
pub(super) fn replay(args: &ReplayArgs, console: Console) -> Result<(), CliError> {
    let folder = (args.folder.as_path(), args.base.as_deref());
    study::replay(any::<StrategyStudy>(), folder, Depth::Deep, console)
}

/// Shows what an experiment came to.
pub(super) fn report(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    let mut found = any::<StrategyStudy>().report(&args.folder)?;
    if let Some(human) = &args.human {
        let report: StrategyReport =
            serde_json::from_value(found.summary.clone()).map_err(CliError::invalid)?;
        let people = people_table(&report, human)?;
        if let Some(members) = found.summary.as_object_mut() {
            members.insert("people".to_owned(), people.json());
        }
        let mut section = Section::new("Marks of people");
        section.parts.push(SectionPart::Table(people, Shown::Excerpt));
        found.report.sections.push(section);
    }
    study::show(&found, (&args.folder, args.all), console)
}

fn plan_value(model: &PlannedModel, what: &str) -> serde_json::Value {
    json!({
        "id": model.id, "seed": model.seed, what: model.submissions, "requests": model.requests,
        "input_tokens": model.input_tokens, "output_tokens": model.output_tokens, "dollars": model.dollars,
    })
}

fn plan_line(model: &PlannedModel, what: &str) -> String {
    let cost = model
        .dollars
        .map_or_else(|| "price unknown".to_owned(), |dollars| format!("$ {dollars:.2}"));
    format!(
        "{} (seed {}): {} {what}, at most {} requests, about {} tokens in and {} out, {cost}",
        model.id, model.seed, model.submissions, model.requests, model.input_tokens, model.output_tokens
    )
}

fn show_plan(plan: &StrategyPlan, console: Console) -> Result<(), CliError> {
    let all = [("submissions", &plan.models), ("reviews", &plan.reviewers)];
    let lines = all
        .into_iter()
        .flat_map(|(what, own)| own.iter().map(move |model| plan_line(model, what)));
    let [models, reviewers] = all.map(|(what, own)| {
        own.iter()
            .map(|model| plan_value(model, what))
            .collect::<Vec<_>>()
    });
    let text = format!("{}\nnobody was asked\n", lines.collect::<Vec<_>>().join("\n"));
    console.result(&text, &json!({"models": models, "reviewers": reviewers}))
}
