//! `ktd run EXPERIMENT.toml`.

use super::given::check_file;
use super::signals::unless_told_to_end;
use crate::CliError;
use crate::output::{Console, visible_lines};
use crate::results::{results_json, results_table};
use crate::runtime::runtime;
use crate::step_bar::StepBar;
use crate::study;
use crate::this_program::this_program;
use clap::Args;
use ktd_bundle::BundlePaths;
use ktd_bundle::canary::CanaryRecord;
use ktd_bundle::set_aside::{is_lost, set_aside};
use ktd_bundle::summary_file::read_summary;
use ktd_client::ClientError;
use ktd_client::money::Metering;
use ktd_data::market_source::MarketSource;
use ktd_episode::EpisodeError;
use ktd_episode::run::{CellResult, RunPlan, bundle_directory, prepare, run_cells};
use ktd_experiment::cells::cells;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::prune::{Pruned, pruned};
use ktd_io::ErrorClass;
use ktd_io::open_files::missing_open_files;
use ktd_plan::cost_text;
use ktd_record::budget_file::{BudgetCap, BudgetFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLE: &str = "\
Example experiment file:

  name = \"try\"
  panel = \"csi300.ktdp\"            # without it: the synthetic market
  parallel_cells = 4
  masks = [{ level = \"bright\" }, { level = \"blinded\", numeric = \"rescaled\" }]
  modes = [\"open-research\"]
  seeds = [1, 2, 3]
  agents = [
    { id = \"momentum\", builtin = \"momentum\" },
    { id = \"gpt\", vendor = \"openai\", model = \"gpt-5.5\", api_key_env = \"OPENAI_API_KEY\" },
  ]
  windows = [{ id = \"W1\" }, { id = \"short\", start = \"2025-03-03\", end = \"2025-03-14\" }]

  ktd plan try.toml                   # what it would ask and cost
  ktd run try.toml

  KTD_LOG=info ktd run try.toml       # says when cells begin, end and wait

  ktd run try.toml --retry-lost       # again, also the cells that never reached their endpoint

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
    /// Cells at once, instead of the file's `parallel_cells`.
    #[arg(long)]
    pub parallel: Option<usize>,
    /// Run cells again of which every step was lost to the infrastructure; their bundles are kept beside, as `CELL.lost-1`.
    #[arg(long)]
    pub retry_lost: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for bad input, and when a cell stopped before its end.
pub(super) fn run(args: &RunArgs, console: Console) -> Result<(), CliError> {
    check_file(&args.experiment)?;
    if let Some(kind) = study::kind_for(&args.experiment)? {
        return study::run(kind, (&args.experiment, args.out.as_deref()), console);
    }
    let mut plan = plan(&args.experiment, args.out.as_deref())?;
    if let Some(parallel) = args.parallel {
        plan.config.parallel_cells = parallel.max(1);
    }
    if args.retry_lost {
        retry_lost(&plan, console)?;
    }
    let executed = execute(&plan, console)?;
    let Executed {
        results,
        limitations,
        metering,
    } = &executed;
    let budget = metering.budget.as_deref();
    let mut text = results_table(results, console.layout());
    text.push_str(&cost_text::text(results, budget, console.layout()));
    for limitation in limitations {
        text.push_str("note: ");
        text.push_str(&visible_lines(limitation));
        text.push('\n');
    }
    let mut document = results_json(results);
    if let Some(object) = document.as_object_mut() {
        object.insert("money".to_owned(), cost_text::to_json(results, budget));
        object.insert("notes".to_owned(), serde_json::json!(limitations));
    }
    console.result(&text, &document)?;
    stopped(results)
}

/// Moves the bundles of which every step was lost out of the way, so that their cells are run again.
fn retry_lost(plan: &RunPlan, console: Console) -> Result<(), CliError> {
    let source = MarketSource::of(&plan.config, &plan.base)?;
    for cell in cells(&plan.config, &source.market)? {
        let paths = BundlePaths::new(&bundle_directory(&plan.output, &cell.id));
        if paths.summary().exists() && is_lost(&read_summary(&paths)?) {
            let moved = set_aside(&paths)?;
            console.note(&format!(
                "running {} again; its lost episode is now {}",
                cell.id,
                moved.display()
            ));
        }
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
    /// What the panel cannot support, what is not known of the agents, and which cells are left out.
    pub limitations: Vec<String>,
    /// What was spent of the budget.
    pub metering: Arc<Metering>,
}

/// Runs a plan under a progress bar; with what a reader of the results must know.
///
/// # Errors
/// [`CliError`] when nothing can be started.
pub(super) fn execute(plan: &RunPlan, console: Console) -> Result<Executed, CliError> {
    if let Some((needed, allowed)) = missing_open_files(plan.config.parallel_cells) {
        let message = format!(
            "{} cells at once need up to {needed} open files, but the system allows {allowed}",
            plan.config.parallel_cells
        );
        return Err(CliError::invalid(message).with_hint("raise `ulimit -n`, or lower `parallel_cells`"));
    }
    let prepared = prepare(plan)?;
    if let Some(budget) = prepared.metering.budget.as_deref() {
        let caps = cost_text::caps(budget).into_iter();
        let caps = caps.map(|(scope, cap_picodollars)| BudgetCap {
            scope: scope.to_string(),
            cap_picodollars,
        });
        BudgetFile::new(caps.collect()).write(&plan.output)?;
    } else {
        BudgetFile::remove(&plan.output)?;
    }
    let steps: usize = prepared.cells.iter().map(|cell| cell.window.days.len()).sum();
    let bar = Arc::new(StepBar::of_steps(console, steps));
    let cells = run_cells(plan, &prepared, bar);
    let has_children = plan.config.agents.iter().any(|agent| agent.program().is_some());
    let results = if has_children {
        // Ended by a signal alone, this process would leave its agents behind.
        runtime()?.block_on(unless_told_to_end(cells))?
    } else {
        runtime()?.block_on(cells)
    };
    let mut notes = prepared.source.record.limitations;
    notes.extend(prepared.notes);
    notes.extend(pruned(&plan.config).iter().map(Pruned::told));
    if let Some(canaries) = &prepared.canaries {
        notes.extend(canaries.records()?.iter().map(CanaryRecord::note));
        notes.extend(canaries.notes());
    }
    Ok(Executed {
        results,
        limitations: notes,
        metering: prepared.metering,
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
    let is_budget = |error: &EpisodeError| error.class() == ErrorClass::Budget;
    let mut others = errors().filter(|(_, error)| !is_budget(error));
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
    let failure = match error.class() {
        ErrorClass::InvalidInput => CliError::invalid(message),
        ErrorClass::Difference | ErrorClass::Budget => CliError::difference(message),
    };
    Err(failure.with_hint(error.hint()))
}

/// Cells that stopped at a cap are neither faulty nor finished: the same command goes on when the cap is raised.
fn over_budget(results: &[CellResult]) -> Result<(), CliError> {
    let stopped: Vec<&EpisodeError> = results
        .iter()
        .filter_map(|result| result.result.as_ref().err())
        .collect();
    let Some(EpisodeError::Client(ClientError::Budget { reached, .. })) = stopped.first() else {
        return Ok(());
    };
    let cells = stopped.len();
    let message = format!("{reached}; {cells} of {} cells are unfinished", results.len());
    let hint = "raise the cap under [budget] or --budget and run the same command again: it continues where it stopped";
    Err(CliError::budget(message).with_hint(hint))
}

/// Steps lost to the infrastructure are no decisions of the model: the command does not end as if all were well.
fn covered(results: &[CellResult]) -> Result<(), CliError> {
    let finished = || results.iter().filter_map(|result| result.result.as_ref().ok());
    let lost: usize = finished().map(|summary| summary.counters.uncovered).sum();
    if lost == 0 {
        return Ok(());
    }
    let whole = finished().filter(|summary| is_lost(summary)).count();
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
