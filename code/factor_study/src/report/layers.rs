//! Columns of shares of tasks.

use ktd_factor_code::{Funnel, JudgeRule, LayersPassed, TaskRate};
use ktd_view::draw::Align::Right;
use ktd_view::draw::TableCell;
use ktd_view::row_table::RowTable;

/// Why a share of nothing is none.
const NO_TASK: &str = "no task";

pub(super) fn missing(reason: &str) -> TableCell {
    TableCell::Missing(reason.to_owned())
}

/// A share, which may be none of no task.
pub(super) fn share(share: Option<f64>) -> TableCell {
    share.map_or_else(|| missing(NO_TASK), TableCell::Percent)
}

/// The table with a share and its Wilson bounds.
pub(super) fn bounded<R: Copy>(table: RowTable<R>, head: &str, rate: impl Fn(R) -> TaskRate) -> RowTable<R> {
    table
        .column((head, Right), |row| share(rate(row).share()))
        .column(("low", Right), |row| {
            share(rate(row).interval().map(|found| found.lower))
        })
        .column(("high", Right), |row| {
            share(rate(row).interval().map(|found| found.upper))
        })
}

/// The table with the share of tasks that pass each layer.
pub(super) fn layers<'f, R: Copy>(
    table: RowTable<R>,
    of: impl Fn(R) -> (&'f Funnel, JudgeRule),
) -> RowTable<R> {
    LayersPassed::FUNNEL.into_iter().fold(table, |table, layer| {
        table.column((layer.name(), Right), |row| {
            let (funnel, rule) = of(row);
            share(funnel.rate(rule, layer).share())
        })
    })
}

/// The same with the bounds of each share.
pub(super) fn bounded_layers<'f, R: Copy>(
    table: RowTable<R>,
    of: impl Fn(R) -> (&'f Funnel, JudgeRule),
) -> RowTable<R> {
    LayersPassed::FUNNEL.into_iter().fold(table, |table, layer| {
        bounded(table, layer.name(), |row| {
            let (funnel, rule) = of(row);
            funnel.rate(rule, layer)
        })
    })
}
