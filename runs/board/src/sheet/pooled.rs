//! Ranks over several windows together, and what each agent selected in each of them.

use super::PER_PAIR;
use crate::record::{PooledRanking, PooledRow};
use ktd_experiment::pooled_days::LEAST_OWN_DAYS;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Column, TableCell, TableData};

/// The table of a board whose windows cannot be pooled.
pub(super) fn none() -> TableData {
    TableData::new("Pooled over windows", [("agent", Left)]).with_note(
        "there is no pooled ranking: this mask and mode does not have two windows with days of their own",
    )
}

/// The ranks.
pub(crate) fn ranks(pooled: &PooledRanking) -> TableData {
    let heads = [
        ("rank", Right, 0),
        ("95 %", Left, 1),
        ("tied with", Left, 2),
        ("agent", Left, 0),
        ("kind", Left, 4),
        ("bp a day", Right, 0),
        ("low", Right, 1),
        ("high", Right, 1),
        ("first in", Right, 3),
    ];
    let mut table = TableData::new(format!("Pooled over windows: {}", described(pooled)), heads)
        .with_rows(pooled.rows.iter().map(|row| rank_row(row, pooled)));
    table.notes = notes(pooled);
    table
}

/// Each window by itself.
pub(crate) fn windows(pooled: &PooledRanking) -> TableData {
    let heads = [Column::new("rank", Right), Column::new("agent", Left)];
    let windows = pooled.windows.iter();
    let heads = heads
        .into_iter()
        .chain(windows.map(|span| Column::new(span.window.clone(), Right)));
    let rows = pooled.rows.iter().map(|row| {
        let cells = row
            .by_window
            .iter()
            .map(|value| TableCell::optional(*value, points));
        [rank(row), TableCell::Text(row.agent.clone())]
            .into_iter()
            .chain(cells)
            .collect()
    });
    TableData::new(
        format!("Selection by window, basis points a day: {}", described(pooled)),
        heads,
    )
    .with_rows(rows)
}

/// A share a day in basis points.
pub(crate) const fn points(value: f64) -> TableCell {
    TableCell::Ratio(value * 1e4)
}

pub(super) fn described(pooled: &PooledRanking) -> String {
    let days: usize = pooled.windows.iter().map(|window| window.days).sum();
    format!(
        "{} windows, {days} days, {}/{}, {}",
        pooled.windows.len(),
        pooled.level_label(),
        pooled.numeric.label(),
        pooled.mode.label()
    )
}

pub(super) fn rank(row: &PooledRow) -> TableCell {
    let missing = || {
        TableCell::Missing(if row.missing.is_empty() {
            "nothing is concluded of it: too few days of trading or independent decisions, or a run that is not whole".to_owned()
        } else {
            format!("missing {}", row.missing.join(", "))
        })
    };
    row.rank.map_or_else(missing, TableCell::Count)
}

fn rank_row(row: &PooledRow, pooled: &PooledRanking) -> Vec<TableCell> {
    vec![
        rank(row),
        row.rank_interval.map_or(TableCell::Empty, |rank| {
            TableCell::Text(format!("{}-{}", rank.low, rank.high))
        }),
        TableCell::Text(tied(row, pooled)),
        TableCell::Text(row.agent.clone()),
        TableCell::Text(row.cohort.label().to_owned()),
        TableCell::optional(row.selection_a_day, points),
        TableCell::optional(row.interval.map(|bounds| bounds.low), points),
        TableCell::optional(row.interval.map(|bounds| bounds.high), points),
        TableCell::optional(row.first_share, TableCell::Percent),
    ]
}

/// The ranks of those from whom an agent cannot be separated.
fn tied(row: &PooledRow, pooled: &PooledRanking) -> String {
    let ranks = || {
        let separation = pooled.separation.as_ref()?;
        let own = separation.agents.iter().position(|agent| *agent == row.agent)?;
        let others = separation.agents.iter().zip(separation.open.get(own)?);
        let open = others.filter(|(_, is_open)| **is_open);
        let rank = |agent: &String| pooled.rows.iter().find(|row| row.agent == *agent)?.rank;
        let ranks = open
            .filter_map(|(agent, _)| rank(agent))
            .map(|rank| rank.to_string());
        Some(ranks.collect::<Vec<_>>().join(","))
    };
    ranks().unwrap_or_default()
}

fn notes(pooled: &PooledRanking) -> Vec<String> {
    let mut notes = vec![
        "basis points a day, a mean over windows that weigh the same; intervals are Student's over windows"
            .to_owned(),
        PER_PAIR.to_owned(),
    ];
    let whole = |row: &&PooledRow| row.rank.is_none() && row.missing.is_empty();
    let few: Vec<&str> = pooled
        .rows
        .iter()
        .filter(whole)
        .map(|row| row.agent.as_str())
        .collect();
    if !few.is_empty() {
        notes.push(format!(
            "too few days of trading or independent decisions over all windows, so that nothing is concluded: {}",
            few.join(", ")
        ));
    }
    let shared = pooled.windows.iter().filter(|window| 0 < window.counted_before);
    let shared: Vec<String> = shared
        .map(|window| format!("{} {}", window.window, window.counted_before))
        .collect();
    if !shared.is_empty() {
        notes.push(format!(
            "days that windows share count once, in the window that ends first; not counted again: {}",
            shared.join(", ")
        ));
    }
    if !pooled.left_out.is_empty() {
        notes.push(format!(
            "not pooled, for fewer than {LEAST_OWN_DAYS} of their days are in no window that ends before: {}",
            pooled.left_out.join(", ")
        ));
    }
    let turned = pooled.separation.iter().flat_map(|separation| &separation.turned);
    let turned: Vec<String> = turned
        .map(|pair| format!("{} and {} ({})", pair.above, pair.below, pair.settings.join(", ")))
        .collect();
    if !turned.is_empty() {
        notes.push(format!(
            "not separable, for a setting of the declared family turns them: {}",
            turned.join("; ")
        ));
    }
    notes
}
