//! Table 3: decision mode by mask.

use super::{CellForm, metric_cell};
use crate::BoardMetric;
use crate::record::{Cohort, Leaderboard, LeaderboardRow};
use ktd_bundle::summary::Metric;
use ktd_experiment::mask_arm::{MaskInstruction, arm_label};
use ktd_masking::{Level, Mode};
use ktd_stats::{Sample, median};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use std::collections::BTreeMap;

const COLUMNS: [(&str, BoardMetric, CellForm); 7] = [
    ("return", BoardMetric::TotalReturn, TableCell::Change),
    ("excess", BoardMetric::ExcessReturn, TableCell::Change),
    ("abstained", BoardMetric::Abstention, TableCell::Percent),
    ("turnover", BoardMetric::Turnover, TableCell::Ratio),
    ("cash", BoardMetric::CashRatio, TableCell::Percent),
    ("parse fail", BoardMetric::ParseFailure, TableCell::Percent),
    ("ECE", BoardMetric::Ece, TableCell::Fine),
];

/// Mode, mask and cohort; the order of the modes and levels is that of information.
type Key = (Mode, Level, Option<MaskInstruction>, &'static str, Cohort);

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
    .chain([("bp a day", Right, 0)]);
    let mut table = TableData::new(
        "Table 3: decision mode by mask, medians over agents and windows",
        heads,
    );
    let mut groups: BTreeMap<Key, Vec<&LeaderboardRow>> = BTreeMap::new();
    for track in &board.tracks {
        for leader in &track.leaders {
            if !leader.cohort.is_ranked() {
                continue;
            }
            let key = (
                track.mode,
                track.level,
                track.instruction,
                track.numeric.label(),
                leader.cohort,
            );
            groups.entry(key).or_default().push(leader);
        }
    }
    for ((mode, level, instruction, numeric, kind), leaders) in groups {
        let mut row = vec![
            TableCell::Text(mode.label().to_owned()),
            TableCell::Text(format!("{}/{numeric}", arm_label(level, instruction))),
            TableCell::Text(kind.label().to_owned()),
            TableCell::Count(leaders.iter().map(|leader| leader.seeds.len()).sum()),
        ];
        for (_, key, form) in COLUMNS {
            let values = leaders
                .iter()
                .filter_map(|leader| leader.metrics.get(&key)?.median.value);
            row.push(middle(&values.collect::<Vec<_>>(), form));
        }
        let selections = leaders
            .iter()
            .filter_map(|leader| Some(leader.selection.as_ref()?.a_day));
        row.push(middle(&selections.collect::<Vec<_>>(), super::points));
        table.rows.push(row);
    }
    table
}

fn middle(values: &[f64], form: CellForm) -> TableCell {
    let middle = Sample::new("agents", values)
        .ok()
        .map(|sample| Metric::of(median(&sample)));
    middle.map_or(TableCell::Empty, |metric| metric_cell(&metric, form))
}
