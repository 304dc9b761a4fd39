//! `ktd strategy-code arena`: models review each other's programs.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::run::runtime;
use crate::signals::unless_told_to_end;
use crate::strategy_code_run::advance;
use crate::this_program::this_program;
use clap::Args;
use ktd_record::study_folder::StudyFolder;
use ktd_strategies::{
    ArenaOutcome, ArenaPlan, ArenaRecord, StrategyExperiment, arena_tables, plan_arena, run_arena,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const ARENA_EXAMPLE: &str = "\
Examples:
  ktd strategy-code arena strategies.toml --dry-run
  ktd strategy-code arena strategies.toml

The file is that of `ktd strategy-code run`, whose submissions are finished, with a further key:

  arena = { reviewers = \"agents\", temperature = 0.7, review = \"stripped\" }    # all defaults

Every reviewer gets the ranked program of every submission and three planted ones, never an author. Below
two models with a program there is nothing to compare (n/a). Exit code 1: a review was ended by its
endpoint. Exit code 3: the budget is used up.";

#[derive(Debug, Args)]
#[command(after_help = ARENA_EXAMPLE)]
pub(super) struct ArenaArgs {
    /// The experiment's file.
    #[arg(value_name = "FILE")]
    experiment: PathBuf,
    /// Folder of results [default: the file's `output`, else `results/NAME` beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show what would be asked and what it may cost, and ask nobody.
    #[arg(long)]
    dry_run: bool,
}

/// Asks models to review each other's programs.
pub(super) fn arena(args: &ArenaArgs, console: Console) -> Result<(), CliError> {
    let experiment = StrategyExperiment::read(&args.experiment)?;
    let base = args.experiment.parent().unwrap_or_else(|| Path::new(""));
    let plan = plan_arena(&experiment, base)?;
    if args.dry_run {
        return show_plan(&plan, console);
    }
    let folder = args.out.clone().unwrap_or_else(|| experiment.results(base));
    let held = StudyFolder::hold(&folder, &this_program())?;
    let reviews: usize = plan.iter().map(|reviewer| reviewer.reviews).sum();
    let all = u64::try_from(reviews).unwrap_or(u64::MAX);
    let bar = Mutex::new(Progress::new(console, "arena", all, "reviews done"));
    let finished = || advance(&bar);
    let asked = run_arena(&experiment, (base, &held), &finished);
    let outcome = runtime()?.block_on(unless_told_to_end(asked))??;
    drop(bar);
    match outcome {
        ArenaOutcome::NotApplicable(reason) => console.result(
            &format!("n/a: {reason}\n"),
            &json!({"arena": null, "reason": reason}),
        ),
        ArenaOutcome::Held(record) => show(&record, &folder, console),
    }
}

fn show_plan(plan: &[ArenaPlan], console: Console) -> Result<(), CliError> {
    let lines: Vec<String> = plan
        .iter()
        .map(|reviewer| {
            let cost = reviewer
                .dollars
                .map_or_else(|| "price unknown".to_owned(), |dollars| format!("$ {dollars:.2}"));
            format!(
                "{}: {} reviews, at most twice as many requests, about {} tokens in and {} out, {cost}",
                reviewer.id, reviewer.reviews, reviewer.input_tokens, reviewer.output_tokens
            )
        })
        .collect();
    let reviewers = plan.iter().map(|reviewer| {
        json!({
            "id": reviewer.id, "reviews": reviewer.reviews, "input_tokens": reviewer.input_tokens,
            "output_tokens": reviewer.output_tokens, "dollars": reviewer.dollars,
        })
    });
    let value = json!({"reviewers": reviewers.collect::<Vec<_>>()});
    console.result(&format!("{}\nnobody was asked\n", lines.join("\n")), &value)
}

fn show(record: &ArenaRecord, folder: &Path, console: Console) -> Result<(), CliError> {
    let tables: Vec<String> = arena_tables(record)
        .iter()
        .map(|table| table.text_in(console.layout()))
        .collect();
    let text = format!(
        "{}\n{}: {} reviews of submissions, {} tokens\n",
        tables.join("\n"),
        folder.join("arena").display(),
        record.scores.len(),
        record.tokens()
    );
    let value = serde_json::to_value(record).map_err(CliError::invalid)?;
    console.result(if console.quiet { "" } else { &text }, &json!({"arena": value}))?;
    match record.lost() {
        0 => Ok(()),
        lost => Err(
            CliError::difference(format!("{lost} reviews were ended by their endpoints"))
                .with_hint("move the folder `arena` away, and give the same command again to ask anew"),
        ),
    }
}
