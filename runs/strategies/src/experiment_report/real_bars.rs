//! T9: what strategies earn on real bars. No experiment has run there yet, and no figure stands in for one: [`real_figure`]
//! is where each will come in.

use super::cells::{missing, text};
use super::material::StrategyReport;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use ktd_view::report_table::ReportTable;

/// Figures of D4, in the order of the table.
const FIGURES: [&str; 9] = [
    "total return",
    "Sharpe",
    "deepest drawdown",
    "trades",
    "win rate",
    "turnover",
    "break-even bps",
    "profit at close",
    "profit at next open",
];

/// A figure of real bars: none, and why.
pub(super) fn real_figure() -> TableCell {
    missing("not run: no strategy was run on real bars")
}

/// T9: figures of D4 with costs and fills, by model.
pub(super) fn figures(report: &StrategyReport) -> ReportTable {
    let mut heads = vec![("model", Left)];
    heads.extend(FIGURES.map(|figure| (figure, Right)));
    let rows = report.models().into_iter().map(|model| {
        let mut row = vec![text(model)];
        row.extend(FIGURES.map(|_| real_figure()));
        row
    });
    let data = TableData::new("T9. Real bars: figures, costs, fills", heads).with_rows(rows);
    ReportTable::new("T9_real_bars", data)
}
