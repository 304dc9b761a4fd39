//! Table 4: the ten metrics, with excess, alpha rank and delta rank; the price index beside them.

use super::{described, stat_cell};
use super::{force, rank_cell};
use crate::BoardMetric;
use crate::record::Track;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// How a number of a column is shown.
pub type CellForm = fn(f64) -> TableCell;

/// The ten metrics and the excess return: head, metric and form.
pub const METRICS: [(&str, BoardMetric, CellForm); 11] = [
    ("total", BoardMetric::TotalReturn, TableCell::Change),
    ("excess", BoardMetric::ExcessReturn, TableCell::Change),
    ("Sharpe", BoardMetric::SharpeRatio, TableCell::Ratio),
    ("drawdown", BoardMetric::MaxDrawdown, TableCell::Percent),
    ("IR", BoardMetric::InformationRatio, TableCell::Ratio),
    ("turnover", BoardMetric::Turnover, TableCell::Ratio),
    ("HHI", BoardMetric::Hhi, TableCell::Fine),
    ("cash", BoardMetric::CashRatio, TableCell::Percent),
    ("abstained", BoardMetric::Abstention, TableCell::Percent),
    ("parse fail", BoardMetric::ParseFailure, TableCell::Percent),
    ("ECE", BoardMetric::Ece, TableCell::Fine),
];

/// What stands beside them: two diagnostics, and the two figures against the price index, which leaves dividends out.
const BESIDE: [(&str, BoardMetric, CellForm); 4] = [
    ("rule breach", BoardMetric::RuleBreach, TableCell::Percent),
    ("tools ok", BoardMetric::ToolValidity, TableCell::Percent),
    (
        "excess, price index",
        BoardMetric::ExcessReturnPriceIndex,
        TableCell::Change,
    ),
    (
        "IR, price index",
        BoardMetric::InformationRatioPriceIndex,
        TableCell::Ratio,
    ),
];

pub(super) fn table(track: &Track) -> TableData {
    let figures = METRICS.iter().map(|(head, ..)| (*head, Right, 1));
    let beside = BESIDE.iter().map(|(head, ..)| (*head, Right, 3));
    let heads = [("agent", Left, 0), ("kind", Left, 3), ("force", Left, 4)]
        .into_iter()
        .chain(figures)
        .chain(beside)
        .chain([
            ("return-rk", Right, 2),
            ("alpha-rk", Right, 0),
            ("delta-rk", Right, 2),
        ]);
    let mut table = TableData::new(
        format!("Table 4, medians over seeds: {}", described(track)),
        heads,
    );
    for leader in &track.leaders {
        let mut row = vec![
            TableCell::Text(leader.agent.clone()),
            TableCell::Text(leader.cohort.label().to_owned()),
            force(leader),
        ];
        let figures = METRICS
            .iter()
            .chain(&BESIDE)
            .map(|(_, key, form)| stat_cell(leader.metrics.get(key), *form));
        row.extend(figures);
        row.push(rank_cell(leader, leader.return_rank));
        row.push(rank_cell(leader, leader.alpha_rank));
        row.push(leader.delta_rank.map_or(TableCell::Empty, TableCell::Signed));
        table.rows.push(row);
    }
    table.notes.push(format!(
        "excess and IR are against {}; the price index leaves dividends out, and its weights are its own",
        track.benchmark_name
    ));
    table.notes.push(
        "delta-rk = return-rk - alpha-rk: above 0 is better judged by skill; parse failures compare within one force \
         level, and are of unreadable form alone: a rule broken after all retries is a rule breach"
            .to_owned(),
    );
    table
}
