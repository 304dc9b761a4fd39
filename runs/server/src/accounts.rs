//! Money that a server holds for the calls of one unit.

use crate::database::in_time;
use crate::inner::{Inner, lane};
use crate::lease::{AGAIN, Lease, Leased};
use futures::future::{BoxFuture, pending};
use ktd_client::money::shared::{Denied, SharedAccounts, SharedCall, SharedHold, SharedMinute};
use ktd_client::money::{CapReached, KeyName, Scope};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::rate_limits::RateLimits;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// After so long one looks again whether calls under way have freed the budget.
const LATER: Duration = Duration::from_millis(200);
/// So often a server is told what a call cost that did not answer; then the call counts as spent whole.
const SETTLE_TRIES: u32 = 200;

/// Amount in a column.
pub(crate) fn column(Picodollars(amount): Picodollars) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// Amount of a column.
pub(crate) fn picodollars(amount: i64) -> Picodollars {
    Picodollars(u64::try_from(amount).unwrap_or_default())
}

/// The name of a scope in its row.
pub(crate) fn scope_name(scope: &Scope) -> String {
    match scope {
        Scope::Experiment => "experiment".to_owned(),
        Scope::Spender(id) => format!("cell {id}"),
        Scope::Vendor(id) => format!("vendor {id}"),
    }
}

/// What the server answers to a reservation: the outcome, and the cap that has no room.
type Reserved = (String, Option<String>, Option<i64>, Option<i64>);

/// Money held for one call, or asked for. Where nobody says what that cost, it cost nothing if it was never let go, and is counted
/// whole else.
#[derive(Debug)]
struct ServerHold {
    lease: Arc<Lease>,
    /// Its number in the epoch.
    ask: i64,
    has_left: AtomicBool,
    is_settled: bool,
}

impl Lease {
    async fn reserved(&self, ask: i64, call: &SharedCall) -> Result<Reserved, sqlx::Error> {
        let names: Vec<String> = call.scopes.iter().map(|(scope, _)| scope_name(scope)).collect();
        let caps: Vec<Option<i64>> = call.scopes.iter().map(|(_, cap)| cap.map(column)).collect();
        let limit = call.at_once.as_ref();
        sqlx::query_as(
            "SELECT outcome, full_scope, full_cap, full_spent FROM ktd.reserve($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(self.study)
        .bind(self.unit.as_str())
        .bind(self.epoch)
        .bind(ask)
        .bind(column(call.most))
        .bind(names)
        .bind(caps)
        .bind(limit.map(|(key, _)| lane(Some(key))))
        .bind(limit.map(|(_, at_once)| i64::from(at_once.get())))
        .fetch_one(&self.inner.pool)
        .await
    }

    async fn hold(self: Arc<Self>, call: SharedCall) -> Result<Box<dyn SharedHold>, Denied> {
        let ask = self.asks.fetch_add(1, Ordering::Relaxed);
        // Before the server is asked: what it holds and whose answer is lost is let fall, too.
        let mut hold = ServerHold {
            lease: Arc::clone(&self),
            ask,
            has_left: AtomicBool::new(false),
            is_settled: false,
        };
        loop {
            if let Some(why) = self.refusal() {
                return Err(Denied::Lease(why));
            }
            let answered = tokio::time::timeout(self.left(), self.reserved(ask, &call)).await;
            let Ok(Ok((outcome, full_scope, cap, spent))) = answered else {
                // The same number again: what was held before its answer was lost is held once.
                tracing::warn!(?answered, "the server did not hold money for a call");
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            match outcome.as_str() {
                "held" => return Ok(Box::new(hold)),
                "later" => tokio::time::sleep(LATER).await,
                "cap" => {
                    hold.is_settled = true;
                    let is_full = |(scope, _): &&(Scope, _)| Some(scope_name(scope)) == full_scope;
                    let scope = call.scopes.iter().find(is_full).map(|(scope, _)| scope.clone());
                    return Err(Denied::Cap(CapReached {
                        scope: scope.unwrap_or(Scope::Experiment),
                        cap: picodollars(cap.unwrap_or_default()),
                        spent: picodollars(spent.unwrap_or_default()),
                        needed: call.most,
                    }));
                }
                _ => self.lose("the lease ran out, or the unit was cancelled"),
            }
        }
    }

    async fn settle(self: Arc<Self>, ask: i64, cost: Option<Picodollars>, is_answered: bool) {
        for _ in 0..SETTLE_TRIES {
            let settled = sqlx::query_scalar::<_, bool>("SELECT ktd.settle($1, $2, $3, $4, $5, $6)")
                .bind(self.study)
                .bind(self.unit.as_str())
                .bind(self.epoch)
                .bind(ask)
                .bind(cost.map(column))
                .bind(is_answered)
                .fetch_one(&self.inner.pool);
            match in_time(settled).await {
                Ok(_) => break,
                Err(error) => tracing::warn!(%error, "the server was not told what a call cost"),
            }
            tokio::time::sleep(AGAIN).await;
        }
        self.unsettled
            .send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl ServerHold {
    fn tell(&self, cost: Option<Picodollars>, is_answered: bool) {
        self.lease.unsettled.send_modify(|count| *count += 1);
        let settle = Arc::clone(&self.lease).settle(self.ask, cost, is_answered);
        self.lease.inner.tasks.spawn(settle);
    }
}

impl Drop for ServerHold {
    fn drop(&mut self) {
        let has_left = self.has_left.load(Ordering::Relaxed);
        if !self.is_settled {
            self.tell((!has_left).then_some(Picodollars::ZERO), false);
        }
    }
}

impl SharedHold for ServerHold {
    fn leave(&self) -> Result<(), String> {
        if let Some(why) = self.lease.refusal() {
            return Err(why);
        }
        self.has_left.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn settle(mut self: Box<Self>, cost: Option<Picodollars>, is_answered: bool) {
        self.is_settled = true;
        self.tell(cost, is_answered);
    }
}

impl SharedAccounts for Leased {
    fn reserve(&self, call: SharedCall) -> BoxFuture<'_, Result<Box<dyn SharedHold>, Denied>> {
        Box::pin(Arc::clone(&self.0).hold(call))
    }

    fn refused(&self) -> BoxFuture<'_, String> {
        Box::pin(self.0.refused())
    }

    fn minute(&self, key: &KeyName, limits: &RateLimits) -> Arc<dyn SharedMinute> {
        self.0.inner.minute(key, limits)
    }
}

/// Accounts before a unit runs: rates are counted, and nothing is paid.
#[derive(Debug)]
pub(crate) struct Unpaid(pub(crate) Arc<Inner>);

impl SharedAccounts for Unpaid {
    fn reserve(&self, _: SharedCall) -> BoxFuture<'_, Result<Box<dyn SharedHold>, Denied>> {
        Box::pin(async { Err(Denied::Lease("nobody pays for a call outside a unit".to_owned())) })
    }

    fn refused(&self) -> BoxFuture<'_, String> {
        Box::pin(pending())
    }

    fn minute(&self, key: &KeyName, limits: &RateLimits) -> Arc<dyn SharedMinute> {
        self.0.minute(key, limits)
    }
}
