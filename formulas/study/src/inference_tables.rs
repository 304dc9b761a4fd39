//! Tables of what may be concluded: years, deflated figures, ranks, choices by valid days, robustness and drawdown.

use crate::alpha_report::{AlphaReport, AlphaRow, FigureRow};
use crate::alpha_tables::{cell, looks};
use ktd_stats::{mann_whitney, welch_test};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

fn text(words: &[&String]) -> Vec<TableCell> {
    words
        .iter()
        .map(|word| TableCell::Text((*word).clone()))
        .collect()
}

fn cells<'f>(row: &'f FigureRow, figures: &'f [(&str, &str)]) -> impl Iterator<Item = TableCell> + 'f {
    figures.iter().map(|(name, _)| cell(row, name))
}

/// Figures by calendar year.
const YEAR_FIGURES: [(&str, &str); 4] = [
    ("ic", "IC"),
    ("rank_ic", "RankIC"),
    ("ar", "AR"),
    ("days", "days"),
];

/// Alphas and equal-weight combinations by calendar year.
#[must_use]
pub fn year_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "pool", "id", "year"]
        .map(|head| (head, Left))
        .into_iter();
    let heads = heads.chain(YEAR_FIGURES.map(|(_, head)| (head, Right)));
    let rows = report.years.iter().map(|year| {
        let mut row = text(&[&year.split, &year.pool, &year.id, &year.year]);
        row.extend(cells(&year.row, &YEAR_FIGURES));
        row
    });
    TableData::new(
        "figures by year; `equal` is a pool's equal-weight combination",
        heads,
    )
    .with_rows(rows)
}

/// Figures of what may be concluded of a pool.
const INFERENCE_FIGURES: [(&str, &str); 8] = [
    ("trials", "trials"),
    ("best_sr", "best SR"),
    ("best_sr_low", "low"),
    ("best_sr_high", "high"),
    ("best_dsr", "DSR"),
    ("pbo", "PBO"),
    ("spa_p", "SPA p"),
    ("spa_statistic", "SPA statistic"),
];

/// What may be concluded of each pool.
#[must_use]
pub fn inference_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "pool", "best"].map(|head| (head, Left)).into_iter();
    let heads = heads.chain(INFERENCE_FIGURES.map(|(_, head)| (head, Right)));
    let rows = report.inference.iter().map(|pool| {
        let best = pool.best.clone().unwrap_or_default();
        let mut row = text(&[&pool.split, &pool.pool, &best]);
        row.extend(cells(&pool.row, &INFERENCE_FIGURES));
        row
    });
    TableData::new(format!("the best of a pool, and what luck explains: {}", looks(report)), heads)
        .with_rows(rows)
        .with_note("DSR: probability that the best's true Sharpe ratio exceeds what the best of all trials shows without skill")
        .with_note("PBO: share of 12,870 halvings of the days in which the best of one half is below the middle in the other")
        .with_note("SPA: p-value that no alpha of the pool earns more than 0")
}

/// Ranks with intervals and groups.
#[must_use]
pub fn rank_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "of", "pool", "id"].map(|head| (head, Left)).into_iter();
    let heads = heads.chain(["rank", "low", "high", "P(best)"].map(|head| (head, Right)));
    let heads = heads.chain([("groups", Left)]);
    let rows = report.ranks.iter().map(|rank| {
        let mut row = text(&[&rank.split, &rank.of, &rank.pool, &rank.id]);
        row.extend([rank.rank, rank.rank_low, rank.rank_high].map(TableCell::Count));
        row.push(TableCell::Fine(rank.probability_best));
        row.push(TableCell::Text(rank.groups.clone()));
        row
    });
    TableData::new(
        "ranks by mean daily return: the 20 best alphas by PPS of each split, and the pools' equal-weight combinations",
        heads,
    )
    .with_rows(rows)
    .with_note("those that share a letter cannot be separated")
}

/// Figures of a selection.
const SELECTION_FIGURES: [(&str, &str); 6] = [
    ("ar", "AR"),
    ("sr", "SR"),
    ("mdd", "MDD"),
    ("turnover", "turnover"),
    ("sr_10bps", "SR 10 bps"),
    ("pps", "PPS"),
];

/// The best alphas by each figure of valid days, on test days.
#[must_use]
pub fn selection_table(report: &AlphaReport) -> TableData {
    let heads = [("by", Left), ("beta", Right), ("alphas", Right)].into_iter();
    let heads = heads.chain(SELECTION_FIGURES.map(|(_, head)| (head, Right)));
    let heads = heads.chain([("first", Left)]);
    let rows = report.selections.iter().map(|selection| {
        let mut row = vec![
            TableCell::Text(selection.by.clone()),
            TableCell::Ratio(selection.beta),
            TableCell::Count(selection.alphas.len()),
        ];
        row.extend(cells(&selection.row, &SELECTION_FIGURES));
        row.push(TableCell::Text(
            selection.alphas.first().cloned().unwrap_or_default(),
        ));
        row
    });
    let title = format!(
        "the 20 best alphas of valid days, equally weighted, on test days: {}",
        looks(report)
    );
    let table = TableData::new(title, heads).with_rows(rows);
    if report.selections.is_empty() {
        table.with_note("needs a valid split and an open test split")
    } else {
        table
    }
}

/// Curves of the selections: a row a test day.
#[must_use]
pub fn curve_table(report: &AlphaReport) -> TableData {
    let head =
        |selection: &crate::alpha_report::SelectionRow| format!("{} {:.2}", selection.by, selection.beta);
    let heads = report.selections.iter().map(|selection| (head(selection), Right));
    let heads = std::iter::once(("date".to_owned(), Left)).chain(heads);
    let heads: Vec<(String, ktd_view::draw::Align)> = heads.collect();
    let columns = heads.iter().map(|(head, align)| (head.as_str(), *align));
    let rows = report.curve_days.iter().enumerate().map(|(place, day)| {
        let mut row = vec![TableCell::Text(day.clone())];
        let values = report
            .selections
            .iter()
            .map(|selection| selection.curve.get(place).copied());
        row.extend(values.map(|value| TableCell::optional(value, TableCell::Fine)));
        row
    });
    TableData::new("value of each selection's portfolio after each test day", columns).with_rows(rows)
}

/// Least robustness of a robust alpha.
const THRESHOLDS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

/// Drawdowns of robust alphas against those of the rest, by the least robustness.
#[must_use]
pub fn robustness_table(report: &AlphaReport) -> TableData {
    let heads = [("split", Left)].into_iter();
    let numbers = [
        "PFS from",
        "robust",
        "rest",
        "MDD robust",
        "MDD rest",
        "Welch t",
        "df",
        "p",
        "U",
        "U p",
    ];
    let heads = heads.chain(numbers.map(|head| (head, Right)));
    let rows = report.splits.iter().flat_map(|split| {
        let of_split = report.alphas.iter().filter(|row| row.split == split.split);
        let points: Vec<(f64, f64)> = of_split.filter_map(robustness_and_drawdown).collect();
        THRESHOLDS.map(|threshold| {
            let (robust, rest): (Vec<_>, Vec<_>) = points.iter().partition(|(pfs, _)| threshold <= *pfs);
            let drawdowns =
                |side: Vec<(f64, f64)>| side.into_iter().map(|(_, mdd)| mdd).collect::<Vec<f64>>();
            compared(&split.split, threshold, &drawdowns(robust), &drawdowns(rest))
        })
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    TableData::new("drawdown of robust alphas against the rest", heads)
        .with_rows(rows)
        .with_note("U is exact where a side has fewer than 9 alphas and nothing is tied; else normal with ties and continuity")
}

fn robustness_and_drawdown(row: &AlphaRow) -> Option<(f64, f64)> {
    Some((row.row.get("pfs")?, row.row.get("mdd")?))
}

fn compared(split: &str, threshold: f64, robust: &[f64], rest: &[f64]) -> Vec<TableCell> {
    let middle = |side: &[f64]| TableCell::optional(ktd_stats::moments::mean(side), TableCell::Fine);
    let missing = |reason: ktd_stats::Undefined| TableCell::Missing(reason.code().to_owned());
    let mut row = vec![
        TableCell::Text(split.to_owned()),
        TableCell::Ratio(threshold),
        TableCell::Count(robust.len()),
        TableCell::Count(rest.len()),
        middle(robust),
        middle(rest),
    ];
    match welch_test(robust, rest) {
        Ok(test) => row.extend([
            TableCell::Fine(test.t),
            TableCell::Fine(test.degrees_of_freedom),
            TableCell::P(test.p),
        ]),
        Err(reason) => row.extend([missing(reason), missing(reason), missing(reason)]),
    }
    match mann_whitney(robust, rest) {
        Ok(test) => row.extend([TableCell::Fine(test.u), TableCell::P(test.p)]),
        Err(reason) => row.extend([missing(reason), missing(reason)]),
    }
    row
}
