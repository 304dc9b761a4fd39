//! A unit that this process alone runs, for as long as it can prove that.

use crate::inner::Inner;
use futures::future::{BoxFuture, pending};
use ktd_client::money::shared::SharedAccounts;
use ktd_io::ErrorClass;
use ktd_study::{StudyError, UnitEnd, UnitId, UnitLease};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// After so long a server that did not answer is asked again.
pub(crate) const AGAIN: Duration = Duration::from_millis(300);
/// After so long a unit is tried again that failed, or whose record another process still holds.
const PAUSE_SECONDS: f64 = 2.0;

/// Lease of a unit in one epoch.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) inner: Arc<Inner>,
    pub(crate) study: i64,
    pub(crate) unit: UnitId,
    pub(crate) epoch: i64,
    /// Until when it holds by this machine's clock: counted from before the server was asked, and so never longer than its own.
    until: Mutex<Instant>,
    /// Why it is this process's no more; empty while it is.
    lost: watch::Sender<String>,
    /// Calls that were reserved in this epoch.
    pub(crate) asks: AtomicI64,
    /// Calls that the server has not been told the end of.
    pub(crate) unsettled: watch::Sender<u64>,
}

impl Lease {
    pub(crate) fn new(
        inner: &Arc<Inner>,
        (study, unit, epoch): (i64, UnitId, i64),
        asked_at: Instant,
    ) -> Arc<Self> {
        let lease = Arc::new(Self {
            study,
            unit,
            epoch,
            until: Mutex::new(asked_at + inner.settings.lease),
            lost: watch::Sender::new(String::new()),
            asks: AtomicI64::new(0),
            unsettled: watch::Sender::new(0),
            inner: Arc::clone(inner),
        });
        let renewed = Arc::downgrade(&lease);
        let every = inner.settings.lease / 3;
        inner.tasks.spawn(async move {
            let mut wait = every;
            loop {
                tokio::time::sleep(wait).await;
                // It ends with the unit.
                let Some(lease) = renewed.upgrade() else { return };
                wait = match lease.renew().await {
                    Ok(()) => every,
                    Err(()) if lease.is_current() => AGAIN,
                    Err(()) => {
                        lease.lose("the server did not answer until the lease ran out");
                        return;
                    }
                };
            }
        });
        lease
    }

    async fn renew(&self) -> Result<(), ()> {
        let asked_at = Instant::now();
        let renewed = sqlx::query_scalar::<_, bool>("SELECT ktd.renew($1, $2, $3, $4)")
            .bind(self.study)
            .bind(self.unit.as_str())
            .bind(self.epoch)
            .bind(self.inner.settings.lease.as_secs_f64())
            .fetch_one(&self.inner.pool);
        match tokio::time::timeout(self.left(), renewed).await {
            Ok(Ok(true)) => {
                *self.until.lock().unwrap_or_else(PoisonError::into_inner) =
                    asked_at + self.inner.settings.lease;
                Ok(())
            }
            Ok(Ok(false)) => {
                self.lose("the lease ran out, or the unit was cancelled");
                Ok(())
            }
            Ok(Err(_)) | Err(_) => Err(()),
        }
    }

    /// What is left of it by this machine's clock.
    pub(crate) fn left(&self) -> Duration {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.saturating_duration_since(Instant::now())
    }

    /// Whether the unit is this process's, as far as it can be known without asking.
    pub(crate) fn is_current(&self) -> bool {
        self.lost.borrow().is_empty() && self.left() != Duration::ZERO
    }

    pub(crate) fn lose(&self, why: &str) {
        self.lost.send_if_modified(|known| {
            let is_first = known.is_empty();
            if is_first {
                why.clone_into(known);
            }
            is_first
        });
    }

    /// Waits until no further call may be made; why that is so.
    pub(crate) async fn refused(&self) -> String {
        let mut told = self.inner.settings.told_to_end.clone();
        let mut lost = self.lost.subscribe();
        let told = async {
            if told.wait_for(|is_told| *is_told).await.is_err() {
                // Nobody can tell it any more.
                pending::<()>().await;
            }
        };
        tokio::select! {
            () = told => {}
            _ = lost.wait_for(|why| !why.is_empty()) => {}
        }
        self.refusal().unwrap_or_default()
    }

    /// Why no further call may be made, where none may.
    pub(crate) fn refusal(&self) -> Option<String> {
        if *self.inner.settings.told_to_end.borrow() {
            return Some("this worker was told to end".to_owned());
        }
        if self.is_current() {
            return None;
        }
        self.lose("the lease ran out");
        Some(self.lost.borrow().clone())
    }

    /// How it ended in the words of the server, and after how long it may be tried again.
    fn told(&self, ended: UnitEnd<'_>) -> (&'static str, f64) {
        match ended {
            UnitEnd::Done => ("done", 0.0),
            UnitEnd::Held => ("back", PAUSE_SECONDS),
            UnitEnd::Failed(_) if *self.inner.settings.told_to_end.borrow() => ("back", 0.0),
            UnitEnd::Failed(error) if error.is_waiting() => ("back", PAUSE_SECONDS),
            UnitEnd::Failed(error) if error.class() == ErrorClass::Budget => ("capped", 0.0),
            UnitEnd::Failed(_) => ("failed", PAUSE_SECONDS),
        }
    }

    async fn ended(&self, ended: UnitEnd<'_>) {
        let (how, wait) = self.told(ended);
        let error = match ended {
            UnitEnd::Failed(error) => Some(error),
            UnitEnd::Done | UnitEnd::Held => None,
        };
        let class = error.map(|error| match error.class() {
            ErrorClass::InvalidInput => "input",
            ErrorClass::Difference => "difference",
            ErrorClass::Budget => "budget",
            ErrorClass::Stopped => "stopped",
        });
        let mut unsettled = self.unsettled.subscribe();
        tokio::time::timeout(self.left(), unsettled.wait_for(|count| *count == 0))
            .await
            .ok();
        while self.is_current() {
            let told = sqlx::query_scalar::<_, bool>("SELECT ktd.ended($1, $2, $3, $4, $5, $6, $7, $8)")
                .bind(self.study)
                .bind(self.unit.as_str())
                .bind(self.epoch)
                .bind(how)
                .bind(wait)
                .bind(class)
                .bind(error.map(ToString::to_string))
                .bind(error.map(|error| error.hint().to_owned()))
                .fetch_one(&self.inner.pool);
            match tokio::time::timeout(self.left(), told).await {
                // What the server no longer knows as this process's is another's, who finds the record as it stands.
                Ok(Ok(_)) => return,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the server was not told the end of a unit");
                    tokio::time::sleep(AGAIN).await;
                }
                Err(_) => {}
            }
        }
    }
}

/// Lease as the loop over units and the calls of the unit know it.
#[derive(Debug, Clone)]
pub(crate) struct Leased(pub(crate) Arc<Lease>);

impl UnitLease for Leased {
    fn unit(&self) -> &UnitId {
        &self.0.unit
    }

    fn epoch(&self) -> u64 {
        u64::try_from(self.0.epoch).unwrap_or_default()
    }

    fn accounts(&self) -> Arc<dyn SharedAccounts> {
        Arc::new(self.clone())
    }

    fn lost(&self) -> BoxFuture<'_, StudyError> {
        Box::pin(async move {
            let mut lost = self.0.lost.subscribe();
            // The sender lives as long as the lease.
            let why = lost.wait_for(|why| !why.is_empty()).await;
            let why = why.map_or_else(|_| String::new(), |why| why.clone());
            StudyError::waiting(why, "another worker goes on with it")
        })
    }

    fn end<'a>(&'a self, ended: UnitEnd<'a>) -> BoxFuture<'a, Result<(), StudyError>> {
        Box::pin(async move {
            self.0.ended(ended).await;
            self.0.lose("it has ended");
            Ok(())
        })
    }
}
