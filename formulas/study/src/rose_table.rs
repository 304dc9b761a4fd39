//! Mean percentiles of pools: what a rose is drawn from.

use crate::alpha_report::AlphaReport;
use ktd_alphas::percentiles;
use ktd_stats::moments::mean;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// The corners of a rose; of turnover and drawdown the least is the best.
pub(crate) const ROSE_FIGURES: [(&str, &str); 6] = [
    ("pps", "PPS"),
    ("rre", "RRE"),
    ("pfs", "PFS"),
    ("sr", "SR"),
    ("mdd", "small MDD"),
    ("turnover", "low turnover"),
];

/// The mean percentile of a pool's alphas among all of a split, by corner.
pub(crate) fn rose_points(report: &AlphaReport, split: &str, pool: &str) -> Vec<Option<f64>> {
    let rows: Vec<_> = report.alphas.iter().filter(|row| row.split == split).collect();
    let of_figure = |(name, _): (&str, &str)| {
        let sign = if matches!(name, "mdd" | "turnover") {
            -1.0
        } else {
            1.0
        };
        let values: Vec<Option<f64>> = rows
            .iter()
            .map(|row| row.row.get(name).map(|value| sign * value))
            .collect();
        let of_pool = percentiles(&values)
            .into_iter()
            .zip(&rows)
            .filter(|(_, row)| row.pool == pool);
        mean(
            &of_pool
                .filter_map(|(percentile, _)| percentile)
                .collect::<Vec<f64>>(),
        )
    };
    ROSE_FIGURES.into_iter().map(of_figure).collect()
}

/// Mean percentiles of each pool's alphas among all of a split.
#[must_use]
pub fn rose_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "pool"].map(|head| (head, Left)).into_iter();
    let heads = heads.chain(ROSE_FIGURES.map(|(_, head)| (head, Right)));
    let rows = report.splits.iter().flat_map(|split| {
        report.pool_names().into_iter().map(|pool| {
            let points = rose_points(report, &split.split, &pool);
            let mut row = vec![TableCell::Text(split.split.clone()), TableCell::Text(pool)];
            row.extend(
                points
                    .into_iter()
                    .map(|point| TableCell::optional(point, TableCell::Ratio)),
            );
            row
        })
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    TableData::new(
        "mean percentiles of a pool's alphas among all alphas of a split",
        heads,
    )
    .with_rows(rows)
}
