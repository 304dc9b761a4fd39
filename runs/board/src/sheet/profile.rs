//! Table 3: decision mode by mask.

use super::ranking::cohort;
use super::{CellForm, metric_cell};
use crate::record::{Cohort, Leaderboard, LeaderboardRow};
use ktd_bundle::summary::Metric;
use ktd_stats::{Sample, median};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Cell, TableData};
use std::collections::BTreeMap;

const COLUMNS: [(&str, &str, CellForm); 7] = [
    ("return", "total_return", Cell::Change),
    ("excess", "excess_return", Cell::Change),
    ("abstained", "abstention", Cell::Percent),
    ("turnover", "turnover", Cell::Ratio),
    ("cash", "cash_ratio", Cell::Percent),
    ("parse fail", "parse_failure", Cell::Percent),
    ("ECE", "ece", Cell::Fine),
];

/// Mode, mask and cohort; the order of the modes and masks is that of information.
type Key = (usize, usize, String, Cohort);

pub(super) fn table(board: &Leaderboard) -> TableData {
    let figures = COLUMNS.iter().map(|(head, ..)| (*head, Right, 1));
    let heads = [
        ("mode", Left, 0),
        ("mask", Left, 0),
        ("kind", Left, 0),
        ("cells", Right, 1),
    ]
    .into_iter()
    .chain(figures)
    .chain([("selection", Right, 0)]);
    let mut table = TableData::new(
        "Table 3: decision mode by mask, medians over agents and windows",
        heads,
    );
    let mut groups: BTreeMap<Key, (String, String, Vec<&LeaderboardRow>)> = BTreeMap::new();
    for track in &board.tracks {
        for leader in &track.leaders {
            if !matches!(leader.cohort, Cohort::Model | Cohort::Builtin) {
                continue;
            }
            let place = |all: &[&str], own: &str| all.iter().position(|one| *one == own).unwrap_or(all.len());
            let mode = place(&["memory-only", "fixed-candidate", "open-research"], &track.mode);
            let level = place(&["bright", "stock-blind", "date-blind", "blinded"], &track.level);
            let mask = format!("{}/{}", track.level, track.numeric);
            let group = groups
                .entry((mode, level, track.numeric.clone(), leader.cohort))
                .or_insert_with(|| (track.mode.clone(), mask, Vec::new()));
            group.2.push(leader);
        }
    }
    for ((.., kind), (mode, mask, leaders)) in groups {
        let mut row = vec![
            Cell::Text(mode),
            Cell::Text(mask),
            Cell::Text(cohort(kind).to_owned()),
            Cell::Count(leaders.iter().map(|leader| leader.seeds.len()).sum()),
        ];
        for (_, key, form) in COLUMNS {
            let values = leaders
                .iter()
                .filter_map(|leader| leader.metrics.get(key)?.median.value);
            row.push(middle(&values.collect::<Vec<_>>(), form));
        }
        let selections = leaders
            .iter()
            .filter_map(|leader| Some(leader.selection.as_ref()?.value));
        row.push(middle(&selections.collect::<Vec<_>>(), Cell::Change));
        table.rows.push(row);
    }
    table
}

fn middle(values: &[f64], form: CellForm) -> Cell {
    let middle = Sample::new("agents", values)
        .ok()
        .map(|sample| Metric::of(median(&sample)));
    middle.map_or(Cell::Empty, |metric| metric_cell(&metric, form))
}
