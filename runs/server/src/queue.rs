//! Putting a study into the queue, and taking units out of it.

use crate::accounts::{column, scope_name};
use crate::database::{ServerDatabase, failed};
use crate::inner::lane;
use ktd_client::money::Scope;
use ktd_study::{QueuedStudy, StudyError};
use sqlx::{Postgres, Transaction};
use std::path::{Path, PathBuf};

/// Study in a queue, as a worker finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedAt {
    /// Its number.
    pub study: i64,
    /// Its name.
    pub name: String,
    /// Its file, as who enqueued it saw it.
    pub file: PathBuf,
    /// Its folder, as who enqueued it saw it.
    pub folder: PathBuf,
    /// The hash of the sources of the program that enqueued it: others make other records.
    pub program: String,
    /// How many units it has.
    pub units: usize,
    /// Whether units come after others.
    pub has_order: bool,
}

impl ServerDatabase {
    /// Puts a study into the queue, or its new units, with its caps as they are now. Dead units stay dead.
    ///
    /// # Errors
    /// [`StudyError`] for a study that pays without a cap, for a folder in which somebody was asked before without this server, and
    /// for a server that does not answer.
    pub async fn enqueue(&self, queued: &QueuedStudy, file: &Path, program: &str) -> Result<i64, StudyError> {
        if queued.is_paid && queued.caps.experiment.is_none() {
            return Err(StudyError::input(
                "the study asks models and its `[budget]` has no cap for the experiment",
                "write experiment = \"25.00\" under [budget]: many workers spend fast",
            ));
        }
        let known = self
            .study_of(&queued.folder.to_string_lossy())
            .await
            .map_err(|error| failed(&error))?;
        if known.is_none() && queued.was_asked {
            return Err(StudyError::input(
                format_args!(
                    "{}: somebody was asked here before, whom this server has not paid",
                    queued.folder.display()
                ),
                "let `ktd run` finish it on one machine, or enqueue it with another --out",
            ));
        }
        let put = async {
            let mut putting = self.pool.begin().await?;
            let study = put_study(&mut putting, queued, (file, program)).await?;
            put_units(&mut putting, study, queued).await?;
            put_caps(&mut putting, study, queued).await?;
            putting.commit().await?;
            Ok(study)
        };
        put.await.map_err(|error| failed(&error))
    }

    async fn study_of(&self, folder: &str) -> Result<Option<i64>, sqlx::Error> {
        sqlx::query_scalar("SELECT id FROM ktd.study WHERE folder = $1")
            .bind(folder)
            .fetch_optional(&self.pool)
            .await
    }

    /// The studies of the queue, the first first.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn studies(&self) -> Result<Vec<QueuedAt>, StudyError> {
        let rows: Vec<(i64, String, String, String, String, i64, bool)> = sqlx::query_as(
            "SELECT s.id, s.name, s.file, s.folder, s.program, count(u.id),
               coalesce(bool_or(cardinality(u.after) > 0), false)
             FROM ktd.study s LEFT JOIN ktd.unit u ON u.study = s.id GROUP BY s.id ORDER BY s.id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(|error| failed(&error))?;
        let rows = rows.into_iter().map(
            |(study, name, file, folder, program, units, has_order)| QueuedAt {
                study,
                name,
                file: file.into(),
                folder: folder.into(),
                program,
                units: usize::try_from(units).unwrap_or_default(),
                has_order,
            },
        );
        Ok(rows.collect())
    }

    /// Lets dead, capped and cancelled units wait again; all of the study where none is named. How many.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn retry(&self, study: i64, units: &[String]) -> Result<u64, StudyError> {
        self.changed("SELECT ktd.retry($1, $2)", study, units).await
    }

    /// Takes units out that wait, run or met a cap; all of the study where none is named. How many.
    ///
    /// # Errors
    /// [`StudyError`] for a server that does not answer.
    pub async fn cancel(&self, study: i64, units: &[String]) -> Result<u64, StudyError> {
        self.changed("SELECT ktd.cancel($1, $2)", study, units).await
    }

    async fn changed(
        &self,
        statement: &'static str,
        study: i64,
        units: &[String],
    ) -> Result<u64, StudyError> {
        let changed = sqlx::query_scalar::<_, i64>(statement).bind(study).bind(units);
        let count = changed
            .fetch_one(&self.pool)
            .await
            .map_err(|error| failed(&error))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }
}

type Putting = Transaction<'static, Postgres>;

async fn put_study(
    putting: &mut Putting,
    queued: &QueuedStudy,
    (file, program): (&Path, &str),
) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "INSERT INTO ktd.study (name, kind, file, folder, program) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (folder) DO UPDATE SET name = EXCLUDED.name, kind = EXCLUDED.kind, file = EXCLUDED.file,
           program = EXCLUDED.program RETURNING id",
    )
    .bind(&queued.name)
    .bind(&queued.kind)
    .bind(file.to_string_lossy())
    .bind(queued.folder.to_string_lossy())
    .bind(program)
    .fetch_one(&mut **putting)
    .await
}

/// New units wait, those that the file has no more are cancelled, and what is finished is finished.
async fn put_units(putting: &mut Putting, study: i64, queued: &QueuedStudy) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT FROM ktd.unit WHERE study = $1 ORDER BY id FOR NO KEY UPDATE")
        .bind(study)
        .execute(&mut **putting)
        .await?;
    let mut ids = Vec::with_capacity(queued.units.len());
    for (place, unit) in (0_i32..).zip(&queued.units) {
        let state = if unit.is_finished { "done" } else { "waiting" };
        let after: Vec<&str> = unit.after.iter().map(ktd_study::UnitId::as_str).collect();
        sqlx::query(
            "INSERT INTO ktd.unit AS old (study, id, place, lane, after, state, done_at)
             VALUES ($1, $2, $3, $4, $5, $6, CASE $6 WHEN 'done' THEN 0 END)
             ON CONFLICT (study, id) DO UPDATE SET place = EXCLUDED.place, lane = EXCLUDED.lane, after = EXCLUDED.after,
               state = CASE WHEN old.state = 'running' THEN old.state WHEN EXCLUDED.state = 'done' THEN 'done'
                 WHEN old.state IN ('dead', 'cancelled') THEN old.state ELSE 'waiting' END,
               done_at = EXCLUDED.done_at",
        )
        .bind(study)
        .bind(unit.id.as_str())
        .bind(place)
        .bind(lane(unit.key.as_ref()))
        .bind(after)
        .bind(state)
        .execute(&mut **putting)
        .await?;
        ids.push(unit.id.as_str());
    }
    sqlx::query("UPDATE ktd.unit SET state = 'cancelled' WHERE study = $1 AND NOT id = ANY ($2) AND state <> 'running'")
        .bind(study)
        .bind(ids)
        .execute(&mut **putting)
        .await?;
    Ok(())
}

async fn put_caps(putting: &mut Putting, study: i64, queued: &QueuedStudy) -> Result<(), sqlx::Error> {
    let caps = &queued.caps;
    let vendors = caps
        .vendor
        .iter()
        .map(|(id, cap)| (Scope::Vendor(id.clone()), Some(*cap)));
    let experiment = std::iter::once((Scope::Experiment, caps.experiment));
    sqlx::query("SELECT FROM ktd.scope WHERE study = $1 ORDER BY id FOR UPDATE")
        .bind(study)
        .execute(&mut **putting)
        .await?;
    sqlx::query(
        "UPDATE ktd.scope SET cap = CASE WHEN name LIKE 'cell %' THEN $2::bigint END WHERE study = $1",
    )
    .bind(study)
    .bind(caps.cell.map(column))
    .execute(&mut **putting)
    .await?;
    for (scope, cap) in experiment.chain(vendors) {
        sqlx::query(
            "INSERT INTO ktd.scope (study, name, cap) VALUES ($1, $2, $3) ON CONFLICT (study, name) DO UPDATE SET cap = EXCLUDED.cap",
        )
        .bind(study)
        .bind(scope_name(&scope))
        .bind(cap.map(column))
        .execute(&mut **putting)
        .await?;
    }
    Ok(())
}
