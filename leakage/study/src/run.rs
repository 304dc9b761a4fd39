//! The record of one run.

use ktd_leakage::{DayTrade, LeakageBench, RunKey, TradeSeries};
use serde::{Deserialize, Serialize};

/// Result of one model under one protocol for a horizon, a year and a seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakRun {
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

impl LeakRun {
    /// Runs a key.
    pub(super) fn of(key: &RunKey, bench: &LeakageBench) -> Self {
        let (run, failure) = match key.run(bench) {
            Ok(run) => (Some(run), None),
            Err(failure) => (None, Some(failure.to_string())),
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

    fn trades(&self) -> impl Iterator<Item = DayTrade> {
        self.days.iter().map(|day| DayTrade {
            session: day.session,
            picks: day.picks.clone(),
            gross: day.gross,
            without_return: day.without_return,
            rank_ic: day.rank_ic,
            auc: day.auc,
        })
    }
}

/// The years of runs behind each other.
pub(super) fn series_of(runs: &[&LeakRun]) -> TradeSeries {
    let mut runs = runs.to_vec();
    runs.sort_by_key(|run| run.year);
    TradeSeries::of(runs.into_iter().flat_map(LeakRun::trades).collect())
}
