//! The ridge regression of a protocol and a year.

use crate::bench::{LeakageBench, YearSplit};
use crate::error::LeakageError;
use crate::key::ModelFamily;
use crate::scaler::Scaler;
use crate::switch::Switch;
use ktd_learners::RidgeFit;
use std::ops::Range;

/// The penalty on the square of each coefficient.
const PENALTY: f64 = 1.0;

/// A ridge regression on standardised features, with the scale of its features.
#[derive(Debug, Clone, PartialEq)]
pub struct RidgeModel {
    scaler: Scaler,
    fit: RidgeFit,
}

impl RidgeModel {
    /// Fitted on the rows of a protocol before a year; the features of the peers are left out on demand.
    ///
    /// # Errors
    /// [`LeakageError`] as [`LeakageBench::split`], and where there is no solution.
    pub fn fit(
        bench: &LeakageBench,
        switch: Switch,
        (horizon, year): (usize, i32),
        with_peers: bool,
    ) -> Result<Self, LeakageError> {
        let split = bench.split(switch, horizon, year)?;
        Self::of_split(bench, switch, (horizon, year), &split, with_peers)
    }

    /// As [`RidgeModel::fit`], on a split at hand.
    pub(crate) fn of_split(
        bench: &LeakageBench,
        switch: Switch,
        (horizon, year): (usize, i32),
        split: &YearSplit,
        with_peers: bool,
    ) -> Result<Self, LeakageError> {
        let columns = bench.rows().columns(switch, with_peers);
        let labels = bench.fit_labels(switch, horizon, split)?;
        let scaler = Scaler::of_fit(&columns, switch, &split.fit_rows);
        let rows = scaler.gather(&columns, split.fit_rows.iter().copied());
        let family = ModelFamily::Ridge.name();
        let fit = RidgeFit::fit(&rows, columns.len(), &labels, PENALTY);
        let fit = fit.map_err(|error| LeakageError::Fit { family, year, error })?;
        Ok(Self { scaler, fit })
    }

    /// The mean label.
    #[must_use]
    pub const fn intercept(&self) -> f64 {
        self.fit.intercept()
    }

    /// The coefficients of the standardised features, in the order of the schema.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        self.fit.coefficients()
    }

    /// The mean of each feature.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        self.scaler.means()
    }

    /// The deviation of each feature.
    #[must_use]
    pub fn deviations(&self) -> &[f64] {
        self.scaler.deviations()
    }

    /// The scores of rows of the common mask.
    pub(crate) fn scores(&self, columns: &[&[f64]], rows: Range<usize>) -> Vec<f64> {
        self.fit.predict(&self.scaler.gather(columns, rows))
    }

    /// The score of one row of features; NaN where it is no whole row.
    pub(crate) fn score(&self, features: &[f64]) -> f64 {
        let scores = self.fit.predict(&self.scaler.row(features));
        scores.first().copied().unwrap_or(f64::NAN)
    }
}
