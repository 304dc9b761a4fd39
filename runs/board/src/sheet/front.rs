//! The first table of a board's page: who stands where, how sure that is, and what it earned, risked and cost.

use super::{lacking, metric_cell, points, rank_cell};
use crate::BoardMetric;
use crate::record::{
    Bounds, Cohort, Leaderboard, LeaderboardRow, PooledRanking, PooledRow, RankBounds, Track,
};
use ktd_stats::moments::count;
use ktd_view::draw::Align::Right;
use ktd_view::draw::{TableCell, TableData};
use ktd_view::row_table::RowTable;

const RETURN: &str = "return";

/// One row: figures that a ranking of one window and of several have alike.
struct FrontRow<'b> {
    rank: TableCell,
    ranks: Option<RankBounds>,
    agent: &'b str,
    cohort: Cohort,
    a_day: Option<f64>,
    interval: Option<Bounds>,
    total: TableCell,
    drawdown: TableCell,
    fees: TableCell,
    paid: Option<f64>,
}

/// The table of a track.
pub(crate) fn of_track(track: &Track, title: String) -> TableData {
    let metric = |leader: &LeaderboardRow, key, form| {
        let stat = leader.metrics.get(&key);
        stat.map_or_else(|| lacking(leader), |stat| metric_cell(&stat.median, form))
    };
    let rows = track.leaders.iter().map(|leader| FrontRow {
        rank: rank_cell(leader, leader.alpha_rank),
        ranks: leader.rank_interval,
        agent: &leader.agent,
        cohort: leader.cohort,
        a_day: leader.selection_a_day(track.dates.len()),
        interval: leader.selection.as_ref().and_then(|selection| selection.interval),
        total: metric(leader, BoardMetric::TotalReturn, TableCell::Change),
        drawdown: metric(leader, BoardMetric::MaxDrawdown, TableCell::Percent),
        fees: metric(leader, BoardMetric::FeeDrag, TableCell::Percent),
        paid: leader.faults.paid_usd,
    });
    table(title, &rows.collect::<Vec<_>>())
}

/// The table of a ranking over several windows: return and fees are means over them, the drawdown is the deepest, and what was paid
/// is their sum.
pub(crate) fn of_pooled(board: &Leaderboard, pooled: &PooledRanking) -> TableData {
    let rows: Vec<_> = pooled
        .rows
        .iter()
        .map(|row| pooled_row(board, pooled, row))
        .collect();
    let title = super::pooled::described(pooled);
    let table = table(format!("Over {title}"), &rows);
    if !table.columns.iter().any(|column| column.head == RETURN) {
        return table;
    }
    table.with_note(
        "return and fees are means over the windows, the drawdown is the deepest of any, what was paid is their sum",
    )
}

fn pooled_row<'b>(board: &Leaderboard, pooled: &PooledRanking, row: &'b PooledRow) -> FrontRow<'b> {
    let own: Option<Vec<&LeaderboardRow>> = pooled
        .windows
        .iter()
        .map(|span| {
            let track = board
                .tracks
                .iter()
                .find(|track| track.window == span.window && pooled.is_of(track))?;
            track.leaders.iter().find(|leader| leader.agent == row.agent)
        })
        .collect();
    let own = own.unwrap_or_default();
    let values = |key: BoardMetric| -> Option<Vec<f64>> {
        let values = own.iter().map(|leader| leader.metrics.get(&key)?.median.value);
        values
            .collect::<Option<Vec<_>>>()
            .filter(|values| !values.is_empty())
    };
    let hidden = own.iter().find_map(|leader| leader.unranked_reason.as_ref());
    let reason = hidden.map_or("it is not known in every window", String::as_str);
    let shown = |value: Option<f64>, form: fn(f64) -> TableCell| {
        value.map_or_else(|| TableCell::Missing(reason.to_owned()), form)
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / count(values.len());
    let deepest =
        values(BoardMetric::MaxDrawdown).and_then(|values| values.into_iter().max_by(f64::total_cmp));
    let paid: Option<Vec<f64>> = own.iter().map(|leader| leader.faults.paid_usd).collect();
    FrontRow {
        rank: super::pooled::rank(row),
        ranks: row.rank_interval,
        agent: &row.agent,
        cohort: row.cohort,
        a_day: row.selection_a_day,
        interval: row.interval,
        total: shown(values(BoardMetric::TotalReturn).map(mean), TableCell::Change),
        drawdown: shown(deepest, TableCell::Percent),
        fees: shown(values(BoardMetric::FeeDrag).map(mean), TableCell::Percent),
        paid: paid.filter(|paid| !paid.is_empty()).map(|paid| paid.iter().sum()),
    }
}

fn table(title: String, rows: &[FrontRow<'_>]) -> TableData {
    let span = |low: String, high: String| TableCell::Text(format!("{low} to {high}"));
    let ranks = |row: &FrontRow<'_>| {
        row.ranks.map_or(TableCell::Empty, |ranks| {
            span(ranks.low.to_string(), ranks.high.to_string())
        })
    };
    let interval = |row: &FrontRow<'_>| {
        let shown = |share: f64| points(share).on_page();
        row.interval
            .map_or(TableCell::Empty, |ends| span(shown(ends.low), shown(ends.high)))
    };
    RowTable::new(title, rows)
        .column(("rank", Right), |row| row.rank.clone())
        .text("agent", |row| row.agent)
        .text("kind", |row| row.cohort.label())
        .column(("95 % of ranks", Right), ranks)
        .number("selection, bp a day", |row| row.a_day, points)
        .column(("95 % interval", Right), interval)
        .column((RETURN, Right), |row| row.total.clone())
        .column(("drawdown", Right), |row| row.drawdown.clone())
        .column(("fees", Right), |row| row.fees.clone())
        .number("paid for replies", |row| row.paid, TableCell::Dollars)
        .table()
        .without_empty_columns()
}
