//! Units that are handed out by somebody, with records in a bucket.

use crate::copy::StudyCopy;
use crate::pushed::Pushed;
use futures::future::BoxFuture;
use ktd_client::money::KeyName;
use ktd_client::money::shared::{Denied, SharedAccounts, SharedCall, SharedHold, SharedMinute};
use ktd_experiment::rate_limits::RateLimits;
use ktd_study::{Claimable, StudyError, UnitClaims, UnitEnd, UnitId, UnitLease};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// After so long a store that did not answer is asked again.
const AGAIN: Duration = Duration::from_millis(500);

type Shared = Arc<Mutex<Pushed>>;

/// Units whose records a worker takes out of a bucket and puts there.
#[derive(Debug)]
pub struct BucketClaims<'c, C> {
    inner: &'c C,
    copy: &'c StudyCopy,
    beside: Shared,
    /// How many units the study has.
    units: usize,
    /// Whether units come after others, whose results they read.
    has_order: bool,
}

impl<'c, C: UnitClaims> BucketClaims<'c, C> {
    /// Units of a study with so many, some of which may come after others.
    ///
    /// # Errors
    /// [`StudyError`] for a copy that cannot be read.
    pub fn new(
        inner: &'c C,
        copy: &'c StudyCopy,
        (units, has_order): (usize, bool),
    ) -> Result<Self, StudyError> {
        Ok(Self {
            beside: Arc::new(Mutex::new(copy.pushed_lines(inner.worker())?)),
            inner,
            copy,
            units,
            has_order,
        })
    }
}

impl<C: UnitClaims> UnitClaims for BucketClaims<'_, C> {
    fn worker(&self) -> &str {
        self.inner.worker()
    }

    fn accounts(&self) -> Arc<dyn SharedAccounts> {
        self.inner.accounts()
    }

    fn look(&self) -> BoxFuture<'_, Result<Claimable, StudyError>> {
        Box::pin(async move {
            let looked = self.inner.look().await?;
            let reads_others = match looked {
                Claimable::Now => self.has_order,
                Claimable::Later(_) => false,
                // Whoever finds all finished reports, where nobody has.
                Claimable::Nothing => self.copy.is_to_be_reported(self.units).await?,
            };
            if reads_others {
                self.copy.take_finished().await?;
            }
            Ok(looked)
        })
    }

    fn next<'a>(
        &'a self,
        key: Option<&'a KeyName>,
    ) -> BoxFuture<'a, Result<Option<Box<dyn UnitLease>>, StudyError>> {
        Box::pin(async move {
            let Some(inner) = self.inner.next(key).await? else {
                return Ok(None);
            };
            let pushed = self.copy.pushed_unit(inner.unit(), inner.epoch());
            Ok(Some(Box::new(BucketLease {
                pushed: Arc::new(Mutex::new(pushed)),
                beside: Arc::clone(&self.beside),
                copy: self.copy.clone(),
                inner,
            }) as Box<dyn UnitLease>))
        })
    }
}

/// Lease of a unit whose record lies in a bucket.
struct BucketLease {
    inner: Box<dyn UnitLease>,
    copy: StudyCopy,
    pushed: Shared,
    beside: Shared,
}

impl BucketLease {
    /// Does something with the bucket until it succeeds, or the unit is not this process's any more.
    async fn while_held(&self, work: Work) -> Result<(), StudyError> {
        let trying = async {
            loop {
                match self.tried(work).await {
                    Err(error) if error.is_waiting() => tracing::warn!(%error, "the bucket does not answer"),
                    ended => return ended,
                }
                tokio::time::sleep(AGAIN).await;
            }
        };
        tokio::select! {
            ended = trying => ended,
            why = self.inner.lost() => Err(why),
        }
    }

    async fn tried(&self, work: Work) -> Result<(), StudyError> {
        let id = self.inner.unit();
        if work == Work::Take {
            return self.copy.take_unit(id).await;
        }
        if self.copy.has_finished(id) {
            // It was finished before it was handed out, and lies there as it is.
            return Ok(());
        }
        let mut pushed = self.pushed.lock().await;
        pushed.push(true).await?;
        // Files that a unit makes beside its own, and its line.
        self.beside.lock().await.push(true).await?;
        match work {
            Work::Finish => self.copy.finish(id, self.inner.epoch(), &pushed).await,
            Work::Take | Work::Put => Ok(()),
        }
    }
}

/// What is to be done with the bucket for a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Its files are made what the bucket has.
    Take,
    /// What is new of them is put there.
    Put,
    /// The same, and it is finished.
    Finish,
}

impl UnitLease for BucketLease {
    fn unit(&self) -> &UnitId {
        self.inner.unit()
    }

    fn epoch(&self) -> u64 {
        self.inner.epoch()
    }

    fn prepare(&self) -> BoxFuture<'_, Result<(), StudyError>> {
        Box::pin(async move { self.while_held(Work::Take).await })
    }

    fn accounts(&self) -> Arc<dyn SharedAccounts> {
        Arc::new(Recorded {
            inner: self.inner.accounts(),
            pushed: Arc::clone(&self.pushed),
        })
    }

    fn lost(&self) -> BoxFuture<'_, StudyError> {
        self.inner.lost()
    }

    fn end<'a>(&'a self, ended: UnitEnd<'a>) -> BoxFuture<'a, Result<(), StudyError>> {
        Box::pin(async move {
            let kept = match ended {
                UnitEnd::Held => Ok(()),
                UnitEnd::Failed(_) => self.while_held(Work::Put).await,
                UnitEnd::Done => self.while_held(Work::Finish).await,
            };
            match &kept {
                Ok(()) => self.inner.end(ended).await,
                Err(error) => {
                    self.inner.end(UnitEnd::Failed(error)).await?;
                    kept
                }
            }
        })
    }
}

/// Accounts that hold money for a call when all that came before it is in the bucket: whoever goes on with the unit asks at most
/// again what was under way.
#[derive(Debug)]
struct Recorded {
    inner: Arc<dyn SharedAccounts>,
    pushed: Shared,
}

impl Recorded {
    /// Puts what is new into the bucket, however long that takes; why it cannot be put at all.
    async fn put(&self) -> Result<(), Denied> {
        loop {
            match self.pushed.lock().await.push(false).await {
                Ok(()) => return Ok(()),
                Err(error) if !error.is_waiting() => return Err(Denied::Lease(error.to_string())),
                Err(error) => tracing::warn!(%error, "the bucket does not answer"),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

impl SharedAccounts for Recorded {
    fn reserve(&self, call: SharedCall) -> BoxFuture<'_, Result<Box<dyn SharedHold>, Denied>> {
        Box::pin(async move {
            tokio::select! {
                put = self.put() => put?,
                why = self.inner.refused() => return Err(Denied::Lease(why)),
            }
            self.inner.reserve(call).await
        })
    }

    fn refused(&self) -> BoxFuture<'_, String> {
        self.inner.refused()
    }

    fn minute(&self, key: &KeyName, limits: &RateLimits) -> Arc<dyn SharedMinute> {
        self.inner.minute(key, limits)
    }
}
