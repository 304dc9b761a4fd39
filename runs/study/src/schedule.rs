//! Which unit runs next, and many of them at once.

use crate::study_run::StudyRun;
use futures::future::{Either, select};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use ktd_client::money::KeyName;
use ktd_io::memory::resident_megabytes;
use ktd_io::parallel::in_parallel;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After so long those who run units look whether one more may begin.
const TICK: Duration = Duration::from_millis(100);
/// What a unit that waits for a key may need beside the world, megabytes.
const UNIT_MEGABYTES: u64 = 20;

/// How many units may run at once.
pub(crate) struct AtOnce<'w> {
    /// At most so many, whatever they wait for.
    pub(crate) units: usize,
    /// Of those that wait for no key, which compute.
    pub(crate) computing: usize,
    /// Of those that wait for a key as many as this much memory of the process holds, megabytes.
    pub(crate) memory_megabytes: u64,
    /// Whether somebody waits for a key: another unit would wait behind.
    pub(crate) is_waited_for: &'w (dyn Fn(&KeyName) -> bool + Sync),
    /// Told when nobody has ended for a while.
    pub(crate) tell: &'w (dyn Fn() + Sync),
}

/// Units that are to run: each key in turn, and of a key whose callers wait no further one.
struct Schedule<'w> {
    at_once: AtOnce<'w>,
    /// What the process has before any unit runs, megabytes.
    world_megabytes: u64,
    lanes: Mutex<Lanes>,
}

struct Lanes {
    all: Vec<Lane>,
    /// The lane whose turn it is.
    turn: usize,
    running: usize,
}

/// Units that wait for one key, or for none.
struct Lane {
    key: Option<KeyName>,
    /// Places of units that have not begun.
    places: VecDeque<usize>,
    running: usize,
    /// How many ran at the last tick.
    at_tick: usize,
    /// How many have begun since: at most as many, for how many a key bears is only known when they have asked.
    begun: usize,
}

impl<'w> Schedule<'w> {
    fn new<'k>(keys: impl Iterator<Item = Option<&'k KeyName>>, at_once: AtOnce<'w>) -> Self {
        let mut lanes: Vec<Lane> = Vec::new();
        for (place, key) in keys.enumerate() {
            let same = lanes.iter().position(|lane| lane.key.as_ref() == key);
            let lane = same.unwrap_or(lanes.len());
            if same.is_none() {
                lanes.push(Lane {
                    key: key.cloned(),
                    places: VecDeque::new(),
                    running: 0,
                    at_tick: 0,
                    begun: 0,
                });
            }
            if let Some(lane) = lanes.get_mut(lane) {
                lane.places.push_back(place);
            }
        }
        let lanes = Lanes {
            all: lanes,
            turn: 0,
            running: 0,
        };
        Self {
            at_once,
            world_megabytes: resident_megabytes().unwrap_or(0),
            lanes: Mutex::new(lanes),
        }
    }

    /// The place of the next unit, and its lane; `None` where none may begin now.
    fn next(&self) -> Option<(usize, usize)> {
        let mut of = self.lanes();
        if self.at_once.units <= of.running {
            return None;
        }
        let (count, turn) = (of.all.len(), of.turn);
        let mut in_turn = (0..count).map(|step| (turn + step) % count);
        let running = of.running;
        let may_begin = |lane: &usize| {
            of.all
                .get(*lane)
                .is_some_and(|lane| self.may_begin(lane, running))
        };
        let at = in_turn.find(may_begin)?;
        let lane = of.all.get_mut(at)?;
        let place = lane.places.pop_front()?;
        lane.running += 1;
        lane.begun += 1;
        of.running += 1;
        of.turn = (at + 1) % count;
        Some((place, at))
    }

    fn may_begin(&self, lane: &Lane, running: usize) -> bool {
        if lane.places.is_empty() {
            return false;
        }
        let Some(key) = &lane.key else {
            return lane.running < self.at_once.computing;
        };
        if lane.running == 0 {
            return true;
        }
        lane.begun < lane.at_tick.max(1) && !(self.at_once.is_waited_for)(key) && self.has_memory(running)
    }

    /// Whether one more than so many units has memory, though all of them should need what the longest does.
    fn has_memory(&self, running: usize) -> bool {
        let units = u64::try_from(running).unwrap_or(u64::MAX).saturating_add(1);
        let most = self
            .world_megabytes
            .saturating_add(units.saturating_mul(UNIT_MEGABYTES));
        most <= self.at_once.memory_megabytes
    }

    fn tick(&self) {
        for lane in &mut self.lanes().all {
            (lane.at_tick, lane.begun) = (lane.running, 0);
        }
    }

    fn ended(&self, lane: usize) {
        let mut of = self.lanes();
        of.running = of.running.saturating_sub(1);
        if let Some(lane) = of.all.get_mut(lane) {
            lane.running = lane.running.saturating_sub(1);
        }
    }

    fn running(&self) -> usize {
        self.lanes().running
    }

    fn is_empty(&self) -> bool {
        self.lanes().all.iter().all(|lane| lane.places.is_empty())
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        // A thread that panicked has left whole lanes: they are changed in one go.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What each unit ends with, in their order: those that wait share the threads of the run.
pub(crate) fn all_at_once<U: Sync, R: Send, F: Future<Output = R>>(
    units: &[U],
    key_of: impl Fn(&U) -> Option<&KeyName>,
    at_once: AtOnce<'_>,
    run: &StudyRun<'_>,
    work: impl Fn(&U) -> F + Sync,
) -> Vec<R> {
    let threads = run.threads.clamp(1, at_once.units.max(1));
    let schedule = Schedule::new(units.iter().map(key_of), at_once);
    let each: Vec<usize> = (0..threads).collect();
    let ended = in_parallel(&each, threads, |_| {
        run.tasks.block_on(run_share(units, threads, &schedule, &work))
    });
    let mut ended: Vec<(usize, R)> = ended.into_iter().flatten().collect();
    ended.sort_by_key(|(place, _)| *place);
    ended.into_iter().map(|(_, ended)| ended).collect()
}

/// Runs a thread's share of the units, until none is to begin and all of its own have ended.
async fn run_share<U, R, F: Future<Output = R>>(
    units: &[U],
    threads: usize,
    schedule: &Schedule<'_>,
    work: &impl Fn(&U) -> F,
) -> Vec<(usize, R)> {
    let mut running = FuturesUnordered::new();
    let mut ended = Vec::new();
    loop {
        while running.len() <= schedule.running() / threads
            && let Some((place, lane)) = schedule.next()
            && let Some(unit) = units.get(place)
        {
            running.push(work(unit).map(move |end| (place, lane, end)));
        }
        if running.is_empty() && schedule.is_empty() {
            return ended;
        }
        let tick = pin!(tokio::time::sleep(TICK));
        let next = if running.is_empty() {
            tick.await;
            None
        } else {
            match select(running.next(), tick).await {
                Either::Left((end, _)) => end,
                Either::Right(_) => None,
            }
        };
        if let Some((place, lane, end)) = next {
            schedule.ended(lane);
            ended.push((place, end));
        } else {
            schedule.tick();
            (schedule.at_once.tell)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> KeyName {
        KeyName {
            key: name.to_owned(),
            base_url: String::new(),
        }
    }

    fn begun(schedule: &Schedule<'_>) -> Vec<usize> {
        std::iter::from_fn(|| schedule.next().map(|(place, _)| place)).collect()
    }

    #[test]
    fn keys_take_turns_and_a_waiting_one_gets_no_more() {
        let (a, b) = (key("a"), key("b"));
        let keys = [Some(&a), Some(&a), Some(&a), None, None, None, Some(&b), Some(&b)];
        let is_waited_for = |key: &KeyName| key.key == "b";
        let at_once = AtOnce {
            units: 6,
            computing: 2,
            memory_megabytes: u64::MAX,
            is_waited_for: &is_waited_for,
            tell: &|| {},
        };
        let schedule = Schedule::new(keys.into_iter(), at_once);
        assert_eq!(
            begun(&schedule),
            [0, 3, 6, 4],
            "one of each key, and two that compute"
        );
        schedule.tick();
        assert_eq!(begun(&schedule), [1], "the second waits for b");
        schedule.ended(2);
        schedule.tick();
        assert_eq!(begun(&schedule), [7, 2], "nobody runs for b any more");
        assert_eq!(begun(&schedule), [0; 0], "six run");
        schedule.ended(1);
        assert_eq!(begun(&schedule), [5]);
        assert!(schedule.is_empty());
    }
}
