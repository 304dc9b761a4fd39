//! `ktd alpha mine`: a search for formulas.

use crate::CliError;
use crate::output::Console;
use crate::progress::Progress;
use crate::run::runtime;
use crate::signals::unless_told_to_end;
use crate::this_program::this_program;
use clap::Args;
use ktd_io::parallel::available_threads;
use ktd_record::study_folder::StudyFolder;
use ktd_studies::mine::{
    MineMethod, MineStudy, MinedPool, OpenMine, mine_into, mine_with_model, mined_table,
};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
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
#[command(after_help = EXAMPLE)]
pub(super) struct MineArgs {
    /// The search's file.
    #[arg(value_name = "FILE")]
    study: PathBuf,
    /// Folder of results [default: results/NAME beside the file].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Searches for formulas.
pub(super) fn run(args: &MineArgs, console: Console) -> Result<(), CliError> {
    let study = MineStudy::read(&args.study)?;
    let beside = args.study.parent().unwrap_or_else(|| Path::new(""));
    let beside = beside.join("results").join(&study.name);
    let method = study.method;
    let open = OpenMine::new(study, available_threads())?;
    let held = StudyFolder::hold(&args.out.clone().unwrap_or(beside), &this_program())?;
    let work = u64::try_from(open.work()).unwrap_or(u64::MAX);
    let mut bar = Progress::new(console, "searching", work, "formulas");
    let mut advance = |done| bar.advance(u64::try_from(done).unwrap_or(0));
    let pool = if method == MineMethod::Llm {
        let base = args.study.parent().unwrap_or_else(|| Path::new(""));
        let mining = mine_with_model(&open, (base, &held), &mut advance);
        runtime()?.block_on(unless_told_to_end(mining))??
    } else {
        mine_into(&open, &held, &mut advance)?
    };
    drop(bar);
    let value = serde_json::to_value(&pool).map_err(CliError::invalid)?;
    let text = if console.quiet {
        String::new()
    } else {
        text(&pool, held.path(), console)
    };
    console.result(&text, &value)
}

fn text(pool: &MinedPool, folder: &Path, console: Console) -> String {
    let outcomes = pool.outcomes.iter();
    let outcomes: Vec<String> = outcomes.map(|(code, count)| format!("{count} {code}")).collect();
    let mut text = vec![mined_table(pool).text_in(console.layout())];
    text.push(format!("tried: {}", outcomes.join(", ")));
    text.extend(pool.model.iter().map(|model| {
        let lost = model.lost.all();
        let (name, until) = (&model.model, &model.known_until);
        format!(
            "found by {name} (known until: {until}) in {} rounds, {lost} of them lost",
            model.rounds
        )
    }));
    text.extend(pool.notes.iter().map(|note| format!("note: {note}")));
    text.push(format!(
        "{}: pool.json, trials.jsonl, header.json",
        folder.display()
    ));
    text.join("\n")
}
