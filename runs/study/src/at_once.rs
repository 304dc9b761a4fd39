//! Many units at once.

use crate::study_run::StudyRun;
use futures::{FutureExt, StreamExt, stream};
use ktd_io::parallel::in_parallel;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What each unit ends with, in their order, so many of them at once: those that wait share the threads of the run.
pub(crate) fn all_at_once<U: Sync, R: Send, F: Future<Output = R>>(
    units: &[U],
    at_once: usize,
    run: &StudyRun<'_>,
    work: impl Fn(&U) -> F + Sync,
) -> Vec<R> {
    let threads = run.threads.clamp(1, at_once.max(1));
    let shares: Vec<usize> = (0..threads).map(|thread| (at_once + thread) / threads).collect();
    let next = AtomicUsize::new(0);
    let ended = in_parallel(&shares, threads, |share| {
        let taken = std::iter::from_fn(|| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            Some((place, units.get(place)?))
        });
        let running = stream::iter(taken).map(|(place, unit)| work(unit).map(move |ended| (place, ended)));
        run.tasks
            .block_on(running.buffer_unordered((*share).max(1)).collect::<Vec<_>>())
    });
    let mut ended: Vec<(usize, R)> = ended.into_iter().flatten().collect();
    ended.sort_by_key(|(place, _)| *place);
    ended.into_iter().map(|(_, ended)| ended).collect()
}
