//! The result of one run as a file.

use crate::StudyError;
use ktd_io::whole_file::{json_bytes, read_if_exists, write_whole};
use ktd_leakage::{DayTrade, RunKey, YearRun};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Result of one model under one protocol for a horizon, a year and a seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFile {
    /// What the whole grid was made of: another panel, other settings or another program have another one.
    pub(super) source: String,
    pub(super) model: String,
    pub(super) protocol: String,
    pub(super) horizon: usize,
    pub(super) year: i32,
    pub(super) seed: u64,
    pub(super) fit_rows: usize,
    pub(super) validation_loss: Option<f64>,
    /// Why there is no result.
    pub(super) failure: Option<String>,
    pub(super) days: Vec<RunDay>,
}

/// One test day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunDay {
    session: usize,
    picks: Vec<usize>,
    gross: f64,
    without_return: usize,
    rank_ic: Option<f64>,
    auc: Option<f64>,
}

/// The name of a run's file.
pub(super) fn file_name(key: &RunKey) -> String {
    format!(
        "{}__{}__h{}__{}__s{}.json",
        key.family.name(),
        key.switch.name(),
        key.horizon,
        key.year,
        key.seed
    )
}

impl RunFile {
    pub(super) fn of(source: &str, key: &RunKey, run: Result<YearRun, String>) -> Self {
        let (run, failure) = match run {
            Ok(run) => (Some(run), None),
            Err(failure) => (None, Some(failure)),
        };
        let day = |day: DayTrade| RunDay {
            session: day.session,
            picks: day.picks,
            gross: day.gross,
            without_return: day.without_return,
            rank_ic: day.rank_ic,
            auc: day.auc,
        };
        Self {
            source: source.to_owned(),
            model: key.family.name().to_owned(),
            protocol: key.switch.name().to_owned(),
            horizon: key.horizon,
            year: key.year,
            seed: key.seed,
            fit_rows: run.as_ref().map_or(0, |run| run.fit_rows),
            validation_loss: run.as_ref().and_then(|run| run.validation_loss),
            failure,
            days: run.map_or_else(Vec::new, |run| run.days.into_iter().map(day).collect()),
        }
    }

    /// The file of a run that was made of the same; none where it is not there, is broken, or was made of something else.
    pub(super) fn read(path: &Path, source: &str) -> Result<Option<Self>, StudyError> {
        let Some(bytes) = read_if_exists(path)? else {
            return Ok(None);
        };
        let read: Option<Self> = serde_json::from_slice(&bytes).ok();
        Ok(read.filter(|read| read.source == source))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), StudyError> {
        Ok(write_whole(path, &json_bytes(path, self)?)?)
    }

    pub(super) fn trades(&self) -> Vec<DayTrade> {
        let trade = |day: &RunDay| DayTrade {
            session: day.session,
            picks: day.picks.clone(),
            gross: day.gross,
            without_return: day.without_return,
            rank_ic: day.rank_ic,
            auc: day.auc,
        };
        self.days.iter().map(trade).collect()
    }
}
