//! The composite of an alpha: its mean place among the alphas of a report.

use ktd_stats::Undefined;
use ktd_stats::moments::{count, mean};

/// Percentiles from 0 to 100, ties averaged; `None` for an undefined value, and where no other is defined.
fn percentiles(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let percentile = |value: f64| {
        let below = present.iter().filter(|other| **other < value).count();
        let above = present.iter().filter(|other| value < **other).count();
        let ties = count(present.len() - below - above) - 1.0;
        100.0 * (count(below) + 0.5 * ties) / (count(present.len()) - 1.0)
    };
    let is_alone = present.len() < 2;
    values
        .iter()
        .map(|value| value.filter(|_| !is_alone).map(percentile))
        .collect()
}

/// The mean percentile of each alpha over its metrics: one column a metric, one value an alpha. An alpha with fewer than
/// two defined metrics has none.
#[must_use]
pub fn composite_scores(metrics: &[Vec<Option<f64>>]) -> Vec<Result<f64, Undefined>> {
    let columns: Vec<Vec<Option<f64>>> = metrics.iter().map(|values| percentiles(values)).collect();
    let alphas = metrics.iter().map(Vec::len).max().unwrap_or(0);
    let of_alpha = |alpha: usize| {
        let places: Vec<f64> = columns
            .iter()
            .filter_map(|column| column.get(alpha).copied().flatten())
            .collect();
        let few = Undefined::TooFew {
            items: "metrics",
            count: places.len(),
            need: 2,
        };
        mean(&places).filter(|_| 2 <= places.len()).ok_or(few)
    };
    (0..alphas).map(of_alpha).collect()
}
