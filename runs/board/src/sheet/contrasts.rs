//! Table 11: bright against blinded, paired over windows.

use crate::record::Leaderboard;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Cell, TableData};

pub(super) fn table(board: &Leaderboard) -> TableData {
    let mut table = TableData::new(
        "Table 11: bright minus blinded, paired over windows (medians over seeds)".to_owned(),
        [
            ("agent", Left, 0),
            ("mode", Left, 5),
            ("blinded", Left, 1),
            ("of", Left, 0),
            ("windows", Right, 3),
            ("shift", Right, 0),
            ("r", Right, 4),
            ("p", Right, 2),
            ("Holm p", Right, 0),
            ("least p", Right, 5),
            ("reading", Left, 3),
        ],
    );
    for contrast in &board.contrasts {
        table.rows.push(vec![
            Cell::Text(contrast.agent.clone()),
            Cell::Text(contrast.mode.label().to_owned()),
            Cell::Text(contrast.numeric.label().to_owned()),
            Cell::Text(contrast.metric.label().to_owned()),
            Cell::Count(contrast.pairs.len()),
            Cell::optional(contrast.shift, Cell::Change),
            Cell::optional(contrast.rank_biserial, Cell::Ratio),
            Cell::optional(contrast.p, Cell::P),
            Cell::optional(contrast.holm_p, Cell::P),
            Cell::P(contrast.least_p),
            Cell::Text(contrast.reading.clone()),
        ]);
    }
    table.notes.push(
        "shift: Hodges-Lehmann; r: rank-biserial; p: two-sided signed-rank test, exact up to 60 pairs; windows that \
         overlap are not independent"
            .to_owned(),
    );
    table
}
