//! The record of one run.

use crate::bench::LeakageBench;
use crate::key::{ModelFamily, RunKey};
use crate::run::DayTrade;
use crate::switch::Switch;
use serde::{Deserialize, Serialize};

/// Result of one model under one protocol for a horizon, a year and a seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakRun {
    /// Who scored.
    pub model: ModelFamily,
    /// Under which protocol.
    pub protocol: Switch,
    /// Sessions of the label.
    pub horizon: usize,
    /// The test year.
    pub year: i32,
    /// The seed.
    pub seed: u64,
    /// Rows of the fit.
    pub fit_rows: usize,
    /// The loss on the last fit sessions, of a network.
    pub validation_loss: Option<f64>,
    /// Why there is no result.
    pub failure: Option<String>,
    /// Test days, ascending.
    pub days: Vec<DayTrade>,
}

impl LeakRun {
    /// Runs a key; what it cannot be run for is its result.
    #[must_use]
    pub fn of(key: &RunKey, bench: &LeakageBench) -> Self {
        let (run, failure) = match key.run(bench) {
            Ok(run) => (Some(run), None),
            Err(failure) => (None, Some(failure.to_string())),
        };
        Self {
            model: key.family,
            protocol: key.switch,
            horizon: key.horizon,
            year: key.year,
            seed: key.seed,
            fit_rows: run.as_ref().map_or(0, |run| run.fit_rows),
            validation_loss: run.as_ref().and_then(|run| run.validation_loss),
            failure,
            days: run.map_or_else(Vec::new, |run| run.days),
        }
    }

    /// Which run has no result, and why; none of one that has.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.as_ref()?;
        let (model, protocol) = (self.model.name(), self.protocol.name());
        Some(format!(
            "{model} {protocol} h{} {} seed {}: {failure}",
            self.horizon, self.year, self.seed
        ))
    }
}
