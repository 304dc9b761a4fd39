//! The ten metrics over seeds: medians and quartiles.

use super::{METRICS, described, metric_cell};
use crate::BoardMetric;
use crate::record::{LeaderboardRow, Track};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// What the figures of a table of seeds are.
const NOTE: &str = "quartiles are of type 7, and of more than one seed alone; with fewer than five seeds look at the \
                    values in leaderboard.json";

/// One row an agent and metric.
pub(super) fn table(track: &Track) -> TableData {
    let heads = [
        ("agent", Left, 0),
        ("metric", Left, 0),
        ("seeds", Right, 1),
        ("median", Right, 0),
        ("lower quartile", Right, 0),
        ("upper quartile", Right, 0),
    ];
    let mut table = TableData::new(format!("Over seeds: {}", described(track)), heads);
    for leader in played(track) {
        for (head, key, form) in METRICS {
            let Some(stat) = leader.metrics.get(&key) else {
                continue;
            };
            let quartile =
                |of: fn(&crate::Bounds) -> f64| TableCell::optional(stat.quartiles.as_ref().map(of), form);
            table.rows.push(vec![
                TableCell::Text(leader.agent.clone()),
                TableCell::Text(head.to_owned()),
                TableCell::Count(stat.values.len()),
                metric_cell(&stat.median, form),
                quartile(|bounds| bounds.low),
                quartile(|bounds| bounds.high),
            ]);
        }
    }
    table.notes.push(NOTE.to_owned());
    table.notes.extend(fees_note(track));
    table.notes.extend(dividend_notes(track));
    table
}

/// What trades cost, and what they would have under the schedule of fees that the rules do not name.
fn fees_note(track: &Track) -> Option<String> {
    let costs = played(track).filter_map(|leader| {
        let paid = median(leader, BoardMetric::FeeDrag).filter(|paid| 0.0 < *paid)?;
        let other = median(leader, BoardMetric::FeeDragOtherSchedule)?;
        Some(format!(
            "{} {:.2} % and {:.2} %",
            leader.agent,
            paid * 100.0,
            other * 100.0
        ))
    });
    let costs: Vec<String> = costs.collect();
    (!costs.is_empty()).then(|| {
        format!(
            "fees over the initial cash, paid and under the other schedule (`paper` and `dated`): {}",
            costs.join(", ")
        )
    })
}

/// What the tax on dividends took, and what it could have been at most where it is not taken.
fn dividend_notes(track: &Track) -> impl Iterator<Item = String> {
    let told = [
        (BoardMetric::DividendTax, "tax on dividends over the initial cash"),
        (
            BoardMetric::DividendTaxAtMost,
            "dividends are not taxed; over the initial cash the tax would be at most a fifth of what ex-days took off prices",
        ),
    ];
    told.into_iter().filter_map(|(key, what)| {
        let of = |leader: &LeaderboardRow| {
            let tax = median(leader, key).filter(|tax| 0.0 < *tax)?;
            Some(format!("{} {:.2} %", leader.agent, tax * 100.0))
        };
        let taxes: Vec<String> = played(track).filter_map(of).collect();
        (!taxes.is_empty()).then(|| format!("{what}: {}", taxes.join(", ")))
    })
}

fn median(leader: &LeaderboardRow, key: BoardMetric) -> Option<f64> {
    leader.metrics.get(&key)?.median.value
}

/// The same as a page shows it: one row an agent, `median [lower quartile, upper quartile]` in each cell.
pub(crate) fn on_page(track: &Track) -> TableData {
    let heads = METRICS.iter().map(|(head, ..)| (*head, Right));
    let heads = [("agent", Left), ("seeds", Right)].into_iter().chain(heads);
    let rows = played(track).map(|leader| {
        let agent = [
            TableCell::Text(leader.agent.clone()),
            TableCell::Count(leader.seeds.len()),
        ];
        let figures = METRICS.iter().map(|(_, key, form)| {
            let Some(stat) = leader.metrics.get(key) else {
                return TableCell::Empty;
            };
            let median = metric_cell(&stat.median, *form);
            match stat.quartiles {
                Some(quartiles) => {
                    let shown = [quartiles.low, quartiles.high].map(|value| form(value).on_page());
                    TableCell::Text(format!("{} [{}]", median.on_page(), shown.join(", ")))
                }
                None => median,
            }
        });
        agent.into_iter().chain(figures).collect()
    });
    TableData::new("Over seeds: median [lower quartile, upper quartile]", heads)
        .with_rows(rows)
        .with_note(NOTE)
}

/// Rows that have seeds: references have none.
fn played(track: &Track) -> impl Iterator<Item = &LeaderboardRow> {
    track.leaders.iter().filter(|leader| !leader.seeds.is_empty())
}
