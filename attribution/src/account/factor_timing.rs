//! Timing of the market and of styles: what an account earned by when it held them.

use super::basis::WeightBasis;
use crate::model::{DayFit, Leg};
use ktd_stats::moments::count;

/// What of a day's common and style return is timing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FactorTiming {
    /// Of the common factor: invested weight less its mean, times the factor return.
    pub market: f64,
    /// Of all styles: exposures less their means, times the factor returns.
    pub styles: f64,
}

/// Exposures before and after each day's trades and the factor returns of the day's legs, from which timing follows once all days
/// are known.
pub(super) struct FactorMoments {
    columns: usize,
    /// Day after day: loadings before the trades, and after them.
    loadings: [Vec<f64>; 2],
    /// By leg, day after day.
    returns: [Vec<f64>; 3],
}

impl FactorMoments {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns,
            loadings: Default::default(),
            returns: Default::default(),
        }
    }

    /// Adds a day; a column that the fit lacks counts as 0.
    pub(super) fn push(&mut self, fit: &DayFit, loadings: [&[f64]; 2]) {
        let columns = 0..self.columns;
        for (all, day) in self.loadings.iter_mut().zip(loadings) {
            all.extend(
                columns
                    .clone()
                    .map(|column| day.get(column).copied().unwrap_or(0.0)),
            );
        }
        for (all, leg) in self.returns.iter_mut().zip(Leg::ALL) {
            let day = fit.leg_returns(leg);
            all.extend(
                columns
                    .clone()
                    .map(|column| day.get(column).copied().unwrap_or(0.0)),
            );
        }
    }

    /// The timing of each day on a basis.
    pub(super) fn timing(&self, basis: WeightBasis) -> Vec<FactorTiming> {
        let [before, after] = &self.loadings;
        let [whole, overnight, intraday] = &self.returns;
        let legs: &[(&[f64], &[f64])] = match basis {
            WeightBasis::Pre => &[(before, whole)],
            WeightBasis::Post => &[(after, whole)],
            WeightBasis::Two => &[(before, overnight), (after, intraday)],
        };
        let mut timing = vec![FactorTiming::default(); before.len() / self.columns.max(1)];
        for (loadings, returns) in legs {
            let means = self.means(loadings);
            let days = loadings
                .chunks_exact(self.columns)
                .zip(returns.chunks_exact(self.columns));
            for (day, (loadings, returns)) in timing.iter_mut().zip(days) {
                let products = loadings.iter().zip(&means).zip(returns);
                let mut products = products.map(|((loading, mean), earned)| (loading - mean) * earned);
                day.market += products.next().unwrap_or(0.0);
                day.styles += products.sum::<f64>();
            }
        }
        timing
    }

    fn means(&self, loadings: &[f64]) -> Vec<f64> {
        let days = count((loadings.len() / self.columns.max(1)).max(1));
        let mut means = vec![0.0; self.columns];
        for day in loadings.chunks_exact(self.columns) {
            for (mean, loading) in means.iter_mut().zip(day) {
                *mean += loading / days;
            }
        }
        means
    }
}
