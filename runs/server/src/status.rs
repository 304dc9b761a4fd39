//! How far a queue is, for people and programs.

use crate::accounts::picodollars;
use crate::database::{ServerDatabase, failed};
use ktd_study::{Report, Section, Shown, StudyError};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::PgPool;

/// What a server knows of its studies and workers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ServerStatus {
    /// The studies, the first first.
    pub studies: Vec<QueueStatus>,
    /// Workers that run a unit now, or looked for one in the last minute.
    pub workers: Vec<WorkerState>,
}

/// How far a study is in the queue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct QueueStatus {
    /// Its number.
    pub study: i64,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Its folder.
    pub folder: String,
    /// Units that wait.
    pub waiting: i64,
    /// Units that a worker runs.
    pub running: Vec<RunningUnit>,
    /// Units that are finished.
    pub finished: i64,
    /// Units that ended in three epochs without a settled call.
    pub dead: Vec<DeadUnit>,
    /// Units that met a cap.
    pub capped: i64,
    /// Units that were taken out.
    pub cancelled: i64,
    /// What is spent and held; those of cells are left out.
    pub scopes: Vec<QueueScope>,
    /// What calls cost that ended, in picodollars.
    pub settled_picodollars: u64,
    /// What calls are counted at of which nobody knows the end, in picodollars.
    pub counted_whole_picodollars: u64,
}

/// Unit that a worker runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RunningUnit {
    /// The unit.
    pub unit: String,
    /// The worker.
    pub worker: String,
    /// How often it was taken, this time among them.
    pub epoch: i64,
}

/// Unit that nobody runs any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct DeadUnit {
    /// The unit.
    pub unit: String,
    /// `input`, `difference`, or `lost` where its workers vanished.
    pub class: String,
    /// What ended it last.
    pub error: String,
    /// How to fix it.
    pub hint: String,
    /// What to type then.
    pub again: String,
}

/// Cap with what is spent of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct QueueScope {
    /// `experiment`, or `vendor ID`.
    pub scope: String,
    /// The cap; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap_picodollars: Option<u64>,
    /// Spent.
    pub spent_picodollars: u64,
    /// Held for calls under way.
    pub held_picodollars: u64,
}

/// Worker and the limits that it obeys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WorkerState {
    /// Its name.
    pub worker: String,
    /// Units that it runs.
    pub units: i64,
    /// The limits, as it said them.
    pub limits: Vec<String>,
}

impl ServerDatabase {
    /// How far the studies of the queue are.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn status(&self) -> Result<ServerStatus, StudyError> {
        let read = async {
            let rows: Vec<(i64, String, String, String)> =
                sqlx::query_as("SELECT id, name, kind, folder FROM ktd.study ORDER BY id")
                    .fetch_all(&self.pool)
                    .await?;
            let mut studies = Vec::with_capacity(rows.len());
            for row in rows {
                studies.push(queue_status(&self.pool, row).await?);
            }
            let workers = workers(&self.pool).await?;
            Ok(ServerStatus { studies, workers })
        };
        read.await.map_err(|error: sqlx::Error| failed(&error))
    }
}

async fn queue_status(
    pool: &PgPool,
    (study, name, kind, folder): (i64, String, String, String),
) -> Result<QueueStatus, sqlx::Error> {
    let counts: (i64, i64, i64, i64) = sqlx::query_as(
        "SELECT count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'done'),
           count(*) FILTER (WHERE state = 'capped'), count(*) FILTER (WHERE state = 'cancelled')
         FROM ktd.unit WHERE study = $1",
    )
    .bind(study)
    .fetch_one(pool)
    .await?;
    let running: Vec<(String, String, i64)> = sqlx::query_as(
        "SELECT l.unit, l.worker, l.epoch FROM ktd.lease l JOIN ktd.unit u ON u.study = l.study AND u.id = l.unit
         WHERE l.study = $1 AND u.state = 'running' ORDER BY u.place",
    )
    .bind(study)
    .fetch_all(pool)
    .await?;
    let scopes: Vec<(String, Option<i64>, i64, i64)> = sqlx::query_as(
        "SELECT name, cap, spent, held FROM ktd.scope WHERE study = $1 AND name NOT LIKE 'cell %' ORDER BY id",
    )
    .bind(study)
    .fetch_all(pool)
    .await?;
    let (settled, whole): (i64, i64) = sqlx::query_as(
        "SELECT coalesce(sum(spent - whole), 0)::bigint, coalesce(sum(whole), 0)::bigint FROM ktd.scope
         WHERE study = $1 AND name = 'experiment'",
    )
    .bind(study)
    .fetch_one(pool)
    .await?;
    let (waiting, finished, capped, cancelled) = counts;
    let running = running.into_iter();
    let scopes = scopes.into_iter();
    Ok(QueueStatus {
        running: running
            .map(|(unit, worker, epoch)| RunningUnit { unit, worker, epoch })
            .collect(),
        dead: dead_units(pool, study).await?,
        scopes: scopes
            .map(|(scope, cap, spent, held)| QueueScope {
                scope,
                cap_picodollars: cap.map(|cap| picodollars(cap).0),
                spent_picodollars: picodollars(spent).0,
                held_picodollars: picodollars(held).0,
            })
            .collect(),
        study,
        name,
        kind,
        folder,
        waiting,
        finished,
        capped,
        cancelled,
        settled_picodollars: picodollars(settled).0,
        counted_whole_picodollars: picodollars(whole).0,
    })
}

async fn dead_units(pool: &PgPool, study: i64) -> Result<Vec<DeadUnit>, sqlx::Error> {
    let dead: Vec<(String, String, String, String)> = sqlx::query_as(
        "SELECT id, coalesce(class, ''), coalesce(error, ''), coalesce(hint, '') FROM ktd.unit
         WHERE study = $1 AND state = 'dead' ORDER BY place",
    )
    .bind(study)
    .fetch_all(pool)
    .await?;
    let dead = dead.into_iter().map(|(unit, class, error, hint)| DeadUnit {
        again: format!("ktd retry {study} {unit}"),
        unit,
        class,
        error,
        hint,
    });
    Ok(dead.collect())
}

async fn workers(pool: &PgPool) -> Result<Vec<WorkerState>, sqlx::Error> {
    let rows: Vec<(String, i64, Vec<String>)> = sqlx::query_as(
        "SELECT w.name, count(u.id), w.limits FROM ktd.worker w
         LEFT JOIN (ktd.lease l JOIN ktd.unit u ON u.study = l.study AND u.id = l.unit AND u.state = 'running')
           ON l.worker = w.name AND l.until > clock_timestamp()
         GROUP BY w.name, w.limits, w.seen HAVING count(u.id) > 0 OR w.seen > clock_timestamp() - interval '1 minute'
         ORDER BY w.name",
    )
    .fetch_all(pool)
    .await?;
    let rows = rows.into_iter();
    Ok(rows
        .map(|(worker, units, limits)| WorkerState {
            worker,
            units,
            limits,
        })
        .collect())
}

impl ServerStatus {
    /// The status for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let section = |title: &'static str, name: &'static str, table| {
            Section::new(title).table(name, table, Shown::Everywhere)
        };
        Report {
            title: "Queue".to_owned(),
            verdict: format!("{} studies, {} workers.", self.studies.len(), self.workers.len()),
            sections: vec![
                section("Units", "units", self.units_table()),
                section("Money", "money", self.money_table()),
                section("Dead", "dead", self.dead_table()),
                section("Workers", "workers", self.workers_table()),
            ],
            ..Report::default()
        }
    }

    fn units_table(&self) -> TableData {
        let heads =
            ["waiting", "running", "finished", "dead", "capped", "cancelled"].map(|head| (head, Right));
        let heads = [("no.", Right), ("study", Left)].into_iter().chain(heads);
        let rows = self.studies.iter().map(|of| {
            vec![
                count(of.study),
                text(&of.name),
                count(of.waiting),
                TableCell::Count(of.running.len()),
                count(of.finished),
                TableCell::Count(of.dead.len()),
                count(of.capped),
                count(of.cancelled),
            ]
        });
        TableData::new("", heads).with_rows(rows)
    }

    fn money_table(&self) -> TableData {
        let money = |amount: u64| text(&ktd_experiment::amount::Picodollars(amount).to_string());
        let heads = [
            ("study", Left),
            ("scope", Left),
            ("cap", Right),
            ("spent", Right),
            ("held", Right),
        ];
        let rows = self.studies.iter().flat_map(|of| {
            of.scopes.iter().map(move |scope| {
                let cap = scope.cap_picodollars;
                vec![
                    text(&of.name),
                    text(&scope.scope),
                    cap.map_or_else(|| TableCell::Missing("no cap".to_owned()), money),
                    money(scope.spent_picodollars),
                    money(scope.held_picodollars),
                ]
            })
        });
        TableData::new("", heads).with_rows(rows)
    }

    fn dead_table(&self) -> TableData {
        let heads = ["unit", "class", "what ended it", "how to fix it", "again"].map(|head| (head, Left));
        let dead = self.studies.iter().flat_map(|of| &of.dead);
        let rows = dead.map(|dead| {
            [&dead.unit, &dead.class, &dead.error, &dead.hint, &dead.again]
                .map(|cell| text(cell))
                .to_vec()
        });
        TableData::new("", heads).with_rows(rows)
    }

    fn workers_table(&self) -> TableData {
        let heads = [("worker", Left), ("units", Right), ("limits that it obeys", Left)];
        let workers = self.workers.iter();
        let rows = workers.map(|of| vec![text(&of.worker), count(of.units), text(&of.limits.join("; "))]);
        TableData::new("", heads).with_rows(rows)
    }
}

fn text(text: &str) -> TableCell {
    TableCell::Text(text.to_owned())
}

fn count(count: i64) -> TableCell {
    TableCell::Count(usize::try_from(count).unwrap_or_default())
}
