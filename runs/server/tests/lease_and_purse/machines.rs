//! Workers, a vendor and a server as they follow each other in every order. A worker that stands still is one that takes no step
//! while the others do; a server that is stopped is one whose answers are lost, or that takes no step.

use crate::Defect;
use crate::database::{CallKey, Database, HoldState, How, Outcome, UnitState};
use std::collections::BTreeMap;

/// The most that a call can cost, and of which it costs one or both.
pub(crate) const MOST: u16 = 2;

/// Unit that a worker runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Running {
    unit: usize,
    epoch: u16,
    /// By the worker's clock.
    is_current: bool,
    asks: u16,
    is_capped: bool,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The server is asked to hold money.
    Asked,
    /// The cap was looked at, and money is not held yet: only where that is the defect.
    Looked,
    Held,
    Sent(u16),
    /// It has ended: what the server is to be told of its cost, and whether it was answered.
    Over(Option<u16>, bool),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    worker: usize,
    step: Step,
}

/// All there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Machines {
    pub(crate) database: Database,
    workers: Vec<Option<Running>>,
    calls: BTreeMap<CallKey, Call>,
    /// What the vendor has counted.
    charged: u16,
    /// Answers in the record of each unit.
    answers: Vec<u8>,
    needed: u8,
    /// Faults that may still happen.
    faults: u8,
    wrong: Option<&'static str>,
}

/// What happens next; `is_heard`: whether the server's answer arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Claim {
        worker: usize,
        is_heard: bool,
    },
    Ask {
        worker: usize,
    },
    Reserve {
        call: CallKey,
        is_heard: bool,
    },
    Send {
        call: CallKey,
        cost: u16,
    },
    Answer {
        call: CallKey,
        is_heard: bool,
    },
    Settle {
        call: CallKey,
        is_heard: bool,
    },
    End {
        worker: usize,
        how: How,
        is_heard: bool,
    },
    /// The worker finds that it can prove its lease no more.
    LetGo {
        worker: usize,
    },
    /// By the worker's clock: the server did not answer when it was to renew.
    OwnClockRunsOut {
        worker: usize,
    },
    LeaseRunsOut {
        unit: usize,
    },
    Expire {
        unit: usize,
    },
    PauseEnds {
        unit: usize,
    },
    Crash {
        worker: usize,
    },
    Cancel {
        unit: usize,
    },
    Retry {
        unit: usize,
    },
}

impl Machines {
    /// Two units that need so many answers each.
    pub(crate) fn new((faults, needed): (u8, u8), (cap, at_once): (u16, usize)) -> Self {
        Self {
            database: Database::new(2, (cap, 100), at_once),
            workers: vec![None, None],
            calls: BTreeMap::new(),
            charged: 0,
            answers: vec![0, 0],
            needed,
            faults,
            wrong: None,
        }
    }

    fn is_current(&self, (unit, epoch, _): CallKey) -> bool {
        let mut running = self.workers.iter().flatten();
        running.any(|of| (of.unit, of.epoch, of.is_current) == (unit, epoch, true))
    }

    fn believes(&self, unit: usize) -> bool {
        self.workers
            .iter()
            .flatten()
            .any(|of| of.unit == unit && of.is_current)
    }

    /// Everything that can happen now.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for (worker, running) in self.workers.iter().enumerate() {
            match running {
                None => for_both(&mut events, |is_heard| Event::Claim { worker, is_heard }),
                Some(running) => self.events_of(worker, running, &mut events),
            }
        }
        for (&call, at) in &self.calls {
            match at.step {
                Step::Asked | Step::Looked => {
                    for_both(&mut events, |is_heard| Event::Reserve { call, is_heard });
                }
                Step::Held => events.extend([1, MOST].map(|cost| Event::Send { call, cost })),
                Step::Sent(_) => for_both(&mut events, |is_heard| Event::Answer { call, is_heard }),
                Step::Over(..) => for_both(&mut events, |is_heard| Event::Settle { call, is_heard }),
            }
        }
        for unit in 0..self.database.units.len() {
            events.extend([
                Event::LeaseRunsOut { unit },
                Event::Expire { unit },
                Event::PauseEnds { unit },
                Event::Cancel { unit },
                Event::Retry { unit },
            ]);
        }
        events
    }

    fn events_of(&self, worker: usize, running: &Running, events: &mut Vec<Event>) {
        events.extend([Event::Crash { worker }, Event::OwnClockRunsOut { worker }]);
        if !running.is_current {
            events.push(Event::LetGo { worker });
            return;
        }
        // One call of a unit after the other, each told to the server before the next.
        if self
            .calls
            .keys()
            .any(|key| (key.0, key.1) == (running.unit, running.epoch))
        {
            return;
        }
        let ends = match (running.is_capped, self.needed <= self.answers[running.unit]) {
            (_, true) => How::Done,
            (true, false) => How::Capped,
            (false, false) => {
                events.push(Event::Ask { worker });
                let other = [How::Failed, How::Back];
                events.extend(other.map(|how| Event::End {
                    worker,
                    how,
                    is_heard: true,
                }));
                return;
            }
        };
        for_both(events, |is_heard| Event::End {
            worker,
            how: ends,
            is_heard,
        });
    }

    /// What is after an event; none where it cannot happen or changes nothing.
    pub(crate) fn after(&self, event: Event, planted: Option<Defect>) -> Option<Self> {
        let mut next = self.clone();
        if next.is_fault(event) {
            next.faults = next.faults.checked_sub(1)?;
        }
        next.take(event, planted)?;
        (next != *self).then_some(next)
    }

    pub(crate) fn is_fault(&self, event: Event) -> bool {
        match event {
            Event::Claim { is_heard, .. }
            | Event::Reserve { is_heard, .. }
            | Event::Answer { is_heard, .. }
            | Event::Settle { is_heard, .. } => !is_heard,
            Event::End { how, is_heard, .. } => !is_heard || matches!(how, How::Failed | How::Back),
            // Time passes; that a worker who could renew did not is the fault.
            Event::LeaseRunsOut { unit } => self.believes(unit),
            Event::OwnClockRunsOut { .. }
            | Event::Crash { .. }
            | Event::Cancel { .. }
            | Event::Retry { .. } => true,
            Event::Ask { .. }
            | Event::Send { .. }
            | Event::LetGo { .. }
            | Event::Expire { .. }
            | Event::PauseEnds { .. } => false,
        }
    }

    fn take(&mut self, event: Event, planted: Option<Defect>) -> Option<()> {
        match event {
            Event::Claim { worker, is_heard } => {
                let (unit, epoch) = self.database.claim()?;
                let (is_current, asks, is_capped) = (true, 0, false);
                self.workers[worker] = is_heard.then_some(Running {
                    unit,
                    epoch,
                    is_current,
                    asks,
                    is_capped,
                });
            }
            Event::Ask { worker } => {
                let running = self.workers[worker].as_mut()?;
                running.asks += 1;
                let call = Call {
                    worker,
                    step: Step::Asked,
                };
                self.calls
                    .insert((running.unit, running.epoch, running.asks), call);
            }
            Event::Reserve { call, is_heard } => self.reserve(call, is_heard, planted),
            Event::Send { call, cost } => self.send(call, cost, planted),
            Event::Answer { call, is_heard } => self.answer(call, is_heard, planted),
            Event::Settle { call, is_heard } => {
                let Step::Over(cost, is_answered) = self.calls[&call].step else {
                    return None;
                };
                self.database.settle(call, (cost, is_answered), planted);
                if is_heard {
                    self.calls.remove(&call);
                }
            }
            Event::End {
                worker,
                how,
                is_heard,
            } => {
                let running = self.workers[worker].clone()?;
                self.database.ended(running.unit, running.epoch, how);
                if is_heard {
                    self.workers[worker] = None;
                }
            }
            Event::LetGo { worker } => self.workers[worker] = None,
            Event::OwnClockRunsOut { worker } => self.workers[worker].as_mut()?.is_current = false,
            Event::LeaseRunsOut { unit } => {
                self.database.units[unit].is_alive.then_some(())?;
                self.database.units[unit].is_alive = false;
                if planted != Some(Defect::OwnClockIsLate) {
                    self.stop_believing(unit);
                }
            }
            Event::Expire { unit } => self.database.expire(unit, planted).then_some(())?,
            Event::PauseEnds { unit } => {
                self.database.units[unit].is_paused.then_some(())?;
                self.database.units[unit].is_paused = false;
                self.stop_believing(unit);
            }
            Event::Crash { worker } => {
                self.workers[worker] = None;
                // What the server was asked to hold it may still hold.
                self.calls
                    .retain(|_, call| call.worker != worker || call.step == Step::Asked);
            }
            Event::Cancel { unit } => self.database.cancel(unit).then_some(())?,
            Event::Retry { unit } => self.database.retry(unit, planted).then_some(())?,
        }
        Some(())
    }

    /// The clock of a worker is never behind the server's: it counts from before the server was asked.
    fn stop_believing(&mut self, unit: usize) {
        for running in self.workers.iter_mut().flatten().filter(|of| of.unit == unit) {
            running.is_current = false;
        }
    }

    fn reserve(&mut self, call: CallKey, is_heard: bool, planted: Option<Defect>) {
        let before = self.database.clone();
        let outcome = if self.calls[&call].step == Step::Looked {
            self.database.hold(call, MOST);
            Outcome::Held
        } else {
            self.database.reserve(call, MOST, planted)
        };
        if planted == Some(Defect::LooksAtCapsApart)
            && self.calls[&call].step == Step::Asked
            && outcome == Outcome::Held
        {
            self.database = before;
            self.set(call, Step::Looked);
        } else if is_heard {
            self.hear_of(call, outcome);
        }
    }

    fn hear_of(&mut self, call: CallKey, outcome: Outcome) {
        let (unit, epoch, _) = call;
        let mut workers = self.workers.iter_mut().flatten();
        let running = workers.find(|of| (of.unit, of.epoch) == (unit, epoch));
        match outcome {
            Outcome::Later => return,
            // Who asked is gone.
            Outcome::Held if running.is_none() => {}
            Outcome::Held => return self.set(call, Step::Held),
            Outcome::Lease => running.into_iter().for_each(|of| of.is_current = false),
            Outcome::Cap => running.into_iter().for_each(|of| of.is_capped = true),
        }
        self.calls.remove(&call);
    }

    fn set(&mut self, call: CallKey, step: Step) {
        self.calls.get_mut(&call).unwrap().step = step;
    }

    /// The last look at the clock, and bytes leave.
    fn send(&mut self, call: CallKey, cost: u16, planted: Option<Defect>) {
        if !self.is_current(call) && planted != Some(Defect::LooksNoMore) {
            return self.let_fall(call, Some(0), planted);
        }
        let unit = &self.database.units[call.0];
        // One that is cancelled at this moment is counted whole.
        let is_own = unit.epoch == call.1 && (unit.is_alive || unit.is_paused);
        if !is_own {
            self.wrong = Some("a call left whose lease had run out");
        }
        let under_way = |(key, of): (&CallKey, &Call)| {
            matches!(of.step, Step::Sent(_)) && self.database.is_alive(key.0, key.1)
        };
        let at_once = self.calls.iter().filter(|of| under_way(*of)).count();
        if self.database.is_alive(call.0, call.1) && self.database.at_once <= at_once {
            self.wrong = Some("more calls of a key were under way at once than it allows");
        }
        self.charged += cost;
        self.set(call, Step::Sent(cost));
    }

    /// What was held costs nothing if it never left, and counts whole where nobody knows what it cost.
    fn let_fall(&mut self, call: CallKey, cost: Option<u16>, planted: Option<Defect>) {
        if planted == Some(Defect::KeepsWhatFell) {
            self.calls.remove(&call);
        } else {
            self.set(call, Step::Over(cost, false));
        }
    }

    fn answer(&mut self, call: CallKey, is_heard: bool, planted: Option<Defect>) {
        let Step::Sent(cost) = self.calls[&call].step else {
            return;
        };
        if is_heard {
            // A worker writes into the record while the unit is its own.
            self.answers[call.0] += u8::from(self.is_current(call));
            self.set(call, Step::Over(Some(cost), true));
        } else if planted == Some(Defect::SettlesUnanswered) {
            self.set(call, Step::Over(Some(MOST), true));
        } else {
            let cost = (planted == Some(Defect::FreesUnanswered)).then_some(0);
            self.let_fall(call, cost, planted);
        }
    }

    /// What must hold and does not.
    pub(crate) fn wrong(&self, is_end: bool) -> Option<&'static str> {
        let (settled, whole) = (
            self.database.sum(0, HoldState::Settled),
            self.database.sum(0, HoldState::Whole),
        );
        let open = self.database.sum(0, HoldState::Open);
        let wrong = self.wrong.or_else(|| self.database.wrong());
        if wrong.is_some() {
            return wrong;
        }
        if self.charged < settled {
            return Some("more is settled than the vendor has counted");
        }
        if settled + whole + open < self.charged {
            return Some("the vendor has counted more than is settled, counted whole or held");
        }
        let is_over = |state| !matches!(state, UnitState::Waiting | UnitState::Running);
        let are_over = self.database.units.iter().all(|unit| is_over(unit.state));
        (is_end && !(are_over && open == 0 && self.calls.is_empty())).then_some("a unit never ends")
    }
}

fn for_both(events: &mut Vec<Event>, event: impl Fn(bool) -> Event) {
    events.extend([true, false].map(event));
}
