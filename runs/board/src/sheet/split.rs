//! Table 5: where the return came from.

use super::described;
use crate::record::{Leaderboard, LeaderboardRow, Track, UNSPLIT};
use ktd_attribution::account::WeightBasis;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// The least share that a table shows as other than nothing.
const LEAST_SHOWN: f64 = 0.000_05;

pub(super) fn table(board: &Leaderboard, track: &Track, basis: WeightBasis) -> TableData {
    let mut table = empty(board, track, basis);
    for leader in &track.leaders {
        let Some(contribution) = leader.attribution.as_ref().map(|bases| bases.get(basis)) else {
            let reason = leader
                .unattributed_reason
                .clone()
                .unwrap_or_else(|| "not attributed".to_owned());
            let mut row = vec![TableCell::Text(leader.agent.clone()), TableCell::Missing(reason)];
            row.resize(table.columns.len(), TableCell::Empty);
            table.rows.push(row);
            continue;
        };
        let linked = &contribution.carino;
        let unsplit = || TableCell::Missing(UNSPLIT.to_owned());
        let split = |part: Option<f64>| part.map_or_else(unsplit, TableCell::Change);
        let mut row = vec![TableCell::Text(leader.agent.clone())];
        row.extend([linked.common, linked.style, linked.selection].map(split));
        row.extend(
            [
                linked.execution,
                linked.slip,
                linked.cost,
                linked.corporate,
                linked.unattributed,
                linked.portfolio,
            ]
            .map(TableCell::Change),
        );
        let gauge = linked.gauge.abs().max(contribution.daily_gauge);
        row.push(TableCell::Worded(gauge, format!("{gauge:.0e}")));
        let beside = [
            linked.market_timing,
            linked.style_timing,
            linked.selection_sector,
            linked.selection_fitted,
        ];
        row.extend(beside.map(split));
        row.extend((0..board.model.styles.len()).map(|style| split(linked.styles.get(style).copied())));
        table.rows.push(row);
    }
    table.notes.push(meaning(basis).to_owned());
    table.notes.push(
        "market and style timing: of common and of style, what was earned by when they were held, exposures less their means times \
         factor returns"
            .to_owned(),
    );
    table.notes.push(
        "of which sector: what the other names of each holding's sector selected on the mean, a part of selection; 0 where the \
         panel has no sectors"
            .to_owned(),
    );
    table.notes.push(
        "selection is of each name by factor returns without it; by the regression's own residuals it is the fitted one, and the \
         difference stands in common and styles"
            .to_owned(),
    );
    table
}

/// The table without rows.
fn empty(board: &Leaderboard, track: &Track, basis: WeightBasis) -> TableData {
    let is_unattributed = |leader: &LeaderboardRow| {
        let bases = leader.attribution.as_ref();
        bases.is_some_and(|bases| LEAST_SHOWN <= bases.get(basis).carino.unattributed.abs())
    };
    let parts = [
        ("common", 1),
        ("style", 1),
        ("selection", 0),
        ("execution", 2),
        ("slip", 2),
        ("cost", 0),
        ("rounding", 3),
        // What was not split stands wherever selection stands.
        (
            "unattributed",
            if track.leaders.iter().any(is_unattributed) {
                0
            } else {
                2
            },
        ),
    ];
    let parts = parts.map(|(part, priority)| (part, Right, priority));
    let styles = board.model.styles.iter().map(|style| (style.as_str(), Right, 3));
    let heads = [("agent", Left, 0)]
        .into_iter()
        .chain(parts)
        .chain([
            ("portfolio", Right, 0),
            ("closes to", Right, 2),
            ("market timing", Right, 2),
            ("style timing", Right, 2),
            ("of which sector", Right, 2),
            ("fitted selection", Right, 2),
        ])
        .chain(styles);
    TableData::new(
        format!(
            "Table 5, basis {}, linked (Carino), means over seeds: {}",
            basis.label(),
            described(track)
        ),
        heads,
    )
}

/// What a basis says, in words.
const fn meaning(basis: WeightBasis) -> &'static str {
    match basis {
        WeightBasis::Pre => {
            "weights before the day's trades; execution is what they earned from the open to the close"
        }
        WeightBasis::Post => {
            "weights after the day's trades; execution is what they missed from the mark to the open"
        }
        WeightBasis::Two => {
            "overnight on weights before, intraday on weights after the day's trades: nothing is execution"
        }
    }
}
