//! What bundles came to, as a table.

use super::summary::FactorCodeSummary;
use ktd_factor_code::LayersPassed;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use serde_json::Value;

/// How many tasks pass each layer in each round, by bundle and rule.
#[must_use]
pub fn summary_table(summaries: &[&FactorCodeSummary]) -> TableData {
    let mut heads = vec![
        ("bundle", Left),
        ("round", Right),
        ("rule", Left),
        ("tasks", Right),
        ("uncovered", Right),
    ];
    heads.extend(LayersPassed::FUNNEL.map(|layer| (layer.name(), Right)));
    let mut rows = Vec::new();
    for summary in summaries {
        for round in &summary.rounds {
            let all = round.counts.get("all").unwrap_or(&Value::Null);
            let count = |value: Option<&Value>| {
                let count = value
                    .and_then(Value::as_u64)
                    .and_then(|count| usize::try_from(count).ok());
                count.map_or(TableCell::Empty, TableCell::Count)
            };
            for rule in ["published", "strict"] {
                let mut row = vec![
                    TableCell::Text(summary.cell.clone()),
                    TableCell::Text(round.round.to_string()),
                    TableCell::Text(rule.to_owned()),
                    count(all.get("tasks")),
                    count(all.get("uncovered")),
                ];
                let passed = all.get(rule);
                row.extend(
                    LayersPassed::FUNNEL
                        .map(|layer| count(passed.and_then(|passed| passed.get(layer.name())))),
                );
                rows.push(row);
            }
        }
    }
    TableData::new("Tasks that pass each layer", heads).with_rows(rows)
}
