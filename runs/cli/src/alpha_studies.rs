//! `ktd alpha eval`, `judge` and `mine`: studies of formulas.

use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_formula_study::{AlphaEvaluating, cost_table, measure_cost, write_daily};
use ktd_io::parallel::available_threads;
use ktd_study::{Opening, StudyKind, any, read_study_file, run_any};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) const EVAL_EXAMPLE: &str = "\
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
fifth. index.html, report.json and tables are written; the same inputs again change nothing. The test split is opened once: another set of \
formulas on days of it is counted as another look, whatever its folder.";

pub(super) const JUDGE_EXAMPLE: &str = "\
Example:
  ktd alpha judge judges.toml --out judged

  kind = \"alpha-judge\"
  name = \"logic\"
  pools = [{ id = \"alpha158\", builtin = \"alpha158\" }, { id = \"mine\", file = \"mine.csv\" }]
  prices = \"prices.json\"
  budget = { experiment = \"2.00\" }
  [[agents]]
  id = \"judge\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 4096

Formulas of all pools stand in one list, each once, in three orders, and no judge is told their pools; an alpha's score is the \
median. Equal formulas of other lengths, formulas without meaning, and one order twice show what a judge's scores are worth. \
`ktd alpha eval` with judged = \"judged\" has Logic in its tables. Everything is recorded: the same command again asks nothing \
twice. Exit code 3 when the budget is used up.";

pub(super) const MINE_EXAMPLE: &str = "\
Example:
  ktd alpha mine runs/configs/alpha_mine_demo.toml --out mined

  name = \"gp1\"
  panel = \"csi300.ktdp\"      # or bins = \"qlib_dir\"; without both the synthetic market
  method = \"gp\"              # or \"random\", or \"llm\" with a table [llm]
  seed = 1
  gp = { population = 60, generations = 333 }
  select = { take = 20, correlation = 0.7 }
  [splits]
  train = [\"2018-01-02\", \"2021-12-31\"]
  valid = [\"2022-01-04\", \"2022-12-30\"]

Fitness is computed on train days, and the pool is chosen by valid days, which are read once, at the end. Test days are never \
read. With method = \"llm\" a model is asked in rounds: [llm] has agents (one), rounds = 10, ask = 8, prices, budget and rates as in \
an experiment; it is shown train figures alone, and everything is recorded. A search that was stopped is continued by the same command, and a finished one does nothing. `ktd alpha eval` takes the \
folder as pools = [{ id = \"gp1\", mined = \"mined\" }] and counts every formula that was tried.";

#[derive(Debug, Args)]
pub(super) struct StudyArgs {
    /// The study's file.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Leave the test split closed.
    #[arg(long)]
    no_test: bool,
    /// Measure also what each figure costs, into cost.json and cost.csv.
    #[arg(long)]
    cost: bool,
    /// Write what the figures are made of: days.parquet with each alpha's daily IC and returns, gross and net, and weights.parquet with
    /// what its portfolio holds.
    #[arg(long, value_name = "DIR")]
    daily: Option<PathBuf>,
}

/// Evaluates pools of formulas.
pub(super) fn eval(args: &EvalArgs, console: Console) -> Result<(), CliError> {
    let StudyArgs { study: file, out } = &args.study;
    let mut keys = read_study_file::<AlphaEvaluating>(file)?;
    keys.test_closed |= args.no_test;
    let base = file.parent().unwrap_or_else(|| Path::new(""));
    let finished = study::run_by(false, console, |run| {
        run_any::<AlphaEvaluating>(keys.clone(), (base, out.as_deref()), run)
    })?;
    if !args.cost && args.daily.is_none() {
        return Ok(());
    }
    let started = Instant::now();
    let at = Opening::unkept(base, &finished.folder, available_threads());
    let open = AlphaEvaluating::open(&keys, &at)?;
    if let Some(folder) = &args.daily {
        write_daily(&open, &at, folder)?;
    }
    if !args.cost {
        return Ok(());
    }
    let cost = measure_cost(&open, &at, &|| started.elapsed().as_secs_f64())?;
    if console.quiet || console.json {
        return Ok(());
    }
    let table = cost_table(&cost).text_in(console.layout());
    Console::say(&table)
}

/// Has formulas judged.
pub(super) fn judge(args: &StudyArgs, console: Console) -> Result<(), CliError> {
    study::run(
        any::<FormulaJudging>(),
        (&args.study, args.out.as_deref()),
        console,
    )
}

/// Searches for formulas.
pub(super) fn mine(args: &StudyArgs, console: Console) -> Result<(), CliError> {
    study::run(
        any::<FormulaMining>(),
        (&args.study, args.out.as_deref()),
        console,
    )
}
