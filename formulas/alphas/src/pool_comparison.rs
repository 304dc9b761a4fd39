//! Pools against each other by their alphas' places, and robust alphas against the rest.

use crate::composite::percentiles;
use crate::figure_row::FigureRow;
use ktd_stats::moments::mean;
use ktd_stats::{mann_whitney, welch_test};

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
    pub const FIGURES: [&str; 7] = [
        "mdd_robust",
        "mdd_rest",
        "welch_t",
        "welch_df",
        "welch_p",
        "u",
        "u_p",
    ];
}

/// Least robustness of a robust alpha.
const THRESHOLDS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

/// Drawdowns of robust alphas against those of the rest, by the least robustness.
#[must_use]
pub fn robust_and_rest<'r>(alphas: impl Iterator<Item = &'r FigureRow>) -> Vec<RobustAlphas> {
    let point = |row: &FigureRow| Some((row.get("pfs")?, row.get("mdd")?));
    let points: Vec<(f64, f64)> = alphas.filter_map(point).collect();
    let compared = |least: f64| {
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
        RobustAlphas {
            least,
            robust: robust.len(),
            rest: rest.len(),
            row,
        }
    };
    THRESHOLDS.into_iter().map(compared).collect()
}
