//! Columns of shares of tasks.

use ktd_factor_code::{FamilyRate, Funnel, JudgeRule, LayersPassed};
use ktd_stats::Interval;
use ktd_view::draw::Align::Right;
use ktd_view::draw::TableCell;
use ktd_view::row_table::RowTable;

/// How often the interval of a share is wrong.
pub(super) const INTERVAL_NOTE: &str =
    "low and high: 95 % interval for families of tasks like these; 5 of 100 intervals are wrong";
/// Why a share of nothing is none.
const NO_TASK: &str = "no task";

pub(super) fn missing(reason: &str) -> TableCell {
    TableCell::Missing(reason.to_owned())
}

/// A share, which may be none of no task.
pub(super) fn share(share: Option<f64>) -> TableCell {
    share.map_or_else(|| missing(NO_TASK), TableCell::Percent)
}

/// A share with its interval.
pub(super) type BoundedShare = (Option<f64>, Option<Interval>);

/// A share of answers, with its interval over families of tasks.
pub(super) fn bounds(rate: &FamilyRate<'_>) -> BoundedShare {
    (rate.share(), rate.interval())
}

/// An end of the interval of a share, or why it has none.
pub(super) fn bound((share, interval): BoundedShare, end: fn(Interval) -> f64) -> TableCell {
    match (share, interval) {
        (None, _) => missing(NO_TASK),
        (Some(_), None) => missing("fewer than two tasks"),
        (Some(_), Some(interval)) => TableCell::Percent(end(interval)),
    }
}

/// The table with a share and its 95 % bounds.
pub(super) fn rate_columns<R: Copy>(
    table: RowTable<R>,
    head: &str,
    of: impl Fn(R) -> BoundedShare,
) -> RowTable<R> {
    table
        .column((head, Right), |row| share(of(row).0))
        .column(("low", Right), |row| bound(of(row), |found| found.lower))
        .column(("high", Right), |row| bound(of(row), |found| found.upper))
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
        rate_columns(table, layer.name(), |row| {
            let (funnel, rule) = of(row);
            bounds(&funnel.rate(rule, layer))
        })
    })
}
