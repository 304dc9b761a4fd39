//! Work spread over threads, results in order.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Whom [`Ticks`] tell: how many pieces of work are done, and how many there are.
pub type Tell<'t> = &'t (dyn Fn(u64, u64) + Sync);

/// Count of pieces of work that are done, which a listener is told.
pub struct Ticks<'t> {
    tell: Tell<'t>,
    done: AtomicU64,
    of: u64,
}

impl fmt::Debug for Ticks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.done.load(Ordering::Relaxed), self.of)
    }
}

impl<'t> Ticks<'t> {
    /// So many pieces, of which none is done: told at once.
    #[must_use]
    pub fn of(of: u64, tell: Tell<'t>) -> Self {
        tell(0, of);
        Self {
            tell,
            done: AtomicU64::new(0),
            of,
        }
    }

    /// One more is done.
    pub fn tick(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.tell)(done, self.of);
    }
}

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
