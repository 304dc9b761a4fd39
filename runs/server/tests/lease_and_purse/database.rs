//! What the functions of `schema.sql` do to its tables: each method is one of them, by its name, and one transaction.

use crate::Defect;
use std::collections::BTreeMap;

/// Call of a unit, in one of its epochs, by its number in that: the key of a hold.
pub(crate) type CallKey = (usize, u16, u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum UnitState {
    Waiting,
    Running,
    Done,
    Capped,
    Dead,
    Cancelled,
}

/// Row of a unit, with that of its lease.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unit {
    pub(crate) state: UnitState,
    pub(crate) fruitless: u8,
    pub(crate) epoch: u16,
    /// The unit that must be done before.
    pub(crate) after: Option<usize>,
    /// `clock_timestamp() < until`.
    pub(crate) is_alive: bool,
    /// `clock_timestamp() < not_before`: until its worker's lease would have run out.
    pub(crate) is_paused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HoldState {
    Open,
    Settled,
    Whole,
}

/// Row of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Hold {
    pub(crate) amount: u16,
    pub(crate) state: HoldState,
    pub(crate) cost: u16,
}

/// Row of a cap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub(crate) cap: u16,
    pub(crate) spent: u16,
    pub(crate) held: u16,
}

/// How a unit ended, in the words of `ktd.ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum How {
    Done,
    Back,
    Capped,
    Failed,
}

/// What `ktd.reserve` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    Held,
    Lease,
    Cap,
    Later,
}

/// Tables of a study whose calls all use one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Database {
    pub(crate) units: Vec<Unit>,
    pub(crate) holds: BTreeMap<CallKey, Hold>,
    /// The experiment's cap, then one a unit.
    pub(crate) scopes: Vec<Scope>,
    pub(crate) at_once: usize,
}

impl Database {
    pub(crate) fn new(units: usize, (cap, cell): (u16, u16), at_once: usize) -> Self {
        let waiting = Unit {
            state: UnitState::Waiting,
            fruitless: 0,
            epoch: 0,
            after: None,
            is_alive: false,
            is_paused: false,
        };
        let scope = |cap| Scope {
            cap,
            ..Scope::default()
        };
        let cells = std::iter::repeat_n(scope(cell), units);
        Self {
            units: vec![waiting; units],
            holds: BTreeMap::new(),
            scopes: std::iter::once(scope(cap)).chain(cells).collect(),
            at_once,
        }
    }

    pub(crate) fn is_alive(&self, unit: usize, epoch: u16) -> bool {
        self.units[unit].epoch == epoch && self.units[unit].is_alive
    }

    fn open(&self, unit: usize) -> Vec<CallKey> {
        let open = self
            .holds
            .iter()
            .filter(|(key, hold)| key.0 == unit && hold.state == HoldState::Open);
        open.map(|(key, _)| *key).collect()
    }

    fn count_whole(&mut self, unit: usize, planted: Option<Defect>) {
        for key in self.open(unit) {
            if planted == Some(Defect::FreesHoldsOfTheLost) {
                let freed = self.holds.remove(&key).unwrap().amount;
                for scope in [0, 1 + unit] {
                    self.scopes[scope].held -= freed;
                }
            } else {
                self.settle(key, (None, false), planted);
            }
        }
    }

    pub(crate) fn claim(&mut self) -> Option<(usize, u16)> {
        let is_done = |before: usize| self.units[before].state == UnitState::Done;
        let is_free = |unit: &Unit| {
            unit.state == UnitState::Waiting && !unit.is_paused && unit.after.is_none_or(is_done)
        };
        let place = self.units.iter().position(is_free)?;
        let unit = &mut self.units[place];
        (unit.state, unit.is_alive) = (UnitState::Running, true);
        unit.epoch += 1;
        unit.fruitless += 1;
        Some((place, unit.epoch))
    }

    pub(crate) fn reserve(&mut self, key: CallKey, most: u16, planted: Option<Defect>) -> Outcome {
        let (unit, epoch, _) = key;
        if !self.is_alive(unit, epoch) && planted != Some(Defect::HoldsWithoutLease) {
            return Outcome::Lease;
        }
        if self.holds.contains_key(&key) {
            return Outcome::Held;
        }
        let is_at_once =
            |(key, hold): &(&CallKey, &Hold)| hold.state == HoldState::Open && self.is_alive(key.0, key.1);
        if self.at_once <= self.holds.iter().filter(is_at_once).count()
            && planted != Some(Defect::CountsNobody)
        {
            return Outcome::Later;
        }
        let scopes = [0, 1 + unit];
        if scopes
            .iter()
            .any(|of| self.scopes[*of].cap < self.scopes[*of].spent + most)
        {
            return Outcome::Cap;
        }
        let is_full =
            |of: &usize| self.scopes[*of].cap < self.scopes[*of].spent + self.scopes[*of].held + most;
        if scopes.iter().any(is_full) {
            return Outcome::Later;
        }
        self.hold(key, most);
        Outcome::Held
    }

    /// The second half of `reserve`, which a defect makes a transaction of its own.
    pub(crate) fn hold(&mut self, key: CallKey, amount: u16) {
        for scope in [0, 1 + key.0] {
            self.scopes[scope].held += amount;
        }
        let (state, cost) = (HoldState::Open, 0);
        self.holds.insert(key, Hold { amount, state, cost });
    }

    pub(crate) fn settle(
        &mut self,
        key: CallKey,
        (cost, is_answered): (Option<u16>, bool),
        planted: Option<Defect>,
    ) -> bool {
        let Some(hold) = self
            .holds
            .get_mut(&key)
            .filter(|hold| hold.state != HoldState::Settled)
        else {
            return false;
        };
        let is_open = hold.state == HoldState::Open;
        let (before, amount) = (hold.cost, hold.amount);
        hold.state = cost.map_or(HoldState::Whole, |_| HoldState::Settled);
        hold.cost = cost.unwrap_or(amount);
        let before = if planted == Some(Defect::AddsLateCosts) {
            0
        } else {
            before
        };
        for scope in [0, 1 + key.0] {
            let scope = &mut self.scopes[scope];
            scope.held -= if is_open { amount } else { 0 };
            scope.spent = scope.spent + cost.unwrap_or(amount) - before;
        }
        if is_answered {
            self.units[key.0].fruitless = 0;
        }
        true
    }

    /// Of one unit: the function does so with all in one transaction, so that here more can happen in between.
    pub(crate) fn expire(&mut self, unit: usize, planted: Option<Defect>) -> bool {
        if self.units[unit].state != UnitState::Running || self.units[unit].is_alive {
            return false;
        }
        self.count_whole(unit, planted);
        self.units[unit].state = self.again(unit);
        true
    }

    fn again(&self, unit: usize) -> UnitState {
        if 3 <= self.units[unit].fruitless {
            UnitState::Dead
        } else {
            UnitState::Waiting
        }
    }

    pub(crate) fn ended(&mut self, unit: usize, epoch: u16, how: How) -> bool {
        if !self.is_alive(unit, epoch) {
            return false;
        }
        self.units[unit].is_alive = false;
        self.count_whole(unit, None);
        let state = match how {
            How::Done => UnitState::Done,
            How::Capped => UnitState::Capped,
            How::Back => UnitState::Waiting,
            How::Failed => self.again(unit),
        };
        let row = &mut self.units[unit];
        (row.state, row.is_paused) = (state, false);
        if how != How::Failed {
            row.fruitless = row.fruitless.saturating_sub(1);
        }
        true
    }

    pub(crate) fn cancel(&mut self, unit: usize) -> bool {
        let row = &mut self.units[unit];
        if !matches!(
            row.state,
            UnitState::Waiting | UnitState::Running | UnitState::Capped
        ) {
            return false;
        }
        row.is_paused |= row.is_alive;
        row.is_alive = false;
        self.count_whole(unit, None);
        self.units[unit].state = UnitState::Cancelled;
        true
    }

    pub(crate) fn retry(&mut self, unit: usize, planted: Option<Defect>) -> bool {
        let row = &mut self.units[unit];
        if !matches!(
            row.state,
            UnitState::Dead | UnitState::Capped | UnitState::Cancelled
        ) {
            return false;
        }
        (row.state, row.fruitless) = (UnitState::Waiting, 0);
        row.is_paused &= planted != Some(Defect::RetriesAtOnce);
        true
    }

    pub(crate) fn sum(&self, scope: usize, state: HoldState) -> u16 {
        let of = self
            .holds
            .iter()
            .filter(|(key, hold)| hold.state == state && (scope == 0 || key.0 + 1 == scope));
        let amount = |hold: &Hold| {
            if state == HoldState::Open {
                hold.amount
            } else {
                hold.cost
            }
        };
        of.map(|(_, hold)| amount(hold)).sum()
    }

    /// What of the tables must hold at every moment, and does not.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        for (place, scope) in self.scopes.iter().enumerate() {
            if scope.cap < scope.spent + scope.held {
                return Some("a cap is passed");
            }
            let spent = self.sum(place, HoldState::Settled) + self.sum(place, HoldState::Whole);
            if (scope.held, scope.spent) != (self.sum(place, HoldState::Open), spent) {
                return Some("a purse does not say what its calls add up to");
            }
        }
        let is_older =
            |(key, hold): (&CallKey, &Hold)| hold.state == HoldState::Open && key.1 < self.units[key.0].epoch;
        if self.holds.iter().any(is_older) {
            return Some("a unit has two payers");
        }
        let is_odd = |unit: &Unit| unit.is_alive && unit.state != UnitState::Running;
        self.units
            .iter()
            .any(is_odd)
            .then_some("a unit that nobody runs has a living lease")
    }
}
