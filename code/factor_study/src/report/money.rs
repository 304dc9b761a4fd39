//! Tables of tokens and money.

use super::cells::ReportedCell;
use super::layers::missing;
use crate::run::{FIRST_ROUND, RoundSpending};
use ktd_experiment::amount::Picodollars;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

pub(super) const NO_PRICE: &str = "the model has no price";

/// Table 11: what a bundle cost.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> TableData {
    let spent = cells.iter().map(|cell| {
        let spending = &cell.found.spending;
        (cell, RoundSpending::of(0, spending), spending.total())
    });
    let each = |total: Option<Picodollars>, tasks: u64| match (total, tasks) {
        (None, _) => missing(NO_PRICE),
        (Some(_), 0) => missing("no such task"),
        (Some(amount), tasks) => TableCell::Dollars(Picodollars(amount.0 / tasks).to_usd()),
    };
    RowTable::new("T11. Tokens and money, of all rounds", spent)
        .text("bundle", |(cell, ..)| cell.name())
        .count("requests", |(_, spent, _)| spent.requests)
        .count("tokens in", |(_, spent, _)| spent.tokens_in)
        .count("tokens out", |(_, spent, _)| spent.tokens_out)
        .column(("cost", Right), |(.., total)| {
            total.map_or_else(|| missing(NO_PRICE), |amount| TableCell::Dollars(amount.to_usd()))
        })
        .column(("a task", Right), |(cell, _, total)| {
            each(total, cell.funnel().tasks)
        })
        .column(("a verified answer", Right), |(cell, _, total)| {
            let last = cell.rounds().last().unwrap_or(FIRST_ROUND);
            each(total, cell.verified_after(last).passed)
        })
        .table()
}
