//! The published rule at other thresholds, from stored figures alone.

use super::bundles::ReportedBundle;
use super::files::ReportTable;
use super::rates::{missing, share, text};
use crate::error::CodeError;
use ktd_factor_code::{AccuracyRules, TaskRate, threshold_sweep};
use ktd_stats::spearman;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Table 6.
pub(super) fn table(bundles: &[ReportedBundle]) -> Result<ReportTable, CodeError> {
    let heads = [
        ("least correlation", Right),
        ("largest error", Right),
        ("bundle", Left),
        ("VAcc, published", Right),
        ("Spearman of ranks to the default", Right),
    ];
    let sweeps: Vec<Vec<(AccuracyRules, TaskRate)>> = bundles
        .iter()
        .map(|reported| threshold_sweep(&reported.last()))
        .collect();
    let settings = sweeps.first().map_or(0, Vec::len);
    let at = |place: usize| -> Vec<(AccuracyRules, TaskRate)> {
        sweeps
            .iter()
            .filter_map(|sweep| sweep.get(place))
            .copied()
            .collect()
    };
    let shares = |row: &[(AccuracyRules, TaskRate)]| -> Option<Vec<f64>> {
        row.iter().map(|(_, rate)| rate.share()).collect()
    };
    let is_default = |rules: &AccuracyRules| {
        let default = AccuracyRules::DEFAULT;
        [
            (rules.correlation, default.correlation),
            (rules.error, default.error),
        ]
        .iter()
        .all(|(one, other)| (one - other).abs() < f64::EPSILON)
    };
    let default = (0..settings)
        .map(at)
        .find(|row| row.first().is_some_and(|(rules, _)| is_default(rules)))
        .and_then(|row| shares(&row));
    let mut rows = Vec::new();
    for place in 0..settings {
        let row = at(place);
        let ranks = match (&default, shares(&row)) {
            (Some(default), Some(here)) if 2 < here.len() => {
                spearman(default, &here).map_err(CodeError::invalid)?
            }
            _ => None,
        };
        for ((rules, rate), reported) in row.iter().zip(bundles) {
            rows.push(vec![
                TableCell::Text(rules.correlation.to_string()),
                TableCell::Text(rules.error.to_string()),
                text(reported.name()),
                share(*rate),
                ranks.map_or_else(
                    || missing("fewer than three bundles, or all are tied"),
                    TableCell::Fine,
                ),
            ]);
        }
    }
    let data = TableData::new("T6. The published rule at other thresholds", heads).with_rows(rows);
    Ok(ReportTable::new("T6_thresholds", data))
}
