//! Tables of what may be concluded: years, percentiles, deflated figures, ranks, choices by valid days, robustness and drawdown.

use crate::alpha_report::{AlphaReport, AlphaRow, SelectionRow};
use crate::alpha_tables::{hindsight_of, looks};
use crate::figure_columns::FigureColumns;
use ktd_alphas::{ROSE_FIGURES, RobustAlphas, mean_percentiles, robust_and_rest};
use ktd_view::draw::{Align, Column, RowCells, TableCell, TableData};
use ktd_view::row_table::RowTable;
use std::collections::BTreeSet;

/// Alphas and equal-weight combinations by calendar year; `of` keeps those of one name alone.
pub(crate) fn year_table(report: &AlphaReport, of: Option<&str>) -> TableData {
    let rows = report.years.iter();
    let rows = rows.filter(|row| of.is_none_or(|of| row.id == of));
    let title = "figures by year; `equal` is a pool's equal-weight combination";
    RowTable::new(title, rows)
        .text("split", |row| &row.split)
        .text("pool", |row| &row.pool)
        .text("id", |row| &row.id)
        .column(Column::new("year", Align::Left).of(RowCells::Number), |row| {
            year_cell(&row.year)
        })
        .figures(&["ic", "rank_ic", "ar", "days"], |row| &row.row)
        .table()
}

/// A year, which programs read as a number.
fn year_cell(year: &str) -> TableCell {
    let number = year.parse().ok();
    number.map_or_else(
        || TableCell::Text(year.to_owned()),
        |number| TableCell::Worded(number, year.to_owned()),
    )
}

/// The alphas of a split.
fn on<'r>(report: &'r AlphaReport, split: &str) -> Vec<&'r AlphaRow> {
    report.alphas.iter().filter(|row| row.split == split).collect()
}

/// Mean percentiles of each pool's alphas among all of a split.
pub(crate) fn rose_table(report: &AlphaReport) -> TableData {
    let mut rows = Vec::new();
    for split in &report.splits {
        let alphas = on(report, &split.split);
        let percentiles = mean_percentiles(alphas.iter().map(|row| (row.pool.as_str(), &row.row)));
        rows.extend(
            percentiles
                .into_iter()
                .map(|(pool, row)| (&split.split, pool, row)),
        );
    }
    let title = "mean percentiles of a pool's alphas among all of a split; of turnover and drawdown the least is the best";
    RowTable::new(title, &rows)
        .text("split", |(split, _, _)| split)
        .text("pool", |(_, pool, _)| pool)
        .figures(&ROSE_FIGURES, |(_, _, row)| row)
        .table()
}

/// Figures of what may be concluded of a pool.
const INFERENCE_FIGURES: [&str; 13] = [
    "best_sr_net",
    "best_dsr",
    "best_dsr_low",
    "best_dsr_high",
    "spa_p",
    "pbo",
    "best_sr_net_low",
    "best_sr_net_high",
    "distinct",
    "trials_low",
    "trials_high",
    "best_sr",
    "spa_statistic",
];

/// What may be concluded of each pool.
pub(crate) fn inference_table(report: &AlphaReport) -> TableData {
    let title = format!(
        "the best of a pool after costs, and what luck explains: {}",
        looks(report)
    );
    RowTable::new(title, &report.inference)
        .text("split", |row| &row.split)
        .text("pool", |row| &row.pool)
        .text("best", |row| row.best.clone().unwrap_or_default())
        .text("trials", |row| row.trials_from.word())
        .figures(&INFERENCE_FIGURES, |row| &row.row)
        .text("hindsight", |row| hindsight_of(report, &row.split, &row.pool))
        .table()
        .with_note(
            "best_dsr: probability that the best's true Sharpe ratio exceeds what the best of all trials shows without skill; where nobody \
             says how many were tried, it lies between best_dsr_low, of 10,000, and best_dsr_high, of 10. It is compared between pools \
             whose trials come from one source",
        )
        .with_note("distinct: alphas that are traded and of which no two have daily returns that correlate by 0.5 or more; pbo is of these")
        .with_note(
            "pbo: share of all halvings of the days into equal blocks in which the best of one half is below the middle in the other",
        )
        .with_note("spa_p: p-value that no alpha of the pool earns more than its costs")
        .with_note(
            "best_sr_net_low and best_sr_net_high hold the true ratio whichever alpha is the best: such intervals hold those of \
             all alphas of the pool at once in 95 %",
        )
}

/// Ranks with intervals and groups.
pub(crate) fn rank_table(report: &AlphaReport) -> TableData {
    let title = "ranks by mean daily return after costs: the best alphas by PPS of each split, at most 20, and the pools' equal-weight combinations";
    RowTable::new(title, &report.ranks)
        .text("split", |row| &row.split)
        .text("of", |row| &row.of)
        .text("pool", |row| &row.pool)
        .text("id", |row| &row.id)
        .count("rank", |row| row.rank)
        .count("low", |row| row.rank_low)
        .count("high", |row| row.rank_high)
        .fine("P(best)", |row| row.probability_best)
        .text("groups", |row| &row.groups)
        .text("hindsight", |row| hindsight_of(report, &row.split, &row.pool))
        .table()
        .with_note("those that share a letter cannot be separated")
}

/// Figures of a selection.
const SELECTION_FIGURES: [&str; 6] = ["ar", "sr", "mdd", "turnover", "sr_net", "pps"];

/// The best alphas by each figure of valid days, on test days.
pub(crate) fn selection_table(report: &AlphaReport) -> TableData {
    let most = report.selections.iter().map(|row| row.alphas.len()).max();
    let most = most.map_or_else(String::new, |most| format!("{most} "));
    let title = format!(
        "the {most}best alphas of valid days, equally weighted, on test days: {}",
        looks(report)
    );
    let table = RowTable::new(title, &report.selections)
        .text("by", |row| &row.by)
        .ratio("beta", |row| row.beta)
        .count("alphas", |row| row.alphas.len())
        .figures(&SELECTION_FIGURES, |row| &row.row)
        .text("first", |row| row.alphas.first().cloned().unwrap_or_default())
        .table();
    let chosen = |row: &'_ SelectionRow| row.alphas.iter().cloned().collect::<BTreeSet<String>>();
    let sets: BTreeSet<BTreeSet<String>> = report.selections.iter().map(chosen).collect();
    match (sets.len(), report.selections.len()) {
        (0, _) => table.with_note("needs a valid split and an open test split"),
        (1, 2..) => table.with_note(
            "every row holds the same alphas, as there are no more to choose from: no figure is shown to choose better",
        ),
        _ => table,
    }
}

/// Curves of the selections: a row a test day.
pub(crate) fn curve_table(report: &AlphaReport) -> TableData {
    let heads = report
        .selections
        .iter()
        .map(|row| format!("{} {:.2}", row.by, row.beta));
    let heads: Vec<String> = std::iter::once("date".to_owned()).chain(heads).collect();
    let columns = heads.iter().zip(0..);
    let columns = columns.map(|(head, place)| {
        let align = if place == 0 { Align::Left } else { Align::Right };
        (head.as_str(), align)
    });
    let rows = report.curve_days.iter().enumerate().map(|(place, day)| {
        let values = report.selections.iter().map(|row| row.curve.get(place).copied());
        let values = values.map(|value| TableCell::optional(value, TableCell::Fine));
        std::iter::once(TableCell::Text(day.clone()))
            .chain(values)
            .collect()
    });
    TableData::new("value of each selection's portfolio after each test day", columns).with_rows(rows)
}

/// Drawdowns of robust alphas against those of the rest, by split and least robustness.
pub(crate) fn robust_by_split(report: &AlphaReport) -> Vec<(&str, RobustAlphas)> {
    let compared = report.splits.iter().flat_map(|split| {
        let alphas = on(report, &split.split).into_iter();
        let distinct = alphas.filter(|row| row.like.is_none()).map(|row| &row.row);
        let compared = robust_and_rest(distinct);
        compared
            .into_iter()
            .map(|compared| (split.split.as_str(), compared))
            .collect::<Vec<_>>()
    });
    compared.collect()
}

/// Drawdowns of robust alphas against those of the rest, by the least robustness.
pub(crate) fn robustness_table(report: &AlphaReport) -> TableData {
    let rows = robust_by_split(report);
    RowTable::new("drawdown of robust alphas against the rest, of alphas that are not alike", &rows)
        .text("split", |(split, _)| split)
        .ratio("pfs from", |(_, row)| row.least)
        .count("robust", |(_, row)| row.robust)
        .count("rest", |(_, row)| row.rest)
        .figures(&RobustAlphas::FIGURES, |(_, row)| &row.row)
        .table()
        .with_note(
            "welch_p_all and u_p_all judge all thresholds and both tests of a split at once (least p over 999 deals of the drawdowns): of alphas \
             that are equal but for chance one table in twenty has one of at most .05, where p alone errs at one of eleven thresholds in most. \
             u is exact where a side has fewer than 9 alphas and nothing is tied; else normal with ties and continuity",
        )
}
