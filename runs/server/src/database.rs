//! The connection to a server, and whether it can be trusted with money.

use ktd_study::StudyError;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use std::str::FromStr;
use std::time::{Duration, Instant};

const SCHEMA: &str = include_str!("schema.sql");
/// The version of the tables; another one is refused by name.
const VERSION: i32 = 3;
/// The oldest server that is tried, as it counts its versions.
const OLDEST: i32 = 150_000;
/// How long a connection may take, and a statement: one that was cut says nothing by itself.
const PATIENCE: Duration = Duration::from_secs(6);
/// Two who make the tables at once wait for each other.
const MAKING: i64 = 7_236_241;

/// Server with the tables of `ktd`.
#[derive(Debug, Clone)]
pub struct ServerDatabase {
    pub(crate) pool: PgPool,
}

/// An answer of the server that comes in time.
pub(crate) async fn in_time<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = || Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()));
    tokio::time::timeout(PATIENCE, answer)
        .await
        .unwrap_or_else(|_| late())
}

/// What a server answered, or that it did not.
pub(crate) fn failed(error: &sqlx::Error) -> StudyError {
    StudyError::input(
        format_args!("the server: {error}"),
        "look at its log and at --server, such as postgresql://ktd@host/ktd or postgresql:///ktd?host=/run/postgresql",
    )
}

impl ServerDatabase {
    /// Connects to `postgresql://USER@HOST/DATABASE`, and makes the tables where they are missing.
    ///
    /// # Errors
    /// [`StudyError`] for an address that is none, a server that does not answer, and tables of another version.
    pub async fn connect(url: &str) -> Result<Self, StudyError> {
        let options = PgConnectOptions::from_str(url).map_err(|error| failed(&error))?;
        let options = options.application_name("ktd").options([
            ("statement_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "5s"),
            ("client_min_messages", "warning"),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(6)
            .acquire_timeout(PATIENCE)
            .connect_with(options)
            .await
            .map_err(|error| failed(&error))?;
        let this = Self { pool };
        let known = sqlx::query_scalar::<_, bool>("SELECT to_regclass('ktd.version') IS NOT NULL");
        let is_made = known.fetch_one(&this.pool).await;
        if !is_made.map_err(|error| failed(&error))? {
            this.make().await.map_err(|error| failed(&error))?;
        }
        let version = sqlx::query_scalar::<_, i32>("SELECT version FROM ktd.version");
        let version = version.fetch_one(&this.pool).await;
        let version = version.map_err(|error| failed(&error))?;
        if version != VERSION {
            return Err(StudyError::input(
                format_args!(
                    "the server has tables of version {version}, and this program those of {VERSION}"
                ),
                "let what is running finish with the version of ktd that made them, or name another database",
            ));
        }
        Ok(this)
    }

    async fn make(&self) -> Result<(), sqlx::Error> {
        let mut making = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(MAKING)
            .execute(&mut *making)
            .await?;
        sqlx::raw_sql(SCHEMA).execute(&mut *making).await?;
        making.commit().await
    }

    /// What of a server can be trusted: each line what was found, or what is wrong and how to fix it.
    ///
    /// # Errors
    /// [`StudyError`] where it does not answer.
    pub async fn examine(&self) -> Result<Vec<Result<String, StudyError>>, StudyError> {
        let setting = |name: &'static str| {
            sqlx::query_scalar::<_, String>("SELECT current_setting($1)")
                .bind(name)
                .fetch_one(&self.pool)
        };
        let number = setting("server_version_num")
            .await
            .map_err(|error| failed(&error))?;
        let shown = setting("server_version").await.map_err(|error| failed(&error))?;
        let is_new = number.parse::<i32>().is_ok_and(|number| OLDEST <= number);
        let mut found = vec![if is_new {
            Ok(format!("PostgreSQL {shown}"))
        } else {
            let what = format!("PostgreSQL {shown} is older than 15");
            Err(StudyError::input(what, "use a server of version 15 or later"))
        }];
        for name in ["fsync", "full_page_writes", "synchronous_commit"] {
            let value = setting(name).await.map_err(|error| failed(&error))?;
            found.push(match value.as_str() {
                "off" => Err(StudyError::input(
                    format_args!("{name} is off: a server that crashes forgets money that was held"),
                    format_args!("write {name} = on into its postgresql.conf"),
                )),
                value => Ok(format!("{name} is {value}")),
            });
        }
        let began = Instant::now();
        for _ in 0..20 {
            sqlx::query("SELECT ktd.now_us()")
                .execute(&self.pool)
                .await
                .map_err(|error| failed(&error))?;
        }
        let each = began.elapsed() / 20;
        found.push(Ok(format!(
            "a statement takes {:.1} ms",
            each.as_secs_f64() * 1_000.0
        )));
        Ok(found)
    }
}
