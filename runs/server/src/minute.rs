//! The last minute of a key, a row that all workers change.

use crate::database::in_time;
use futures::future::BoxFuture;
use ktd_client::money::shared::{MinuteChange, SharedMinute};
use sqlx::PgPool;
use tokio::runtime::Handle;

/// Row of a key.
#[derive(Debug, Clone)]
pub(crate) struct ServerMinute {
    pub(crate) pool: PgPool,
    pub(crate) tasks: Handle,
    pub(crate) key: String,
}

impl ServerMinute {
    /// No lock is held between statements: a worker that stands still keeps nobody from asking.
    async fn changed(&self, mut change: MinuteChange<'_>) -> Result<(), sqlx::Error> {
        loop {
            // What is read is older than the moment that is read with it, so that moments grow from change to change.
            let found: Option<(Vec<u8>, i64)> =
                sqlx::query_as("SELECT minute, ktd.now_us() FROM ktd.gate WHERE key = $1")
                    .bind(&self.key)
                    .fetch_optional(&self.pool)
                    .await?;
            let Some((found, now)) = found else {
                sqlx::query("INSERT INTO ktd.gate VALUES ($1, '') ON CONFLICT DO NOTHING")
                    .bind(&self.key)
                    .execute(&self.pool)
                    .await?;
                continue;
            };
            let now_ms = u64::try_from(now / 1_000).unwrap_or_default();
            let done = sqlx::query("UPDATE ktd.gate SET minute = $3 WHERE key = $1 AND minute = $2")
                .bind(&self.key)
                .bind(&found)
                .bind(change(now_ms, &found))
                .execute(&self.pool)
                .await?;
            if 0 < done.rows_affected() {
                return Ok(());
            }
        }
    }
}

impl SharedMinute for ServerMinute {
    fn change<'a>(&'a self, change: MinuteChange<'a>) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            in_time(self.changed(change))
                .await
                .map_err(|error| error.to_string())
        })
    }

    fn change_later(&self, change: MinuteChange<'static>) {
        let this = self.clone();
        self.tasks.spawn(async move {
            if let Err(error) = this.change(change).await {
                tracing::warn!(
                    error,
                    "how a call ended is not counted among the rates of its key"
                );
            }
        });
    }
}
