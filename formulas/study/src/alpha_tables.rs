//! The tables of an evaluation: pools, combinations, alphas and splits.

use crate::alpha_report::{AlphaReport, CombinationRow, FigureRow, PoolRow};
use crate::figure_columns::{FigureColumns, figure_cell};
use ktd_alphas::COMPOSITE_FIGURES;
use ktd_view::draw::{TableCell, TableData, counted};
use ktd_view::row_table::RowTable;
use std::collections::BTreeSet;

/// Figures of an alpha, the most wanted first; that of the other label stands at the end.
const ALPHA_FIGURES: [&str; 33] = [
    "pps",
    "rank_ic",
    "rre",
    "pfs",
    "composite",
    "turnover",
    "sr",
    "mdd",
    "pps_low",
    "pps_high",
    "ic",
    "icir",
    "rank_icir",
    "nw_t",
    "pfs_n",
    "pfs_t",
    "pfs_min",
    "logic",
    "ar",
    "ar_10bps",
    "sr_10bps",
    "days",
    "left_out",
    "without_label",
    "coverage",
    "sr_low",
    "sr_high",
    "ar_net",
    "sr_net",
    "sr_net_low",
    "sr_net_high",
    "break_even_bps",
    "dsr",
];

/// Between what a deflated ratio lies where nobody says how many expressions were tried.
const BAND_FIGURES: [&str; 2] = ["dsr_low", "dsr_high"];

/// Figures of a combination.
const COMBINATION_FIGURES: [&str; 12] = [
    "pps", "ic", "rank_ic", "icir", "nw_t", "rre", "turnover", "ar", "sr", "sr_10bps", "mdd", "days",
];

/// Figures of an account at the exchange; they stand where a study asks for them.
const EXCHANGE_FIGURES: [&str; 3] = ["sr_exchange", "ar_exchange", "rejected_exchange"];

/// Figures of a pool.
const POOL_FIGURES: [&str; 6] = ["pps", "rre", "pfs", "de", "logic", "turnover"];

/// Figures of the line of turnover on stability.
const LINE_FIGURES: [&str; 7] = [
    "distinct",
    "slope",
    "intercept",
    "r_squared",
    "p",
    "slope_error",
    "intercept_error",
];

/// The line of turnover on stability that scores without any market lie on.
pub(crate) const LAW_SLOPE: f64 = -4.31;

/// Its value at 0.
pub(crate) const LAW_INTERCEPT: f64 = 4.56;

/// Formulas that no rule takes.
pub(crate) fn refused_table(report: &AlphaReport) -> TableData {
    RowTable::new(counted(report.refused.len(), "refused formula"), &report.refused)
        .text("pool", |row| &row.pool)
        .text("id", |row| &row.id)
        .text("code", |row| &row.code)
        .text("error", |row| &row.error)
        .table()
}

pub(crate) fn looks(report: &AlphaReport) -> String {
    let times = match report.test_looks {
        1 => "once".to_owned(),
        looks => format!("{looks} times"),
    };
    match (report.is_test_open, report.test_looks) {
        (true, _) => format!("test days looked at {times}"),
        (false, 0) => "test days closed".to_owned(),
        (false, _) => format!("test days closed now, looked at {times} before"),
    }
}

/// Figures of the exchange; none where no row has them.
fn exchange_figures<'r>(mut rows: impl Iterator<Item = &'r FigureRow>) -> &'static [&'static str] {
    let is_traded = rows.any(|row| {
        EXCHANGE_FIGURES
            .iter()
            .any(|name| row.figures.contains_key(*name))
    });
    if is_traded { &EXCHANGE_FIGURES } else { &[] }
}

/// Pools by split: means over their alphas, and diversity.
pub(crate) fn pool_table(report: &AlphaReport) -> TableData {
    let (label, mode) = (&report.label, &report.noise_mode);
    let title = format!("pools: label {label}, noise {mode}, {}", looks(report));
    let combined = |pool: &PoolRow| {
        let is_own = |row: &&CombinationRow| {
            (&row.split, &row.pool, row.weights.as_str()) == (&pool.split, &pool.pool, "equal")
        };
        report.combinations.iter().find(is_own)
    };
    let table = RowTable::new(title, &report.pools)
        .text("split", |pool| &pool.split)
        .text("pool", |pool| &pool.pool)
        .figures(&POOL_FIGURES, |pool| &pool.row)
        .count("alphas", |pool| pool.alphas)
        .count("duplicates", |pool| pool.duplicates)
        .count("constant", |pool| pool.constants)
        .count("refused", |pool| pool.refused)
        .right("tried", |pool| {
            pool.tried.map_or(TableCell::Empty, TableCell::Count)
        })
        .text("trials", |pool| pool.trials_from.word())
        .text("made by", |pool| pool.made_by.clone().unwrap_or_default())
        .right("combined pps", |pool| {
            combined(pool).map_or(TableCell::Empty, |row| figure_cell(&row.row, "pps"))
        })
        .text("hindsight", hindsight)
        .table()
        .with_note(
            "pps: predictive power, the mean of ic and rank_ic, the daily correlations of scores and of their ranks with the label; rre: \
             stability, 1 where yesterday's order stays; pfs: robustness, the rank correlation with itself on perturbed inputs; de: \
             diversity, 0 for copies and 1 for unrelated alphas",
        );
    report.notes.iter().fold(table, TableData::with_note)
}

/// What whoever made a pool knew of the days of a split.
fn hindsight(pool: &PoolRow) -> String {
    let known = pool.known_until.as_ref().map(|day| {
        if pool.is_hindsight {
            format!("may know these days (until {day})")
        } else {
            format!("knew until {day}")
        }
    });
    let chosen = pool.chosen_on.as_ref().map(|[first, last]| {
        let by = if pool.is_chosen_here {
            "by these days"
        } else {
            "on"
        };
        format!("chosen {by} ({first} to {last})")
    });
    let both: Vec<String> = known.into_iter().chain(chosen).collect();
    both.join("; ")
}

/// The same by the names of a split and a pool.
pub(crate) fn hindsight_of(report: &AlphaReport, split: &str, pool: &str) -> String {
    let mut pools = report.pools.iter();
    let found = pools.find(|row| (row.split.as_str(), row.pool.as_str()) == (split, pool));
    found.map(hindsight).unwrap_or_default()
}

/// Combinations of pools by split.
pub(crate) fn combination_table(report: &AlphaReport) -> TableData {
    let title = format!("combinations: label {}, {}", report.label, looks(report));
    let exchange = exchange_figures(report.combinations.iter().map(|row| &row.row));
    RowTable::new(title, &report.combinations)
        .text("split", |row| &row.split)
        .text("pool", |row| &row.pool)
        .text("weights", |row| &row.weights)
        .figures(&COMBINATION_FIGURES, |row| &row.row)
        .figures(exchange, |row| &row.row)
        .text("hindsight", |row| hindsight_of(report, &row.split, &row.pool))
        .table()
        .with_note(
            "icir: mean over deviation of ic; nw_t: Newey and West's t of rank_ic; ar, sr, mdd: annual return, Sharpe ratio and maximum \
             drawdown of the top fifth less the bottom fifth, without costs",
        )
}

/// Alphas by split: all, or so many of the last one.
pub(crate) fn alpha_table(report: &AlphaReport, of_last: Option<usize>) -> TableData {
    let last = report.splits.last().map(|split| split.split.as_str());
    let rows = report.alphas.iter();
    let rows = rows.filter(|row| of_last.is_none() || Some(row.split.as_str()) == last);
    let other = if report.label == "close" {
        "pps_next_open"
    } else {
        "pps_close"
    };
    let (label, mode) = (&report.label, &report.noise_mode);
    let title = format!("alphas: label {label}, noise {mode}, {}", looks(report));
    let exchange = exchange_figures(report.alphas.iter().map(|row| &row.row));
    let chosen = report.pools.iter().filter(|pool| pool.is_chosen_here);
    let chosen: BTreeSet<(&str, &str)> = chosen
        .map(|pool| (pool.split.as_str(), pool.pool.as_str()))
        .collect();
    RowTable::new(title, rows.take(of_last.unwrap_or(usize::MAX)))
        .text("split", |row| &row.split)
        .text("pool", |row| &row.pool)
        .text("id", |row| &row.id)
        .figures(&ALPHA_FIGURES, |row| &row.row)
        .figures(&BAND_FIGURES, |row| &row.row)
        .figures(&[other], |row| &row.row)
        .figures(exchange, |row| &row.row)
        .text("flags", |row| {
            let turned = row.is_turned.then(|| "turned".to_owned());
            let constant = row.is_constant.then(|| "constant".to_owned());
            let duplicate = row.duplicate_of.as_ref().map(|id| format!("duplicate of {id}"));
            let like = row.like.as_ref().map(|id| format!("like {id}"));
            let chosen = chosen.contains(&(row.split.as_str(), row.pool.as_str()));
            let chosen = chosen.then(|| "chosen by these days".to_owned());
            let flags: Vec<String> = [turned, constant, duplicate, like, chosen]
                .into_iter()
                .flatten()
                .collect();
            flags.join(", ")
        })
        .text("formula", |row| &row.formula)
        .table()
}

/// Turnover on stability over the alphas of each split.
pub(crate) fn split_table(report: &AlphaReport) -> TableData {
    let law = format!(
        "scores that keep a share of themselves from day to day, without any market, lie on turnover = {LAW_INTERCEPT} - {} rre \
         (R2 0.98): what lies on this line is no merit of its own",
        -LAW_SLOPE
    );
    let title = "turnover on stability, a line through the alphas of each split; errors and p of those that are not alike";
    RowTable::new(title, &report.splits)
        .text("split", |row| &row.split)
        .text("from", |row| &row.from)
        .text("to", |row| &row.to)
        .count("days", |row| row.days)
        .count("label days", |row| row.label_days)
        .count("cells", |row| row.cells)
        .count("alphas", |row| row.points)
        .figures(&LINE_FIGURES, |row| &row.row)
        .table()
        .with_note(law)
}

/// What the composite goes with, by split.
pub(crate) fn composite_table(report: &AlphaReport) -> TableData {
    let title =
        "rank correlation of the composite with its parts and with the ratio, over alphas that are not alike";
    RowTable::new(title, &report.splits)
        .text("split", |row| &row.split)
        .figures(&COMPOSITE_FIGURES, |row| &row.row)
        .table()
        .with_note("a composite that goes with stability and not with the ratio orders alphas by how seldom they trade")
}
