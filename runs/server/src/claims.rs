//! A worker: it takes units of a study, one after the other, and says which limits it obeys.

use crate::accounts::Unpaid;
use crate::database::{ServerDatabase, failed, in_time};
use crate::inner::{Inner, WorkerSettings, lane};
use crate::lease::{AGAIN, Lease, Leased};
use futures::future::BoxFuture;
use ktd_client::money::KeyName;
use ktd_client::money::shared::SharedAccounts;
use ktd_study::{Claimable, StudyError, UnitClaims, UnitId, UnitLease};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// How long one waits before looking again for a unit.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Process that takes units from a server.
#[derive(Debug, Clone)]
pub struct Worker(Arc<Inner>);

impl Worker {
    /// Makes itself known to the server under a name of its own.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn begin(database: &ServerDatabase, settings: WorkerSettings) -> Result<Self, StudyError> {
        let name = sqlx::query_scalar::<_, String>(
            "INSERT INTO ktd.worker (name, seen) VALUES ('w' || nextval('ktd.worker_number'), clock_timestamp()) RETURNING name",
        );
        let name = name.fetch_one(&database.pool).await;
        Ok(Self(Arc::new(Inner {
            pool: database.pool.clone(),
            tasks: Handle::current(),
            name: name.map_err(|error| failed(&error))?,
            told: Mutex::default(),
            settings,
        })))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The units of a study, by its number.
    #[must_use]
    pub fn claims(&self, study: i64) -> StudyClaims {
        StudyClaims {
            inner: Arc::clone(&self.0),
            study,
            seen: AtomicI64::new(0),
        }
    }

    /// Says the caps of a study, and how long leases are.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn tell_caps(&self, study: i64) -> Result<(), StudyError> {
        let caps: Vec<(String, i64)> = sqlx::query_as(
            "SELECT name, cap FROM ktd.scope WHERE study = $1 AND cap IS NOT NULL AND name NOT LIKE 'cell %'",
        )
        .bind(study)
        .fetch_all(&self.0.pool)
        .await
        .map_err(|error| failed(&error))?;
        for (scope, cap) in caps {
            let cap = crate::accounts::picodollars(cap);
            self.0
                .tell(&format!("study {study}: {scope} may spend {cap} on all workers"));
        }
        let seconds = self.0.settings.lease.as_secs();
        self.0.tell(&format!(
            "a unit is this worker's for {seconds} s without being renewed"
        ));
        Ok(())
    }
}

/// Units of one study as a worker takes them.
#[derive(Debug)]
pub struct StudyClaims {
    inner: Arc<Inner>,
    study: i64,
    /// When one last looked what is finished, in microseconds of the server.
    seen: AtomicI64,
}

/// What there is: the time, units to take now, those that wait for a moment, those that run.
type Looked = (i64, bool, bool, bool);

impl StudyClaims {
    async fn looked(&self) -> Result<Looked, sqlx::Error> {
        let pool = &self.inner.pool;
        sqlx::query("UPDATE ktd.worker SET seen = clock_timestamp() WHERE name = $1")
            .bind(&self.inner.name)
            .execute(pool)
            .await?;
        sqlx::query("SELECT ktd.expire($1)")
            .bind(self.study)
            .execute(pool)
            .await?;
        sqlx::query_as("SELECT now, is_open, is_later, is_running FROM ktd.looked($1)")
            .bind(self.study)
            .fetch_one(pool)
            .await
    }

    async fn claimed(&self, key: Option<&KeyName>) -> Result<Option<(String, i64)>, sqlx::Error> {
        let (unit, epoch): (Option<String>, Option<i64>) =
            sqlx::query_as("SELECT unit, epoch FROM ktd.claim($1, $2, $3, $4, $5)")
                .bind(self.study)
                .bind(lane(key))
                .bind(&self.inner.name)
                .bind(self.inner.settings.lease.as_secs_f64())
                .bind(self.seen.load(Ordering::Relaxed))
                .fetch_one(&self.inner.pool)
                .await?;
        Ok(unit.zip(epoch))
    }

    fn is_told_to_end(&self) -> bool {
        *self.inner.settings.told_to_end.borrow()
    }
}

impl UnitClaims for StudyClaims {
    fn worker(&self) -> &str {
        &self.inner.name
    }

    fn accounts(&self) -> Arc<dyn SharedAccounts> {
        Arc::new(Unpaid(Arc::clone(&self.inner)))
    }

    fn look(&self) -> BoxFuture<'_, Result<Claimable, StudyError>> {
        Box::pin(async move {
            loop {
                if self.is_told_to_end() {
                    return Ok(Claimable::Nothing);
                }
                match in_time(self.looked()).await {
                    Ok((now, is_open, is_later, is_running)) => {
                        self.seen.store(now, Ordering::Relaxed);
                        return Ok(match (is_open, is_later || is_running) {
                            (true, _) => Claimable::Now,
                            (false, true) => Claimable::Later(LOOK_AGAIN),
                            (false, false) => Claimable::Nothing,
                        });
                    }
                    Err(error) => tracing::warn!(%error, "the server does not answer"),
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        })
    }

    fn next<'a>(
        &'a self,
        key: Option<&'a KeyName>,
    ) -> BoxFuture<'a, Result<Option<Box<dyn UnitLease>>, StudyError>> {
        Box::pin(async move {
            loop {
                if self.is_told_to_end() {
                    return Ok(None);
                }
                let asked_at = Instant::now();
                match in_time(self.claimed(key)).await {
                    Ok(None) => return Ok(None),
                    Ok(Some((unit, epoch))) => {
                        let leased = (self.study, UnitId::from(unit), epoch);
                        let lease = Lease::new(&self.inner, leased, asked_at);
                        return Ok(Some(Box::new(Leased(lease)) as Box<dyn UnitLease>));
                    }
                    Err(error) => tracing::warn!(%error, "the server does not answer"),
                }
                tokio::time::sleep(AGAIN).await;
            }
        })
    }
}
