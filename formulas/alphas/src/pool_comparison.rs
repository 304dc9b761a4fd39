//! Pools against each other by their alphas' places, and robust alphas against the rest.

use crate::composite::percentiles;
use crate::figure_row::FigureRow;
use ktd_stats::moments::{Moments, count, mean};
use ktd_stats::{SplitMix64, mann_whitney, mid_ranks, welch_test};

/// Figures that pools are compared by; of turnover and drawdown the least is the best.
pub const ROSE_FIGURES: [&str; 6] = ["pps", "rre", "pfs", "sr", "mdd", "turnover"];

/// The mean percentile of each pool's alphas among all, by figure; alphas come with the names of their pools.
#[must_use]
pub fn mean_percentiles<'a>(
    alphas: impl Iterator<Item = (&'a str, &'a FigureRow)>,
) -> Vec<(&'a str, FigureRow)> {
    let alphas: Vec<(&str, &FigureRow)> = alphas.collect();
    let mut pools: Vec<(&str, FigureRow)> = Vec::new();
    for (pool, _) in &alphas {
        if pools.iter().all(|(known, _)| known != pool) {
            pools.push((pool, FigureRow::default()));
        }
    }
    for name in ROSE_FIGURES {
        let sign = if matches!(name, "mdd" | "turnover") {
            -1.0
        } else {
            1.0
        };
        let values: Vec<Option<f64>> = alphas
            .iter()
            .map(|(_, row)| row.get(name).map(|value| sign * value))
            .collect();
        let places = percentiles(&values);
        for (pool, row) in &mut pools {
            let own = alphas.iter().zip(&places).filter(|((of, _), _)| of == pool);
            let own: Vec<f64> = own.filter_map(|(_, place)| *place).collect();
            row.put_mean(name, &own, "no_alpha_has_it");
        }
    }
    pools
}

/// Drawdowns of alphas from a least robustness on against those of the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct RobustAlphas {
    /// The least robustness of a robust alpha.
    pub least: f64,
    /// Robust alphas.
    pub robust: usize,
    /// The others.
    pub rest: usize,
    /// Mean drawdowns, Welch's test and Mann and Whitney's.
    pub row: FigureRow,
}

impl RobustAlphas {
    /// Its figures.
    pub const FIGURES: [&str; 9] = [
        "mdd_robust",
        "mdd_rest",
        "welch_t",
        "welch_df",
        "welch_p",
        "welch_p_all",
        "u",
        "u_p",
        "u_p_all",
    ];
}

/// Least robustness of a robust alpha.
const THRESHOLDS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

/// Drawdowns of robust alphas against those of the rest, by the least robustness. Eleven thresholds and two tests ask one question of the
/// same alphas: `welch_p_all` and `u_p_all` are the p-values of all 22 at once (Westfall and Young's least p), by drawdowns dealt anew.
#[must_use]
pub fn robust_and_rest<'r>(alphas: impl Iterator<Item = &'r FigureRow>) -> Vec<RobustAlphas> {
    let point = |row: &FigureRow| Some((row.get("pfs")?, row.get("mdd")?));
    let points: Vec<(f64, f64)> = alphas.filter_map(point).collect();
    let at_once = PermutedThresholds::of(&points);
    let compared = |(place, least): (usize, f64)| {
        let of = |is_robust: bool| -> Vec<f64> {
            let side = points.iter().filter(|(pfs, _)| (least <= *pfs) == is_robust);
            side.map(|(_, mdd)| *mdd).collect()
        };
        let (robust, rest) = (of(true), of(false));
        let mut row = FigureRow::default();
        for (name, side) in [("mdd_robust", &robust), ("mdd_rest", &rest)] {
            if let Some(middle) = mean(side) {
                row.put(name, Ok(middle));
            }
        }
        row.put_all(
            &welch_test(&robust, &rest),
            &[
                ("welch_t", |test| Ok(test.t)),
                ("welch_df", |test| Ok(test.degrees_of_freedom)),
                ("welch_p", |test| Ok(test.p)),
            ],
        );
        row.put_all(
            &mann_whitney(&robust, &rest),
            &[("u", |test| Ok(test.u)), ("u_p", |test| Ok(test.p))],
        );
        for (name, test) in [("welch_p_all", 0), ("u_p_all", 1)] {
            if let Some(p) = at_once.p(2 * place + test) {
                row.put(name, Ok(p));
            }
        }
        RobustAlphas {
            least,
            robust: robust.len(),
            rest: rest.len(),
            row,
        }
    };
    THRESHOLDS.into_iter().enumerate().map(compared).collect()
}

/// Times that drawdowns are dealt anew.
const DEALS: usize = 999;
/// Of what draws the deals, which are the same for the same alphas.
const DEALING_SEED: u64 = 1;

/// Both statistics at every threshold, of the alphas as they are and of drawdowns dealt to them anew.
struct PermutedThresholds {
    /// The share of deals with at least the statistic found; none where a side is too small.
    alone: Vec<Option<f64>>,
    /// The least such share of each deal, the alphas as they are being the first.
    least: Vec<f64>,
}

impl PermutedThresholds {
    fn of(points: &[(f64, f64)]) -> Self {
        let mut drawdowns: Vec<f64> = points.iter().map(|(_, mdd)| *mdd).collect();
        let mut stream = SplitMix64::new(DEALING_SEED);
        let mut deals = vec![Self::statistics(points, &drawdowns)];
        for _ in 0..DEALS {
            // Fisher and Yates: each order is as likely.
            for last in (1..drawdowns.len()).rev() {
                drawdowns.swap(last, stream.below(count(last + 1)));
            }
            deals.push(Self::statistics(points, &drawdowns));
        }
        let mut least = vec![1.0_f64; deals.len()];
        let alone = (0..2 * THRESHOLDS.len()).map(|column| {
            let own: Vec<f64> = deals
                .iter()
                .map(|deal| deal.get(column).copied().flatten().unwrap_or(0.0))
                .collect();
            deals.first()?.get(column).copied().flatten()?;
            let mut sorted = own.clone();
            sorted.sort_by(f64::total_cmp);
            // What is equal but for rounding counts as equal.
            let as_large = |value: f64| sorted.len() - sorted.partition_point(|other| *other < value - 1e-9);
            let shares: Vec<f64> = own
                .iter()
                .map(|value| count(as_large(*value)) / count(sorted.len()))
                .collect();
            for (least, share) in least.iter_mut().zip(&shares) {
                *least = least.min(*share);
            }
            shares.first().copied()
        });
        let alone = alone.collect();
        Self { alone, least }
    }

    /// Welch's t and the distance of the rank sum from its mean, without sign, threshold by threshold.
    fn statistics(points: &[(f64, f64)], drawdowns: &[f64]) -> Vec<Option<f64>> {
        let ranks = mid_ranks(drawdowns);
        let middle = f64::midpoint(count(points.len()), 1.0);
        let at = |least: f64| {
            let side = |values: &[f64], is_robust: bool| -> Vec<f64> {
                let own = points
                    .iter()
                    .zip(values)
                    .filter(|((pfs, _), _)| (least <= *pfs) == is_robust);
                own.map(|(_, value)| *value).collect()
            };
            let part = |values: &[f64]| {
                Moments::of(values).map(|of| (of.mean(), of.variance() / count(values.len())))
            };
            let (robust, rest) = (side(drawdowns, true), side(drawdowns, false));
            let t = part(&robust)
                .zip(part(&rest))
                .map(|((one, own), (other, others))| {
                    let error = (own + others).sqrt();
                    if 0.0 < error {
                        (one - other).abs() / error
                    } else {
                        0.0
                    }
                });
            let sides = !robust.is_empty() && !rest.is_empty();
            let from_middle: f64 = side(&ranks, true).iter().map(|rank| rank - middle).sum();
            [t, sides.then_some(from_middle.abs())]
        };
        THRESHOLDS.into_iter().flat_map(at).collect()
    }

    /// The p-value of a statistic beside all others.
    fn p(&self, column: usize) -> Option<f64> {
        let alone = self.alone.get(column).copied().flatten()?;
        let as_small = self.least.iter().filter(|least| **least <= alone + 1e-9).count();
        Some(count(as_small) / count(self.least.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alphas(drawdown: impl Fn(usize) -> f64) -> Vec<FigureRow> {
        let row = |place: usize| {
            let mut row = FigureRow::default();
            row.put("pfs", Ok(0.45 + 0.018 * count(place)));
            row.put("mdd", Ok(drawdown(place)));
            row
        };
        (0..30).map(row).collect()
    }

    #[test]
    fn one_p_of_all_thresholds_is_no_smaller_than_its_own_and_tells_what_is_there() {
        let unrelated = alphas(|place| 0.1 + 0.1 * count(place % 2) + 0.001 * count(place * 7 % 5));
        let planted = alphas(|place| 1.0 - 0.02 * count(place) + 0.1 * libm::sin(7.3 * count(place)));
        for (alphas, is_told) in [(unrelated, false), (planted, true)] {
            let found = robust_and_rest(alphas.iter());
            let told = found
                .iter()
                .filter(|row| row.row.get("u_p_all").is_some_and(|p| p <= 0.05))
                .count();
            assert_eq!(0 < told, is_told, "{found:?}");
            for row in &found {
                if let Some((alone, all)) = row.row.get("u_p").zip(row.row.get("u_p_all")) {
                    assert!(alone - 0.05 <= all && all <= 1.0, "{row:?}");
                }
            }
        }
        // None is robust: no test.
        assert_eq!(
            robust_and_rest(alphas(count).iter())[10].row.get("welch_p_all"),
            None
        );
    }
}
