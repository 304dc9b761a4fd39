//! Table 11: bright against blinded, paired over windows.

use super::{Cell, Sheet};
use crate::record::Board;
use ktd_view::table::Align::{Left, Right};

pub(super) fn sheet(board: &Board) -> Sheet {
    let mut sheet = Sheet::new(
        "Table 11: bright minus blinded, paired over windows (medians over seeds)".to_owned(),
        &[
            ("agent", Left),
            ("mode", Left),
            ("blinded", Left),
            ("of", Left),
            ("windows", Right),
            ("shift", Right),
            ("r", Right),
            ("p", Right),
            ("Holm p", Right),
            ("least p", Right),
            ("reading", Left),
        ],
    );
    for contrast in &board.contrasts {
        sheet.rows.push(vec![
            Cell::Text(contrast.agent.clone()),
            Cell::Text(contrast.mode.clone()),
            Cell::Text(contrast.numeric.clone()),
            Cell::Text(contrast.metric.clone()),
            Cell::Count(contrast.pairs.len()),
            Cell::optional(contrast.shift, Cell::Change),
            Cell::optional(contrast.rank_biserial, Cell::Ratio),
            Cell::optional(contrast.p, Cell::P),
            Cell::optional(contrast.holm_p, Cell::P),
            Cell::P(contrast.least_p),
            Cell::Text(contrast.reading.clone()),
        ]);
    }
    sheet.notes.push(
        "shift: Hodges-Lehmann; r: rank-biserial; p: two-sided signed-rank test, exact up to 60 pairs; windows that \
         overlap are not independent"
            .to_owned(),
    );
    sheet
}
