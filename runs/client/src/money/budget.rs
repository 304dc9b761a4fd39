//! A budget: money is reserved before a call and settled after it, so that no number of cells at once can spend more.

use crate::cap_reached::{CapReached, Scope};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What is spent and what is held for calls under way, in one scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeSpending {
    /// For calls that have ended, in this run and before it.
    pub spent: Picodollars,
    /// For calls under way, at their most.
    pub reserved: Picodollars,
}

/// The budget of an experiment, shared by its cells.
#[derive(Debug, Default)]
pub struct Budget {
    caps: Caps,
    accounts: Mutex<BTreeMap<Scope, ScopeSpending>>,
    /// Notified whenever money that was held is free again.
    settled: Notify,
    /// Whether a server keeps its accounts: here nothing is ever held.
    is_on_server: bool,
}

/// Whose caps hold for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spender {
    /// Who asks: a cell, an attacker, a measurement.
    pub id: String,
    /// The vendor's id.
    pub vendor: String,
    /// Whether what it asks is paid elsewhere, and no cap holds: a program of one's own.
    pub pays_itself: bool,
}

impl Spender {
    pub(super) fn scopes(&self) -> [Scope; 3] {
        [
            Scope::Experiment,
            Scope::Vendor(self.vendor.clone()),
            Scope::Spender(self.id.clone()),
        ]
    }
}

/// Whether a call may be made.
#[derive(Debug)]
enum Room {
    Held(Reservation),
    /// Once calls under way have ended there may be room.
    Later,
    Never(CapReached),
}

impl Budget {
    /// A budget of which nothing is spent.
    #[must_use]
    pub fn new(caps: Caps) -> Self {
        Self {
            caps,
            ..Self::default()
        }
    }

    /// A budget whose accounts a server keeps.
    #[must_use]
    pub fn on_server(caps: Caps) -> Self {
        Self {
            is_on_server: true,
            ..Self::new(caps)
        }
    }

    /// Whether a server keeps its accounts.
    #[must_use]
    pub const fn is_on_server(&self) -> bool {
        self.is_on_server
    }

    /// Counts what was spent before this run.
    pub fn count(&self, spender: &Spender, spent: Picodollars) {
        if spender.pays_itself {
            return;
        }
        let mut accounts = self.accounts();
        for scope in spender.scopes() {
            let account = accounts.entry(scope).or_default();
            account.spent = account.spent.plus(spent);
        }
    }

    /// Takes back what was counted of a call above what it can be taken to have cost.
    pub fn take_back(&self, spender: &Spender, above: Picodollars) {
        if above == Picodollars::ZERO || spender.pays_itself {
            return;
        }
        let mut accounts = self.accounts();
        for scope in spender.scopes() {
            if let Some(account) = accounts.get_mut(&scope) {
                account.spent = account.spent.minus(above);
            }
        }
        drop(accounts);
        self.settled.notify_waiters();
    }

    /// How a scope stands.
    #[must_use]
    pub fn account(&self, scope: &Scope) -> ScopeSpending {
        self.accounts().get(scope).copied().unwrap_or_default()
    }

    /// The caps.
    #[must_use]
    pub const fn caps(&self) -> &Caps {
        &self.caps
    }

    /// The caps of the experiment and of vendors, by what they bound.
    #[must_use]
    pub fn scopes(&self) -> Vec<(Scope, Picodollars)> {
        let experiment = self.caps.experiment.map(|cap| (Scope::Experiment, cap));
        let vendors = self.caps.vendor.iter();
        let vendors = vendors.map(|(id, cap)| (Scope::Vendor(id.clone()), *cap));
        experiment.into_iter().chain(vendors).collect()
    }

    /// Holds `most` for a call. While only calls under way stand in its way, it waits for them to end.
    ///
    /// # Errors
    /// [`CapReached`] when there would be no room even if they cost nothing.
    pub async fn reserve(
        self: &Arc<Self>,
        spender: &Spender,
        most: Picodollars,
    ) -> Result<Reservation, CapReached> {
        loop {
            // Told before it looks, so that nothing that ends in between is missed.
            let settled = self.settled.notified();
            match self.try_reserve(spender, most) {
                Room::Held(reservation) => return Ok(reservation),
                Room::Never(reached) => return Err(reached),
                Room::Later => {
                    tracing::debug!(
                        spender = spender.id,
                        "waiting for calls under way to free the budget"
                    );
                    settled.await;
                }
            }
        }
    }

    fn try_reserve(self: &Arc<Self>, spender: &Spender, most: Picodollars) -> Room {
        let scopes = spender.scopes();
        let mut accounts = self.accounts();
        let mut is_full = false;
        for scope in &scopes {
            let Some(cap) = self.cap(scope) else {
                continue;
            };
            let account = accounts.get(scope).copied().unwrap_or_default();
            if cap < account.spent.plus(most) {
                return Room::Never(CapReached {
                    scope: scope.clone(),
                    cap,
                    spent: account.spent,
                    needed: most,
                });
            }
            is_full |= cap < account.spent.plus(account.reserved).plus(most);
        }
        if is_full {
            return Room::Later;
        }
        for scope in scopes.clone() {
            let account = accounts.entry(scope).or_default();
            account.reserved = account.reserved.plus(most);
        }
        drop(accounts);
        Room::Held(Reservation {
            budget: Arc::clone(self),
            scopes,
            most,
            cost: most,
        })
    }

    pub(super) fn cap(&self, scope: &Scope) -> Option<Picodollars> {
        match scope {
            Scope::Experiment => self.caps.experiment,
            Scope::Spender(_) => self.caps.cell,
            Scope::Vendor(id) => self.caps.vendor.get(id).copied(),
        }
    }

    fn accounts(&self) -> MutexGuard<'_, BTreeMap<Scope, ScopeSpending>> {
        // A thread that panicked has left whole accounts: each is changed in one go.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Money held for one call. Dropped without being settled it counts as spent whole: the call may have been made.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    scopes: [Scope; 3],
    most: Picodollars,
    cost: Picodollars,
}

/// Shares of a cap at which those who wait are told, percent.
const TOLD_PERCENT: [u64; 3] = [50, 80, 100];

/// Cap of which so much is spent that those who wait should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetNews {
    /// What it bounds.
    pub scope: Scope,
    /// The cap.
    pub cap: Picodollars,
    /// 50, 80 or 100.
    pub percent: u64,
}

impl fmt::Display for BudgetNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "budget: {} % of the {} of {} is spent",
            self.percent, self.cap, self.scope
        )
    }
}

impl Reservation {
    /// The call has ended and cost so much. Tells of the caps, of the experiment and of a vendor, that have just passed a share.
    #[expect(clippy::must_use_candidate, reason = "the call is over, whoever is told")]
    pub fn settle(mut self, cost: Picodollars) -> Vec<BudgetNews> {
        self.cost = cost;
        let accounts = self.budget.accounts();
        let passed = |scope: &Scope| -> Option<BudgetNews> {
            let cap = self
                .budget
                .cap(scope)
                .filter(|_| !matches!(scope, Scope::Spender(_)))?;
            let before = accounts.get(scope)?.spent;
            let share = |spent: Picodollars, percent: u64| {
                u128::from(cap.0) * u128::from(percent) <= u128::from(spent.0) * 100
            };
            let percent = TOLD_PERCENT.into_iter().rev();
            let mut percent =
                percent.filter(|percent| share(before.plus(cost), *percent) && !share(before, *percent));
            Some(BudgetNews {
                scope: scope.clone(),
                cap,
                percent: percent.next()?,
            })
        };
        self.scopes.iter().filter_map(passed).collect()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut accounts = self.budget.accounts();
        for scope in &self.scopes {
            if let Some(account) = accounts.get_mut(scope) {
                account.reserved = account.reserved.minus(self.most);
                account.spent = account.spent.plus(self.cost);
            }
        }
        drop(accounts);
        self.budget.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
