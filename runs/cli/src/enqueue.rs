//! `ktd enqueue FILE --server URL`.

use super::bucket::{address_of, read_copy};
use super::given::check_file;
use super::plan::{self, PlanArgs};
use super::runtime::runtime;
use super::study;
use crate::CliError;
use crate::output::Console;
use crate::this_program::this_program;
use clap::Args;
use ktd_episode::EpisodesStudy;
use ktd_experiment::config::ExperimentConfig;
use ktd_server::ServerDatabase;
use ktd_study::StudyKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  ktd enqueue season.toml --server postgresql://ktd@db/ktd
  KTD_SERVER=postgresql://ktd@db/ktd ktd enqueue season.toml --out /shared/season

The file, what it names and the folder of results must lie where all workers see them under the same path. Give the same \
command again when a cap or the file has changed and no worker runs.";

/// Which server.
#[derive(Debug, Clone, Args)]
pub(super) struct ServerArgs {
    /// The server, as `postgresql://USER@HOST/DATABASE`; its password belongs into PGPASSWORD or ~/.pgpass.
    #[arg(long, value_name = "URL", env = "KTD_SERVER", hide_env_values = true)]
    pub server: String,
}

/// Put the units of a file's study into the queue of a server, for workers on many machines. Prints what it costs, and
/// refuses to pay without a cap.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct EnqueueArgs {
    /// The file of an experiment or a study.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// Where its results go (default: the file's `output`, else `results/NAME` beside the file): a folder that all machines share, or
    /// `s3://BUCKET/NAME` where they share none.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a file that `ktd run` would refuse, a study that pays without a cap, and a server that does not answer.
pub(super) fn run(args: &EnqueueArgs, console: Console) -> Result<(), CliError> {
    check_file(&args.file)?;
    let file = absolute(&args.file)?;
    let address = args.out.as_deref().map(address_of).transpose()?.flatten();
    let tasks = runtime()?;
    let copy = address
        .as_ref()
        .map(|address| read_copy(&tasks, address))
        .transpose()?;
    let out = match &copy {
        Some((copy, _)) => Some(copy.root().to_owned()),
        None => args.out.as_deref().map(absolute).transpose()?,
    };
    let kind = study::kind_for(&file)?;
    if kind.name() == EpisodesStudy::NAME && ExperimentConfig::read(&file)?.canary.is_some() {
        return Err(CliError::input(
            "canaries are asked by one process: workers on many machines do not ask them",
            "take [canary] out of the file, or run it with `ktd run`",
        ));
    }
    let database = tasks.block_on(ServerDatabase::connect(&args.server.server))?;
    if !console.json {
        plan::run(&PlanArgs::of(&file, out.as_deref()), console)?;
    }
    let mut queued = study::with_run(("preparing", None, console), |run| {
        kind.enqueue(&file, out.as_deref(), run)
    })?;
    if let (Some((copy, has_study)), Some(address)) = (&copy, &address) {
        // Its workers look at every unit again, and whoever finds all finished reports.
        tasks.block_on(async {
            copy.forget_report().await?;
            copy.put_study().await
        })?;
        queued.folder = PathBuf::from(address.as_str());
        queued.was_asked = *has_study;
    }
    let program = this_program().source_sha256;
    let study = tasks.block_on(database.enqueue(&queued, &file, &program))?;
    let finished = queued.units.iter().filter(|unit| unit.is_finished).count();
    let text = format!(
        "study {study}, {}: {} units, of which {finished} are finished, in {}\nstart `ktd worker --drain` where it is to run",
        queued.name,
        queued.units.len(),
        queued.folder.display()
    );
    let document = Enqueued {
        study,
        name: &queued.name,
        kind: &queued.kind,
        folder: &queued.folder,
        units: queued.units.len(),
        finished,
    };
    console.result(&text, &document)
}

/// A study in the queue.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Enqueued<'q> {
    /// Its number.
    study: i64,
    name: &'q str,
    kind: &'q str,
    folder: &'q Path,
    units: usize,
    /// Units that are finished already.
    finished: usize,
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(CliError::io("find", path))
}
