//! Studies run in the test's own process.

use ktd_record::program_record::ProgramRecord;
use ktd_study::{AnyEnd, AnyKind, Depth, MovedFiles, Replayed, StudyError, StudyRun, Unheard};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a study is run with: so many threads, by a program with these sources.
pub fn with_study_run<T>(
    threads: usize,
    program: &ProgramRecord,
    work: impl FnOnce(&StudyRun<'_>) -> T,
) -> T {
    let tasks = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let (_tell, told_to_end) = tokio::sync::watch::channel(false);
    work(&StudyRun {
        program,
        threads,
        tasks: tasks.handle(),
        progress: &Unheard,
        told_to_end: &told_to_end,
        counts: None,
        retries_lost: false,
        claims: None,
    })
}

/// Runs the study of a file by the program under test.
///
/// # Errors
/// [`StudyError`] as the run.
pub fn run_study(
    kind: &dyn AnyKind,
    (file, out): (&Path, &Path),
    threads: usize,
) -> Result<AnyEnd, StudyError> {
    with_study_run(threads, &crate::this_program(), |run| {
        kind.run(file, Some(out), run)
    })
}

/// What a study comes to, or what ended its first unit without a result.
///
/// # Errors
/// [`StudyError`] as the run, or of the unit.
pub fn summary_of(kind: &dyn AnyKind, (file, out): (&Path, &Path)) -> Result<Value, StudyError> {
    let mut end = run_study(kind, (file, out), 2)?;
    match end.finished {
        Some(finished) => Ok(finished.summary),
        None => Err(end.failed.remove(0).1),
    }
}

/// Makes a study again from its record.
///
/// # Errors
/// [`StudyError`] as the replay.
pub fn replay_study(kind: &dyn AnyKind, out: &Path, depth: Depth) -> Result<Replayed, StudyError> {
    with_study_run(2, &crate::this_program(), |run| {
        kind.replay(out, MovedFiles::default(), depth, run)
    })
}

/// The files of a study's folder but its lock, its index, which says how results looked on this machine, and the times of sends.
#[must_use]
pub fn recorded_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = crate::files(folder);
    let of_this_run = ["lock", "index.jsonl", "sends.jsonl"];
    found.retain(|path, _| !of_this_run.iter().any(|name| path.ends_with(name)));
    found
}
