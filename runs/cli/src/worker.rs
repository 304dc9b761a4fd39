//! `ktd worker --server URL`.

use super::bucket::copy_folder;
use super::enqueue::ServerArgs;
use super::runtime::runtime;
use super::signals;
use super::study;
use crate::CliError;
use crate::output::Console;
use crate::this_program::this_program;
use clap::Args;
use ktd_bucket::{BucketAddress, BucketClaims, StudyCopy};
use ktd_client::cache_folder::cache_folder;
use ktd_io::parallel::available_threads;
use ktd_io::whole_file::remove_directory;
use ktd_record::program_record::ProgramRecord;
use ktd_server::{QueuedAt, ServerDatabase, ServerStatus, StudyClaims, Worker, WorkerSettings};
use ktd_study::{AnyEnd, Claimable, StudyRun, Unheard, UnitClaims, UnitId};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;

const EXAMPLE: &str = "\
Examples:
  ktd worker --server postgresql://ktd@db/ktd            # until it is told to end
  ktd worker --server postgresql://ktd@db/ktd --drain    # until nothing is left to do

SIGTERM: the calls under way are waited for, no further one is made, and its units wait for other workers; a second one \
ends it at once. Exit code 3: units met a cap.";

/// After so long a worker looks again for a study.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Run units of a server's queue beside workers on other machines, and say which limits it obeys.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct WorkerArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// End when no unit waits or runs.
    #[arg(long)]
    drain: bool,
    /// Only this study, by its number.
    #[arg(long, value_name = "NUMBER")]
    study: Option<i64>,
    /// How long a unit is this worker's without the server hearing from it.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..))]
    lease_seconds: u64,
}

/// What a worker did.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct EndedWork<'w> {
    /// Its name.
    worker: &'w str,
    studies: &'w [EndedStudy],
}

/// A study as a worker left it.
#[derive(Debug, JsonSchema, Serialize)]
struct EndedStudy {
    study: i64,
    name: String,
    folder: PathBuf,
    is_reported: bool,
    failed: Vec<FailedWork>,
}

/// A unit that failed.
#[derive(Debug, JsonSchema, Serialize)]
struct FailedWork {
    unit: UnitId,
    error: String,
    hint: String,
}

/// A worker while it runs.
struct Working<'w> {
    database: &'w ServerDatabase,
    worker: &'w Worker,
    tasks: &'w Runtime,
    told: &'w watch::Receiver<bool>,
    program: ProgramRecord,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`] for a server that does not answer, a study of another program, units that are dead, and units that met a cap.
pub(super) fn run(args: &WorkerArgs, console: Console) -> Result<(), CliError> {
    let tasks = runtime()?;
    let (tell, told) = watch::channel(false);
    listen(&tasks, tell, console)?;
    let settings = WorkerSettings {
        lease: Duration::from_secs(args.lease_seconds),
        told_to_end: told.clone(),
        tell: Box::new(move |limit| console.note(limit)),
    };
    let database = tasks.block_on(ServerDatabase::connect(&args.server.server))?;
    let worker = tasks.block_on(Worker::begin(&database, settings))?;
    console.note(&format!("worker {}", worker.name()));
    let working = Working {
        database: &database,
        worker: &worker,
        tasks: &tasks,
        told: &told,
        program: this_program(),
    };
    let mut ended = Vec::new();
    loop {
        let is_working = working.round(args.study, &mut ended)?;
        if *told.borrow() || (args.drain && !is_working) {
            break;
        }
        if !is_working {
            let mut told = told.clone();
            tasks.block_on(async {
                tokio::time::timeout(LOOK_AGAIN, told.wait_for(|told| *told))
                    .await
                    .ok();
            });
        }
    }
    let text = ended.iter().map(told_of).collect::<Vec<_>>().join("\n");
    let document = EndedWork {
        worker: worker.name(),
        studies: &ended,
    };
    console.result(&text, &document)?;
    if *told.borrow() {
        return Ok(());
    }
    over(&tasks.block_on(database.status())?, args.study)
}

/// Tells the worker at the first signal, and ends it at the second.
fn listen(tasks: &Runtime, tell: watch::Sender<bool>, console: Console) -> Result<(), CliError> {
    let _within = tasks.enter();
    let told = signals::told_to_end()
        .map_err(|error| CliError::invalid(format_args!("cannot wait for signals: {error}")))?;
    tasks.spawn(async move {
        told.await;
        tell.send(true).ok();
        let Ok(again) = signals::told_to_end() else { return };
        again.await;
        signals::end_by_signal(
            console,
            "the server takes its units back when their leases run out",
        );
    });
    Ok(())
}

impl Working<'_> {
    /// The studies of the queue: a server that is away is waited for.
    fn studies(&self) -> Vec<QueuedAt> {
        self.tasks.block_on(async {
            loop {
                match self.database.studies().await {
                    Ok(studies) => return studies,
                    Err(_) if *self.told.borrow() => return Vec::new(),
                    Err(error) => tracing::warn!(%error, "the server does not answer"),
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        })
    }

    /// Runs what there is of each study, one after the other; whether there was anything.
    fn round(&self, only: Option<i64>, ended: &mut Vec<EndedStudy>) -> Result<bool, CliError> {
        let mut is_working = false;
        for at in self.studies() {
            if only.is_some_and(|only| only != at.study) || *self.told.borrow() {
                continue;
            }
            let claims = self.worker.claims(at.study);
            let is_over = self.tasks.block_on(claims.look())? == Claimable::Nothing;
            if is_over {
                continue;
            }
            is_working = true;
            self.tasks.block_on(self.worker.tell_caps(at.study))?;
            let end = self.work(&at, &claims)?;
            ended.retain(|known| known.study != at.study);
            let failed = end.failed.iter().map(|(unit, error)| FailedWork {
                unit: unit.clone(),
                error: error.to_string(),
                hint: error.hint().to_owned(),
            });
            ended.push(EndedStudy {
                study: at.study,
                name: at.name.clone(),
                is_reported: end.finished.is_some(),
                failed: failed.collect(),
                folder: end.folder,
            });
        }
        Ok(is_working)
    }

    fn work(&self, at: &QueuedAt, claims: &StudyClaims) -> Result<AnyEnd, CliError> {
        if at.program != self.program.source_sha256 {
            return Err(CliError::input(
                format_args!("study {} was enqueued by another version of ktd", at.study),
                "let all workers run the program that enqueued it, or enqueue it again with this one",
            ));
        }
        let Some(address) = BucketAddress::find(&at.folder.to_string_lossy())? else {
            return self.work_in(&at.folder, at, claims);
        };
        // A worker's name is its own for ever, and so is its copy.
        let root = copy_folder(&address, self.worker.name())?;
        let copy = self.tasks.block_on(StudyCopy::open(&address, &root))?.0;
        let claims = BucketClaims::new(claims, &copy, (at.units, at.has_order))?;
        let end = self.work_in(&root, at, &claims)?;
        if end.finished.is_some() {
            self.tasks.block_on(copy.put_study())?;
        }
        remove_directory(&root).map_err(CliError::from)?;
        Ok(AnyEnd {
            folder: at.folder.clone(),
            ..end
        })
    }

    fn work_in(&self, folder: &Path, at: &QueuedAt, claims: &dyn UnitClaims) -> Result<AnyEnd, CliError> {
        let counts = cache_folder().map(|cache| cache.join("counts"));
        let run = StudyRun {
            counts: counts.as_deref(),
            program: &self.program,
            threads: available_threads(),
            tasks: self.tasks.handle(),
            progress: &Unheard,
            told_to_end: self.told,
            retries_lost: false,
            claims: Some(claims),
        };
        Ok(study::kind_for(&at.file)?.run(&at.file, Some(folder), &run)?)
    }
}

/// What became of a study, as this worker knows it.
fn told_of(ended: &EndedStudy) -> String {
    let reported = if ended.is_reported {
        ", and is reported"
    } else {
        ""
    };
    format!(
        "study {}, {}: {} units failed here last; its results are in {}{reported}",
        ended.study,
        ended.name,
        ended.failed.len(),
        ended.folder.display(),
    )
}

/// Whether anything is left that somebody has to see to.
fn over(status: &ServerStatus, only: Option<i64>) -> Result<(), CliError> {
    let studies = status.studies.iter();
    let mut studies = studies.filter(|of| only.is_none_or(|only| only == of.study));
    let (mut dead, mut capped) = (0, 0);
    for of in &mut studies {
        dead += of.dead.len();
        capped += of.capped;
    }
    if 0 < dead {
        return Err(CliError::difference(format_args!("{dead} units are dead"))
            .with_hint("`ktd status --server URL` says why, and what to type then"));
    }
    if 0 < capped {
        return Err(
            CliError::budget(format_args!("{capped} units met a cap")).with_hint(
                "raise the cap under [budget] and give `ktd enqueue` again: they go on where they stopped",
            ),
        );
    }
    Ok(())
}
