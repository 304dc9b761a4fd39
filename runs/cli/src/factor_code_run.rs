//! `ktd factor-code run`: models write factor functions; and what replays and verifies their bundles.

use super::boxed_options::BoxArgs;
use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::run::runtime;
use crate::signals::unless_told_to_end;
use crate::this_program::this_program;
use clap::Args;
use ktd_boxed::{BoxLauncher, BoxSetup};
use ktd_code::{
    CellEnd, FactorCodeBundle, FactorCodeConfig, FactorCodeHeader, FactorCodePaths, FactorCodeReport,
    FactorCodeRun, FactorCodeSummary, estimate_table, replay_factor_code, summary_table, write_report,
};
use ktd_record::study_folder::StudyFolder;
use ktd_sandbox::Isolation;
use ktd_view::draw::visible;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const EXAMPLE: &str = "\
Example:
  ktd factor-code run code.toml --dry-run
  ktd factor-code run code.toml
  ktd factor-code report results/factor-code --out report

  benchmark = \"factor-code\"
  tasks = \"all\"                       # or ids, categories, a file of tasks of one's own
  styles = [\"original\"]               # concise, cot
  rounds = 3
  feedback = \"layers\"                 # execution: failures of layer 1 alone
  samples = 1
  panel_seed = 20260401
  real = { panel = \"csi300.ktdp\", symbol = \"SH600519\" }    # without it panel Q is synthetic
  prices = \"prices.json\"
  budget = { experiment = \"5.00\" }
  [[agents]]
  id = \"gpt\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 4096

Everything is recorded: the same command again asks nothing twice. Exit code 3 when the budget is used up.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment file.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Results directory [default: the file's `output`, else `results/NAME` beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Say what would be asked, and what it costs at most; nothing is asked and nothing is written.
    #[arg(long)]
    dry_run: bool,
    /// Boxes side by side, instead of the file's `jobs`.
    #[arg(long)]
    jobs: Option<usize>,
    #[command(flatten)]
    boxes: BoxArgs,
}

const REPORT_EXAMPLE: &str = "\
Example:
  ktd factor-code report results/factor-code --out report.html

Writes report.html, report.md, report.json and report_tables/T1_funnel.csv and so on, from the records alone.";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLE)]
pub(super) struct ReportArgs {
    /// A folder of bundles, such as `ktd factor-code run` writes.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The page to write; the other files lie beside it.
    #[arg(long, value_name = "PAGE")]
    out: PathBuf,
}

/// Makes tables and a page of finished bundles.
pub(super) fn report(args: &ReportArgs, console: Console) -> Result<(), CliError> {
    let report = FactorCodeReport::read(&args.folder)?;
    let files = write_report(&report, &args.out)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    console.result(&format!("{}\n", names.join("\n")), &json!({ "files": names }))
}

/// Asks models for functions and judges them.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    let config = FactorCodeConfig::read(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    let results = config
        .output
        .clone()
        .unwrap_or_else(|| Path::new("results").join(&config.name));
    let output = args.out.clone().unwrap_or_else(|| base.join(results));
    let experiment = FactorCodeRun::new(config, base, &output)?;
    if args.dry_run {
        let estimates = experiment.estimate()?;
        let text = estimate_table(&estimates).text_in(console.layout());
        return console.result(&text, &json!({ "estimates": estimates }));
    }
    let held = StudyFolder::hold(&output, &this_program())?;
    let setup = BoxSetup {
        side_by_side: args.jobs.unwrap_or_else(|| experiment.jobs()),
        ..args.boxes.setup()
    };
    let launcher = BoxLauncher::prove(setup)?;
    let bar = Mutex::new(Progress::new(console, "asking", experiment.rounds(), "rounds"));
    let advance = |rounds: u64| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(rounds);
        }
    };
    let ends = runtime()?.block_on(unless_told_to_end(experiment.run((&held, &launcher), &advance)))??;
    drop(bar);
    show(ends, experiment.output(), console)
}

fn show(ends: Vec<CellEnd>, output: &Path, console: Console) -> Result<(), CliError> {
    let cells = ends.iter().map(|end| match &end.ended {
        Ok(summary) => json!({ "cell": end.cell, "summary": summary }),
        Err(error) => json!({ "cell": end.cell, "error": error.to_string() }),
    });
    let document = json!({ "cells": cells.collect::<Vec<Value>>() });
    let whole: Vec<&FactorCodeSummary> = ends.iter().filter_map(|end| end.ended.as_ref().ok()).collect();
    let mut text = String::new();
    if !whole.is_empty() && !console.quiet {
        text = format!(
            "{}{}: `ktd factor-code report` makes its tables\n",
            summary_table(&whole).text_in(console.layout()),
            output.display()
        );
    }
    console.result(&text, &document)?;
    let stopped = ends.into_iter().find_map(|end| end.ended.err());
    stopped.map_or(Ok(()), |error| Err(error.into()))
}

/// Judges a bundle again from its record.
pub(super) fn replay(
    folder: &Path,
    console: Console,
) -> Result<(FactorCodeBundle, Option<String>), CliError> {
    let header = FactorCodeHeader::read(&FactorCodePaths::new(folder).header())?;
    // A record may come from anybody: it chooses no level at which its programs would run unboxed.
    let recorded = header.sandbox.isolation;
    let isolation = if recorded.counts() {
        recorded
    } else {
        Isolation::Bwrap
    };
    let launcher = BoxLauncher::prove(BoxSetup {
        set: header.sandbox.environment.set,
        isolation,
        ..BoxSetup::default()
    })?;
    let rounds = header
        .tasks
        .len()
        .saturating_mul(usize::try_from(header.rounds).unwrap_or(1));
    let rounds = u64::try_from(rounds)
        .unwrap_or(u64::MAX)
        .saturating_mul(header.samples);
    let bar = Mutex::new(Progress::new(console, "judging", rounds, "rounds"));
    let advance = |rounds: u64| {
        if let Ok(mut bar) = bar.lock() {
            bar.advance(rounds);
        }
    };
    let replaying = replay_factor_code(folder, &launcher, &advance);
    Ok(runtime()?.block_on(unless_told_to_end(replaying))??)
}

/// `ktd replay` of a bundle of the factor benchmark.
pub(super) fn replay_command(folder: &Path, console: Console) -> Result<(), CliError> {
    let (bundle, other) = replay(folder, console)?;
    if let Some(other) = &other {
        console.note(other);
    }
    let text = format!(
        "{}: {} answers judged again, every verdict the same",
        visible(&bundle.header.cell),
        bundle.events.len()
    );
    let document = json!({
        "cell": bundle.header.cell, "events": bundle.events.len(), "matches": true, "another_box": other,
    });
    console.result(&text, &document)
}
