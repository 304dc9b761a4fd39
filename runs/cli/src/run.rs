//! `ktd run EXPERIMENT.toml`.

use super::given::check_file;
use crate::CliError;
use crate::output::{Console, visible_lines};
use crate::results::{Results, results_table};
use crate::study;
use crate::this_program::this_program;
use clap::Args;
use ktd_episode::grid::RunPlan;
use ktd_episode::{CellResult, EpisodesStudy, EpisodesWorld, withdraw};
use ktd_experiment::config::ExperimentConfig;
use ktd_io::ErrorClass;
use ktd_plan::cost_text::{self, MoneyDocument};
use ktd_study::{StudyError, StudyKind, StudyRun, run_study};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Example experiment file:

  name = \"try\"
  panel = \"csi300.ktdp\"            # without it: the synthetic market
  masks = [{ level = \"bright\" }, { level = \"blinded\", numeric = \"rescaled\" }]
  modes = [\"open-research\"]
  seeds = [1, 2, 3]
  windows = [
    { id = \"W1\" },
    { id = \"short\", start = \"2025-03-03\", end = \"2025-03-14\" },
  ]

  [[agents]]
  id = \"momentum\"
  builtin = \"momentum\"

  [[agents]]
  id = \"gpt\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"

  ktd plan try.toml                   # what it would ask and cost
  ktd run try.toml

  KTD_LOG=info ktd run try.toml       # says when cells begin, end and wait

  ktd run try.toml --retry-lost       # again, also the cells that never reached their endpoint
  ktd run try.toml --on-event 'curl -d \"$KTD_EVENT\" http://127.0.0.1:8000'

  ktd run try.toml --withdraw gpt     # its model is gone: closes what it has played

Running the same file again continues where it stopped: finished cells are kept, and no reply is asked for twice. A cell \
of which every step was lost to the infrastructure is finished, too: --retry-lost moves its bundle to CELL.lost-1, which \
no board reads, and runs the cell again. Cells with a single decision of the model are never moved.";

/// Runs the episodes that an experiment file describes, or the study of a file with a `kind`; rerunning continues where it
/// stopped.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct RunArgs {
    /// The experiment file.
    pub experiment: PathBuf,
    /// Results directory (default: the file's `output`, else `results/NAME` beside the file).
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Cells at once at most, instead of the file's `parallel_cells`.
    #[arg(long)]
    pub parallel: Option<usize>,
    /// Run cells again of which every step was lost to the infrastructure; their bundles are kept beside, as `CELL.lost-1`.
    #[arg(long)]
    pub retry_lost: bool,
    /// An agent that nobody can ask any more, in the file or taken out of it: what it has played is closed where it stands, kept,
    /// counted and not ranked, and the rest is never played. May be given several times.
    #[arg(long, value_name = "AGENT")]
    pub withdraw: Vec<String>,
    /// A command of the shell that is run whenever an endpoint falls silent or is back, an agent is stopped, half, 80 % or all of a cap is
    /// spent, and when the run ends; it finds what happened in `KTD_EVENT`.
    #[arg(long, value_name = "COMMAND")]
    pub on_event: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input, and when a cell stopped before its end.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    check_file(&args.experiment)?;
    let kind = study::kind_for(&args.experiment)?;
    if kind.name() != EpisodesStudy::NAME {
        return study::run(kind, (&args.experiment, args.out.as_deref()), console);
    }
    let mut plan = plan(&args.experiment, args.out.as_deref())?;
    let output = plan.output.display().to_string();
    if let Some(parallel) = args.parallel {
        plan.config.parallel_cells = Some(parallel.max(1));
    }
    withdraw_agents(&plan, &args.withdraw)?;
    let how = (args.retry_lost, args.on_event.as_deref());
    let Executed { results, world } = execute(plan, how, console)?;
    let budget = world.metering().and_then(|metering| metering.budget.as_deref());
    let mut notes = world.notes()?;
    notes.extend(results.iter().filter_map(ended_early));
    let mut text = results_table(&results, console.layout());
    text.push_str(&cost_text::text(&results, budget, console.layout()));
    for note in &notes {
        text.push_str("note: ");
        text.push_str(&visible_lines(note));
        text.push('\n');
    }
    // Else the command says what to do first.
    if results.iter().all(|result| result.result.is_ok()) {
        // Writing to a string cannot fail.
        writeln!(
            text,
            "next: ktd leaderboard {output} --out {output}/board; ktd view {output}"
        )
        .ok();
    }
    let mut document = Results::of(&results);
    document.money = Some(MoneyDocument::of(&results, budget));
    document.notes = Some(notes);
    console.result(&text, &document)?;
    stopped(&results)
}

/// How a cell ended before its window did.
fn ended_early(result: &CellResult) -> Option<String> {
    let summary = result
        .result
        .as_ref()
        .ok()
        .filter(|summary| !summary.is_whole())?;
    let steps = result.cell.window.days.len();
    Some(format!("{}: {}", result.cell.id, summary.told_early(steps)))
}

/// Closes what withdrawn agents have not finished, and says so.
///
/// # Errors
/// [`CliError`] for an agent that nobody knows, and for a record that cannot be closed.
fn withdraw_agents(plan: &RunPlan, agents: &[String]) -> Result<(), CliError> {
    let known: BTreeSet<&str> = plan.config.agents.iter().map(|agent| agent.id.as_str()).collect();
    let panel = plan.config.panel.as_ref().map(|panel| plan.base.join(panel));
    for told in withdraw((&plan.output, panel.as_deref()), agents, &known)? {
        Console::warning(&told);
    }
    Ok(())
}

/// The plan of an experiment file, its results going to `out` or where the file says.
///
/// # Errors
/// [`CliError`] for a file that is none.
pub(super) fn plan(experiment: &Path, out: Option<&Path>) -> Result<RunPlan, CliError> {
    let config = ExperimentConfig::read(experiment)?;
    let base = experiment.parent().map_or_else(PathBuf::new, Path::to_owned);
    let output = out.map_or_else(
        || {
            let given = config.output.clone();
            base.join(given.unwrap_or_else(|| Path::new("results").join(&config.name)))
        },
        Path::to_owned,
    );
    Ok(RunPlan {
        config,
        base,
        output,
        program: Some(this_program()),
    })
}

/// A plan that was run.
pub(super) struct Executed {
    /// The cells' results.
    pub results: Vec<CellResult>,
    /// What they ran over.
    pub world: EpisodesWorld,
}

/// Runs a plan as a study under a progress bar.
///
/// # Errors
/// [`CliError`] when nothing can be started.
pub(super) fn execute(
    plan: RunPlan,
    (retries_lost, on_event): (bool, Option<&str>),
    console: Console,
) -> Result<Executed, CliError> {
    let RunPlan {
        config, base, output, ..
    } = plan;
    let mut end = study::with_run_telling(("running", Some(study::PATIENCE), console), on_event, |run| {
        let run = StudyRun { retries_lost, ..*run };
        let end = run_study::<EpisodesStudy>(config, (&base, &output), &run)?;
        if on_event.is_some() {
            let unfinished = end.failed.len();
            run.progress.news(&format!(
                "the run ended: {} of {} cells are unfinished",
                unfinished, end.units
            ));
        }
        Ok(end)
    })?;
    Ok(Executed {
        results: CellResult::all(&mut end)?,
        world: end.world,
    })
}

/// The first cell that stopped, as the command's failure; the others stand.
///
/// # Errors
/// [`CliError`] when a cell stopped, or lost steps to the infrastructure.
pub(super) fn stopped(results: &[CellResult]) -> Result<(), CliError> {
    let errors = || {
        let stopped = results.iter();
        stopped.filter_map(|result| Some((&result.cell.id, result.result.as_ref().err()?)))
    };
    let is_budget = |error: &StudyError| error.class() == ErrorClass::Budget;
    // What waits for its client is no failure: the table says so, and whoever calls goes on with it.
    let mut others = errors().filter(|(_, error)| !is_budget(error) && !error.is_waiting());
    let Some((cell, error)) = others.next() else {
        return over_budget(results).and_then(|()| covered(results));
    };
    let others = others.count();
    let message = format!(
        "cell {cell}: {error}{}",
        if others > 0 {
            format!(" (and {others} more)")
        } else {
            String::new()
        }
    );
    Err(CliError::of(error.class(), message, error.hint()))
}

/// Cells that stopped at a cap are neither faulty nor finished: the same command goes on when the cap is raised.
fn over_budget(results: &[CellResult]) -> Result<(), CliError> {
    let stopped = results.iter().filter_map(|result| result.result.as_ref().err());
    let stopped: Vec<&StudyError> = stopped.filter(|error| !error.is_waiting()).collect();
    let Some(reached) = stopped.first() else {
        return Ok(());
    };
    let cells = stopped.len();
    let message = format!("{reached}; {cells} of {} cells are unfinished", results.len());
    let hint = "raise the cap under [budget] (of a branch: --budget) and run the same command again: it continues where it stopped";
    Err(CliError::budget(message).with_hint(hint))
}

/// Steps lost to the infrastructure are no decisions of the model: the command does not end as if all were well.
fn covered(results: &[CellResult]) -> Result<(), CliError> {
    let finished = || results.iter().filter_map(|result| result.result.as_ref().ok());
    let lost: usize = finished().map(|summary| summary.counters.uncovered).sum();
    if lost == 0 {
        return Ok(());
    }
    let whole = finished().filter(|summary| summary.is_lost()).count();
    let hint = match whole {
        0 => "look at the endpoint with `ktd doctor`; a cell with decisions in it stays as it is: give a second run \
              another seed"
            .to_owned(),
        _ => format!(
            "look at the endpoint with `ktd doctor`; then `ktd run ... --retry-lost` runs again the {whole} cells of \
             which every step was lost"
        ),
    };
    let message = format!("{lost} steps were lost to infrastructure faults; see the column `coverage`");
    Err(CliError::difference(message).with_hint(hint))
}
