//! Work spread over threads, results in order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads this machine runs at once; 1 where it is not known.
#[must_use]
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// `work` on each item, on up to `threads` threads; results in the order of the items, whatever finished first.
pub fn in_parallel<I: Sync, R: Send>(items: &[I], threads: usize, work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    in_parallel_with(items, threads, || (), |(), item| work(item))
}

/// The same, with something that each thread makes for itself and keeps from item to item, such as buffers.
pub fn in_parallel_with<I: Sync, R: Send, S>(
    items: &[I],
    threads: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        let mut kept = start();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return };
            let result = work(&mut kept, item);
            // A worker that panicked ends the whole at the scope's end; what is in the list is whole either way.
            done.lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}
