//! Table 11: bright against blinded and the parts of that gap, paired over windows.

use super::CellForm;
use crate::record::{ContrastMetric, ContrastSides, Leaderboard};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

pub(super) fn table(board: &Leaderboard) -> TableData {
    let mut table = TableData::new(
        "Table 11: bright minus blinded, paired over windows (medians over seeds)".to_owned(),
        [
            ("agent", Left, 0),
            ("mode", Left, 0),
            ("arms", Left, 0),
            ("numbers", Left, 0),
            ("of", Left, 0),
            ("windows", Right, 4),
            ("shift", Right, 0),
            ("r", Right, 5),
            ("p", Right, 3),
            ("Holm p", Right, 0),
            ("least p", Right, 5),
            ("reading", Left, 1),
        ],
    );
    for contrast in &board.contrasts {
        table.rows.push(vec![
            TableCell::Text(contrast.agent.clone()),
            TableCell::Text(contrast.mode.label().to_owned()),
            TableCell::Text(contrast.sides.label().to_owned()),
            TableCell::Text(contrast.numbers()),
            TableCell::Text(contrast.metric.label().to_owned()),
            TableCell::Count(contrast.pairs.len()),
            TableCell::optional(contrast.shift, form(contrast.metric)),
            TableCell::optional(contrast.rank_biserial, TableCell::Ratio),
            TableCell::optional(contrast.p, TableCell::P),
            TableCell::optional(contrast.holm_p, TableCell::P),
            TableCell::P(contrast.least_p),
            TableCell::Text(contrast.reading.clone()),
        ]);
    }
    if board
        .contrasts
        .iter()
        .any(|contrast| contrast.sides != ContrastSides::BrightBlinded)
    {
        table.notes.push(
            "prompt-only: bright data under the text of blinded; bright - prompt-only is what the instruction takes away, \
             prompt-only - blinded what the mask does"
                .to_owned(),
        );
    }
    table.notes.push(
        "memory: both arms show numbers of one rung; signal and memory: the mask's numbers are coarser, and an agent that \
         remembers nothing loses with them"
            .to_owned(),
    );
    table.notes.push(
        "shift: Hodges-Lehmann; r: rank-biserial; p: two-sided signed-rank test, exact up to 60 pairs; windows that \
         overlap are not independent"
            .to_owned(),
    );
    table
}

/// How a shift is shown: shares in percent, and turnover as the number that it is.
fn form(metric: ContrastMetric) -> CellForm {
    match metric {
        ContrastMetric::TotalReturn | ContrastMetric::Selection | ContrastMetric::Abstention => {
            TableCell::Change
        }
        ContrastMetric::Turnover => TableCell::Ratio,
    }
}
