//! How far the units of a run are, and how long each agent still takes at the pace of what really ran in this call.

use crate::StudyProgress;
use crate::agent_status::given_up;
use crate::own_format::EarlyUnitEnd;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The units of a run in the order of their plan.
#[derive(Debug)]
pub(crate) struct Pace {
    units: Mutex<Vec<UnitPace>>,
}

/// How far a unit is.
#[derive(Debug, Clone)]
pub(crate) struct UnitPace {
    /// The id of its agent; empty where it has none.
    pub(crate) agent: String,
    pub(crate) steps: u64,
    done: u64,
    /// Steps that ran in this call.
    ran: u64,
    /// Steps that an earlier run has left: they are told again when the unit goes on.
    recorded: u64,
    early_end: Option<EarlyUnitEnd>,
    state: UnitTurn,
}

#[derive(Debug, Clone, Copy)]
enum UnitTurn {
    Waits,
    Runs {
        since: Instant,
    },
    /// It has a result, or ended without one and is not tried again; how long it ran in this call.
    Ended {
        is_finished: bool,
        ran: Option<(Instant, Duration)>,
    },
}

/// How far the units of an agent are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentPace {
    pub(crate) units: usize,
    pub(crate) finished: usize,
    pub(crate) open: usize,
    pub(crate) steps: u64,
    pub(crate) steps_done: u64,
    pub(crate) steps_given_up: BTreeMap<String, u64>,
    work: PaceOfWork,
}

/// Steps that ran and those that are left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PaceOfWork {
    /// Steps that ran in this call.
    ran: u64,
    /// Since the first unit began.
    elapsed: Duration,
    /// The time of all units that ran together, as if they had run one after the other.
    busy: Duration,
    left: u64,
    /// Steps of the unit that has most left: they come one after the other.
    longest_left: u64,
}

impl PaceOfWork {
    /// Whichever is longer: all steps at the pace of all units, or those of the longest unit at the pace of one. None before a
    /// step has run.
    fn time_left(&self) -> Option<Duration> {
        if self.left == 0 {
            return Some(Duration::ZERO);
        }
        let of = |left: u64, time: Duration| {
            let left_ms = u128::from(left)
                .saturating_mul(time.as_millis())
                .checked_div(u128::from(self.ran))?;
            Some(Duration::from_millis(u64::try_from(left_ms).unwrap_or(u64::MAX)))
        };
        of(self.left, self.elapsed).max(of(self.longest_left, self.busy))
    }
}

impl UnitPace {
    /// A unit that nothing is known of.
    pub(crate) const fn new(agent: String, steps: u64) -> Self {
        Self {
            agent,
            steps,
            done: 0,
            ran: 0,
            recorded: 0,
            early_end: None,
            state: UnitTurn::Waits,
        }
    }

    /// Steps that were played.
    fn over(&self) -> u64 {
        let end = self.early_end.as_ref().map_or(self.steps, |end| end.steps);
        self.done.max(self.recorded).min(end).min(self.steps)
    }

    fn left(&self) -> u64 {
        match self.state {
            UnitTurn::Ended { .. } => 0,
            UnitTurn::Waits | UnitTurn::Runs { .. } => self.steps.saturating_sub(self.over()),
        }
    }
}

impl Pace {
    pub(crate) const fn of(units: Vec<UnitPace>) -> Self {
        Self {
            units: Mutex::new(units),
        }
    }

    fn units(&self) -> MutexGuard<'_, Vec<UnitPace>> {
        // A thread that panicked has left whole units: each is changed in one go.
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, place: usize, change: impl FnOnce(&mut UnitPace)) {
        if let Some(unit) = self.units().get_mut(place) {
            change(unit);
        }
    }

    /// A unit was finished before this call.
    pub(crate) fn found(&self, place: usize) {
        self.change(place, |unit| {
            unit.done = unit.steps;
            unit.state = UnitTurn::Ended {
                is_finished: true,
                ran: None,
            };
        });
    }

    /// An earlier run has left so many steps of a unit.
    pub(crate) fn recorded(&self, place: usize, steps: u64) {
        self.change(place, |unit| unit.recorded = steps);
    }

    /// A finished unit ended before its last step.
    pub(crate) fn ended_early(&self, place: usize, end: EarlyUnitEnd) {
        self.change(place, |unit| unit.early_end = Some(end));
    }

    pub(crate) fn began(&self, place: usize) {
        let since = Instant::now();
        self.change(place, |unit| unit.state = UnitTurn::Runs { since });
    }

    pub(crate) fn ended(&self, place: usize, is_finished: bool) {
        self.change(place, |unit| {
            let ran = match unit.state {
                UnitTurn::Runs { since } => Some((since, since.elapsed())),
                UnitTurn::Waits | UnitTurn::Ended { .. } => None,
            };
            unit.state = UnitTurn::Ended { is_finished, ran };
        });
    }

    /// Whether each unit has a result.
    pub(crate) fn finished(&self) -> Vec<bool> {
        let is_finished = |unit: &UnitPace| {
            matches!(
                unit.state,
                UnitTurn::Ended {
                    is_finished: true,
                    ..
                }
            )
        };
        self.units().iter().map(is_finished).collect()
    }

    /// The agents with how far they are; of units without one there is no line.
    pub(crate) fn agents(&self) -> BTreeMap<String, AgentPace> {
        let (mut agents, now) = (BTreeMap::<String, AgentPace>::new(), Instant::now());
        for unit in self.units().iter() {
            let of = agents.entry(unit.agent.clone()).or_default();
            of.add(unit, now);
        }
        agents
    }
}

impl AgentPace {
    fn add(&mut self, unit: &UnitPace, now: Instant) {
        self.units += 1;
        self.steps += unit.steps;
        self.steps_done += unit.over();
        for (why, steps) in given_up(unit.early_end.iter().map(|end| (end, unit.steps))) {
            *self.steps_given_up.entry(why).or_default() += steps;
        }
        let ran = match unit.state {
            UnitTurn::Waits => None,
            UnitTurn::Runs { since } => {
                self.open += 1;
                Some((since, now.saturating_duration_since(since)))
            }
            UnitTurn::Ended { is_finished, ran } => {
                self.finished += usize::from(is_finished);
                ran
            }
        };
        let work = &mut self.work;
        if let Some((since, busy)) = ran {
            work.ran += unit.ran;
            work.busy += busy;
            work.elapsed = work.elapsed.max(now.saturating_duration_since(since));
        }
        work.left += unit.left();
        work.longest_left = work.longest_left.max(unit.left());
    }

    /// How long it still takes; none while nothing tells its pace.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.work.time_left()
    }
}

/// Listener of one unit that tells its run.
pub(crate) struct PacedUnit<'p> {
    pub(crate) run: &'p dyn StudyProgress,
    pub(crate) pace: &'p Pace,
    pub(crate) place: usize,
    /// Whether its steps tell a pace: those of a talk that is made again from its record do not.
    pub(crate) is_paced: bool,
    /// Told after each step.
    pub(crate) tell: &'p (dyn Fn() + Sync),
}

impl PacedUnit<'_> {
    fn add(&self, steps: u64, ran: u64) {
        self.pace.change(self.place, |unit| {
            unit.done = unit.done.saturating_add(steps);
            unit.ran = unit.ran.saturating_add(ran);
        });
        (self.tell)();
    }
}

impl StudyProgress for PacedUnit<'_> {
    fn begin(&self, steps: u64, unit: &'static str) {
        self.run.begin(steps, unit);
    }

    fn advance(&self, steps: u64) {
        self.run.advance(steps);
        self.add(steps, if self.is_paced { steps } else { 0 });
    }

    fn found(&self, steps: u64) {
        self.run.found(steps);
        self.add(steps, 0);
    }

    fn notice(&self, who: &str, what: &str) {
        self.run.notice(who, what);
    }

    fn news(&self, what: &str) {
        self.run.news(what);
    }

    fn so_far(&self, folder: &Path, look: &dyn Fn() -> crate::RunSoFar) {
        self.run.so_far(folder, look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unheard;

    #[test]
    fn time_left_is_that_of_what_ran_and_of_the_longest_unit() {
        let seconds = Duration::from_secs;
        let mut work = PaceOfWork {
            ran: 0,
            elapsed: seconds(60),
            busy: seconds(240),
            left: 300,
            longest_left: 100,
        };
        assert_eq!(work.time_left(), None, "no step has run");
        work.ran = 120;
        // Four units at once: 2 steps a second together, one step in two seconds each.
        assert_eq!(work.time_left(), Some(seconds(200)), "one unit has 100 left");
        work.longest_left = 10;
        assert_eq!(work.time_left(), Some(seconds(150)));
        work.left = 0;
        assert_eq!(work.time_left(), Some(Duration::ZERO));
    }

    #[test]
    fn what_an_earlier_run_did_tells_no_pace() {
        let unit = || UnitPace::new("a".to_owned(), 10);
        let pace = Pace::of(vec![unit(), unit(), unit()]);
        pace.found(0);
        pace.began(1);
        let told = |place, is_paced| PacedUnit {
            run: &Unheard,
            pace: &pace,
            place,
            is_paced,
            tell: &|| {},
        };
        told(1, true).found(6);
        told(1, false).advance(1);
        let of = || pace.agents()["a"].clone();
        assert_eq!(
            (of().units, of().finished, of().open, of().steps, of().steps_done),
            (3, 1, 1, 30, 17)
        );
        assert_eq!(of().time_left(), None);
        told(1, true).advance(1);
        assert!(of().time_left().is_some());
        pace.ended(1, false);
        assert_eq!(
            (of().open, of().work.left),
            (0, 10),
            "what failed is not tried again"
        );
    }
}
