//! Planted strategies whose quality falls with their complexity, or does not.

use super::{PlantedTruth, SeenEffect, StrategySizeDesign};
use crate::rank_correlation::{RankCorrelation, rank_correlation, spearman_bounds};
use ktd_env::KeyedStream;

/// Strategies, and how their complexity and the quality of their programs go together.
#[derive(Debug, Clone, Copy)]
struct PlantedComplexity {
    strategies: usize,
    /// Pearson's correlation of both, which are normal.
    correlation: f64,
    /// Whether the exact p is looked at, or the bounds.
    is_of_p: bool,
}

pub(super) fn designs() -> Vec<StrategySizeDesign> {
    let of = |is_of_p: bool, strategies: usize, correlation: f64| {
        let conclusion = if is_of_p {
            "complexity, exact p"
        } else {
            "complexity, bounds"
        };
        let truth = PlantedComplexity {
            strategies,
            correlation,
            is_of_p,
        };
        let planted = format!("correlation {correlation}; {strategies} strategies");
        StrategySizeDesign::new(conclusion, planted, truth)
    };
    let mut all = Vec::new();
    for is_of_p in [true, false] {
        for strategies in [4, 6, 8, 12] {
            all.extend([0.0, -0.8].map(|correlation| of(is_of_p, strategies, correlation)));
        }
    }
    all
}

impl PlantedTruth for PlantedComplexity {
    fn has_effect(&self) -> bool {
        self.correlation < 0.0
    }

    /// Spearman's correlation of two that are normal together.
    fn truth(&self, _seed: u64) -> Option<f64> {
        (!self.is_of_p).then(|| 6.0 / std::f64::consts::PI * libm::asin(self.correlation / 2.0))
    }

    fn seen(&self, stream: &mut KeyedStream) -> SeenEffect {
        let own = libm::sqrt(1.0 - self.correlation * self.correlation);
        let pairs = (0..self.strategies).map(|_| {
            let complexity = stream.normal();
            (complexity, self.correlation * complexity + own * stream.normal())
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        if self.is_of_p {
            let p = RankCorrelation::of(&pairs).and_then(|found| found.p);
            return SeenEffect::of_verdict(p.is_some_and(|p| p <= 0.05));
        }
        // Without the exact p, which counts all orders of twelve: most of the time of this table.
        let (left, right): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let rho = rank_correlation(&left, &right);
        SeenEffect::of_bounds(rho.and_then(|rho| spearman_bounds(rho, self.strategies)), 0.0)
    }
}
