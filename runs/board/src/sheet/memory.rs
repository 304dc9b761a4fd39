//! Memory gaps before, across and after each model's training cutoff.

use crate::record::{CutoffGap, GapTest, Leaderboard, MarketRegime};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

pub(crate) fn table(board: &Leaderboard) -> TableData {
    let mut table = TableData::new(
        "Memory gap by training cutoff: bright minus blinded, means over windows",
        [
            ("agent", Left, 0),
            ("cutoff", Left, 0),
            ("mode", Left, 0),
            ("blinded", Left, 0),
            ("is", Left, 1),
            ("side", Left, 0),
            ("windows", Right, 1),
            ("gap, total", Right, 0),
            ("95 % low", Right, 1),
            ("95 % high", Right, 1),
            ("p", Right, 1),
            ("gap, selection", Right, 0),
            ("selection, low", Right, 2),
            ("selection, high", Right, 2),
            ("selection, p", Right, 2),
            ("before - after", Right, 1),
            ("its p", Right, 1),
            ("markets", Left, 1),
        ],
    );
    table.rows.extend(board.cutoff_gaps.iter().map(row));
    if board.cutoff_gaps.is_empty() {
        table
            .notes
            .push("no agent with bright and blinded runs names a `cutoff`".to_owned());
    }
    table.notes.push(
        "before: the window ends by the cutoff's day; after: it begins later. A market is bull where the benchmark gains \
         5 % or more and at least its own largest drawdown, bear where it loses 5 % or more, else sideways; intervals: \
         Student's t; p: exact signed-rank test, at least 2 / 2^windows, over windows that share no day, none of one window; \
         before - after: its p is Mann and Whitney's, exact with at most eight windows on one side; is: memory where both show the same \
         numbers, signal and memory where the blinded ones are coarser"
            .to_owned(),
    );
    table
}

fn row(gap: &CutoffGap) -> Vec<TableCell> {
    let mut cells = vec![
        TableCell::Text(gap.agent.clone()),
        TableCell::Text(gap.cutoff.clone()),
        TableCell::Text(gap.mode.label().to_owned()),
        TableCell::Text(gap.numeric.label().to_owned()),
        TableCell::Text(gap.kind.label().to_owned()),
        TableCell::Text(gap.side.label().to_owned()),
        TableCell::Count(gap.windows.len()),
    ];
    cells.push(TableCell::Change(gap.mean.total_return));
    cells.extend(test_cells(gap.total_return));
    cells.push(TableCell::optional(gap.mean.selection, TableCell::Change));
    cells.extend(test_cells(gap.selection));
    let sides = gap.against_before;
    cells.push(TableCell::optional(
        sides.map(|sides| sides.difference),
        TableCell::Change,
    ));
    cells.push(TableCell::optional(sides.map(|sides| sides.p), TableCell::P));
    cells.push(TableCell::Text(markets(gap)));
    cells
}

fn test_cells(test: Option<GapTest>) -> [TableCell; 3] {
    let interval = test.map(|test| test.interval);
    [
        TableCell::optional(interval.map(|interval| interval.low), TableCell::Change),
        TableCell::optional(interval.map(|interval| interval.high), TableCell::Change),
        TableCell::optional(test.map(|test| test.p), TableCell::P),
    ]
}

/// How many windows were which market, such as `2 bull, 1 bear`.
fn markets(gap: &CutoffGap) -> String {
    let all = [MarketRegime::Bull, MarketRegime::Sideways, MarketRegime::Bear];
    let counted = all.iter().filter_map(|regime| {
        let of = gap.windows.iter().filter(|window| window.regime == Some(*regime));
        let count = of.count();
        (0 < count).then(|| format!("{count} {}", regime.label()))
    });
    counted.collect::<Vec<_>>().join(", ")
}
