//! Money and rates that processes on many machines share: the seam behind which a server keeps them.
//!
//! On one machine nobody is behind it, and [`super::Budget`] and [`super::RateGate`] count by themselves. A server must be told
//! with each call for which unit it is, because it pays the unit's present owner alone. The loop over units alone knows that, and
//! meters are opened far below it by every kind of study: so it goes with the task that runs the unit, not through their signatures.

use super::budget::Spender;
use super::key_name::KeyName;
use crate::cap_reached::{CapReached, Scope};
use futures::future::BoxFuture;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::rate_limits::RateLimits;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Accounts that a server keeps for one unit.
pub trait SharedAccounts: Send + Sync + fmt::Debug {
    /// Holds the most that a call can cost in all scopes or in none, where the unit is still this process's. While only calls
    /// under way stand in its way, it waits for them to end.
    fn reserve(&self, call: SharedCall) -> BoxFuture<'_, Result<Box<dyn SharedHold>, Denied>>;

    /// Waits until no further call may be made; why that is so.
    fn refused(&self) -> BoxFuture<'_, String>;

    /// The last minute of a key with these limits, which all processes count together.
    fn minute(&self, key: &KeyName, limits: &RateLimits) -> Arc<dyn SharedMinute>;
}

/// Call that a server is asked to hold money for.
#[derive(Debug, Clone)]
pub struct SharedCall {
    /// What it is charged to.
    pub scopes: ScopedCaps,
    /// The most that it can cost.
    pub most: Picodollars,
    /// Its key and how many calls of that may be under way at once on all machines, where that is limited.
    pub at_once: Option<(KeyName, NonZeroU32)>,
}

/// What a call is charged to, each with its cap where it has one.
pub type ScopedCaps = [(Scope, Option<Picodollars>); 3];

/// Money that a server holds for one call. Dropped without being settled it counts as spent whole once the call was let go, and as
/// nothing before.
pub trait SharedHold: Send + fmt::Debug {
    /// Lets the call leave, by this machine's clock, and counts it as gone. Looked at last before bytes leave.
    ///
    /// # Errors
    /// Why it must not leave.
    fn leave(&self) -> Result<(), String>;

    /// The call has ended. It cost so much, or is counted whole where that is not known; an answer brings its unit further.
    fn settle(self: Box<Self>, cost: Option<Picodollars>, is_answered: bool);
}

/// A change of the text of a minute at a time in milliseconds since 1970, as the server counts them: made again where another
/// worker was first, and only what it gave last counts.
pub type MinuteChange<'a> = Box<dyn FnMut(u64, &[u8]) -> Vec<u8> + Send + 'a>;

/// The last minute of a key on a server.
pub trait SharedMinute: Send + Sync + fmt::Debug {
    /// Changes it, as if nobody else did meanwhile.
    fn change<'a>(&'a self, change: MinuteChange<'a>) -> BoxFuture<'a, Result<(), String>>;

    /// The same, which nobody waits for.
    fn change_later(&self, change: MinuteChange<'static>);
}

/// Why a server holds nothing for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// A cap has no room for it.
    Cap(CapReached),
    /// The unit is not this process's any more, or cannot be proved to be.
    Lease(String),
}

tokio::task_local! {
    static ACCOUNTS: Arc<dyn SharedAccounts>;
}

/// Does something whose accounts a server keeps: what it opens counts nothing by itself.
pub fn opened_with<T>(accounts: Arc<dyn SharedAccounts>, work: impl FnOnce() -> T) -> T {
    ACCOUNTS.sync_scope(accounts, work)
}

/// The same for what a unit does.
pub async fn paid_by<F: Future>(accounts: Arc<dyn SharedAccounts>, work: F) -> F::Output {
    ACCOUNTS.scope(accounts, work).await
}

/// Waits so long, and no longer than further calls may be made.
pub(crate) async fn wait_to_ask(wait: Duration) {
    let wait = tokio::time::sleep(wait);
    match shared_accounts() {
        None => wait.await,
        Some(accounts) => tokio::select! {
            () = wait => {}
            _ = accounts.refused() => {}
        },
    }
}

/// The accounts of the unit that runs; none on one machine.
pub(crate) fn shared_accounts() -> Option<Arc<dyn SharedAccounts>> {
    ACCOUNTS.try_with(Arc::clone).ok()
}

impl Spender {
    /// What a call of it is charged to under the caps of a budget.
    pub(super) fn scoped_caps(&self, cap: impl Fn(&Scope) -> Option<Picodollars>) -> ScopedCaps {
        self.scopes().map(|scope| {
            let cap = cap(&scope);
            (scope, cap)
        })
    }
}
