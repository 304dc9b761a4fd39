//! Table 8: mean exposures to the styles, by agent and cohort.

use super::described;
use crate::record::{Cohort, Leaderboard, Track};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

pub(super) fn table(board: &Leaderboard, track: &Track) -> TableData {
    let styles = board.model.styles.iter().map(|style| (style.as_str(), Right, 1));
    let heads = [("agent", Left, 0), ("kind", Left, 2)].into_iter().chain(styles);
    let mut table = TableData::new(
        format!("Table 8, mean exposures over invested days: {}", described(track)),
        heads,
    );
    for leader in track.leaders.iter().filter(|leader| !leader.exposures.is_empty()) {
        let mut row = vec![
            TableCell::Text(leader.agent.clone()),
            TableCell::Text(leader.cohort.label().to_owned()),
        ];
        row.extend(leader.exposures.iter().copied().map(TableCell::Ratio));
        table.rows.push(row);
    }
    for kind in Cohort::RANKED {
        if let Some(mean) = mean_exposures(track, kind) {
            let mut row = vec![
                TableCell::Text(format!("mean of {}", kind.label())),
                TableCell::Text(kind.label().to_owned()),
            ];
            row.extend(mean.into_iter().map(TableCell::Ratio));
            table.rows.push(row);
        }
    }
    table.notes.push(
        "z-scores weighted by shares of NAV, so cash counts as 0; means over agents of means over seeds"
            .to_owned(),
    );
    table
}

#[expect(clippy::cast_precision_loss, reason = "agents are few")]
fn mean_exposures(track: &Track, kind: Cohort) -> Option<Vec<f64>> {
    let mut rows = track
        .leaders
        .iter()
        .filter(|leader| leader.cohort == kind && !leader.exposures.is_empty())
        .map(|leader| &leader.exposures);
    let mut sums = rows.next()?.clone();
    let mut count = 1_usize;
    for row in rows {
        count += 1;
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    Some(sums.into_iter().map(|sum| sum / count as f64).collect())
}
