//! What the units of a worker share.

use crate::minute::ServerMinute;
use ktd_client::money::KeyName;
use ktd_client::money::shared::SharedMinute;
use ktd_experiment::rate_limits::RateLimits;
use sqlx::PgPool;
use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Callback that is told each limit that a worker obeys.
pub type TellFn = Box<dyn Fn(&str) + Send + Sync>;

/// Settings of a worker.
pub struct WorkerSettings {
    /// How long a unit is a worker's without being renewed.
    pub lease: Duration,
    /// Becomes true when the process is told to end: no further call is paid, and no further unit taken.
    pub told_to_end: watch::Receiver<bool>,
    /// Told each limit once.
    pub tell: TellFn,
}

impl fmt::Debug for WorkerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerSettings")
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// What a worker's units share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) pool: PgPool,
    pub(crate) tasks: Handle,
    pub(crate) settings: WorkerSettings,
    pub(crate) name: String,
    pub(crate) told: Mutex<BTreeSet<String>>,
}

impl Inner {
    pub(crate) fn minute(&self, key: &KeyName, limits: &RateLimits) -> Arc<dyn SharedMinute> {
        let number =
            |of: Option<NonZeroU32>| of.map_or_else(|| "any number of".to_owned(), |of| of.to_string());
        self.tell(&format!(
            "key {}: {} requests and {} tokens a minute and {} calls at once on all workers",
            key.label(),
            number(limits.requests_per_minute),
            number(limits.tokens_per_minute),
            number(limits.in_flight),
        ));
        Arc::new(ServerMinute {
            pool: self.pool.clone(),
            tasks: self.tasks.clone(),
            key: lane(Some(key)),
        })
    }

    /// Says a limit to who looks on, and on the server.
    pub(crate) fn tell(&self, limit: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.insert(limit.to_owned()) {
            return;
        }
        (self.settings.tell)(limit);
        let limits: Vec<String> = told.iter().cloned().collect();
        let (pool, name) = (self.pool.clone(), self.name.clone());
        self.tasks.spawn(async move {
            let noted = sqlx::query("UPDATE ktd.worker SET limits = $2 WHERE name = $1")
                .bind(name)
                .bind(limits)
                .execute(&pool);
            noted.await.ok();
        });
    }
}

/// Units that wait for one key stand in one lane.
pub(crate) fn lane(key: Option<&KeyName>) -> String {
    key.map_or_else(String::new, |key| format!("{}\n{}", key.key, key.base_url))
}
