//! `ktd alpha judge`: language models score the logic of formulas.

use crate::CliError;
use crate::output::Console;
use crate::study;
use clap::Args;
use ktd_formula_study::AlphaStudy;
use ktd_formula_study::judge::FormulaJudging;
use ktd_study::any;
use std::path::{Path, PathBuf};

const JUDGE_EXAMPLE: &str = "\
Example:
  ktd alpha judge alphas.toml
  ktd alpha eval alphas.toml                # Logic enters its tables

  name = \"pools\"                            # the file of `ktd alpha eval`
  pools = [{ id = \"alpha158\", builtin = \"alpha158\" }, { id = \"mine\", file = \"mine.csv\" }]
  [splits]
  train = [\"2018-01-02\", \"2021-12-31\"]
  [judge]
  prices = \"prices.json\"
  budget = { experiment = \"2.00\" }
  [[judge.agents]]
  id = \"judge\"
  vendor = \"openai\"
  model = \"gpt-5.5\"
  api_key_env = \"OPENAI_API_KEY\"
  max_output_tokens = 4096

Formulas of all pools stand in one list, each once, in three orders, and no judge is told their pools; an alpha's score is the \
median. Equal formulas of other lengths, formulas without meaning, and one order twice show what a judge's scores are worth. \
Everything is recorded: the same command again asks nothing twice. Exit code 3 when the budget is used up.";

#[derive(Debug, Args)]
#[command(after_help = JUDGE_EXAMPLE)]
pub(super) struct JudgeArgs {
    /// The study's file, with a table `judge`.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file]; what judges say is kept in its `judge`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Has a study's formulas judged.
pub(super) fn run(args: &JudgeArgs, console: Console) -> Result<(), CliError> {
    let name = AlphaStudy::read(&args.study)?.name;
    let base = args.study.parent().unwrap_or_else(|| Path::new(""));
    let results = base.join("results").join(name);
    let folder = args.out.clone().unwrap_or(results).join("judge");
    study::run(any::<FormulaJudging>(), (&args.study, Some(&folder)), console)
}
