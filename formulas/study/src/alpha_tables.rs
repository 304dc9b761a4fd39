//! The tables of a study of alphas, for the terminal and as CSV.

use crate::alpha_report::{AlphaReport, FigureRow};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, counted};

/// Figures of an alpha with their heads, the most wanted first; the label's other kind is added.
const ALPHA_FIGURES: [(&str, &str); 29] = [
    ("pps", "PPS"),
    ("rank_ic", "RankIC"),
    ("rre", "RRE"),
    ("pfs", "PFS"),
    ("composite", "composite"),
    ("turnover", "turnover"),
    ("sr", "SR"),
    ("mdd", "MDD"),
    ("pps_low", "PPS low"),
    ("pps_high", "PPS high"),
    ("ic", "IC"),
    ("icir", "ICIR"),
    ("rank_icir", "RankICIR"),
    ("nw_t", "NW t"),
    ("pfs_n", "PFS_N"),
    ("pfs_t", "PFS_t"),
    ("pfs_min", "PFS min"),
    ("logic", "Logic"),
    ("ar", "AR"),
    ("ar_10bps", "AR 10 bps"),
    ("sr_10bps", "SR 10 bps"),
    ("days", "days"),
    ("left_out", "left out"),
    ("without_label", "without label"),
    ("coverage", "coverage"),
    ("sr_low", "SR low"),
    ("sr_high", "SR high"),
    ("dsr", "DSR"),
    ("pps_other", "PPS other"),
];

/// Figures of a combination.
const COMBINATION_FIGURES: [(&str, &str); 12] = [
    ("pps", "PPS"),
    ("ic", "IC"),
    ("rank_ic", "RankIC"),
    ("icir", "ICIR"),
    ("nw_t", "NW t"),
    ("rre", "RRE"),
    ("turnover", "turnover"),
    ("ar", "AR"),
    ("sr", "SR"),
    ("sr_10bps", "SR 10 bps"),
    ("mdd", "MDD"),
    ("days", "days"),
];

/// Figures of an account at the exchange; they stand where a study asks for them.
const EXCHANGE_FIGURES: [(&str, &str); 3] = [
    ("sr_exchange", "SR through the exchange"),
    ("ar_exchange", "AR through the exchange"),
    ("rejected_exchange", "rejected orders"),
];

/// Figures of a pool.
const POOL_FIGURES: [(&str, &str); 6] = [
    ("pps", "predictive"),
    ("rre", "stability"),
    ("pfs", "robustness"),
    ("de", "diversity"),
    ("logic", "Logic"),
    ("turnover", "turnover"),
];

/// Figures of the line of turnover on stability.
const LINE_FIGURES: [(&str, &str); 6] = [
    ("slope", "slope"),
    ("intercept", "intercept"),
    ("r_squared", "R2"),
    ("p", "p"),
    ("slope_error", "slope s.e."),
    ("intercept_error", "intercept s.e."),
];

/// The line of turnover on stability that scores without any market lie on.
pub(crate) const LAW_SLOPE: f64 = -4.31;

/// Its value at 0.
pub(crate) const LAW_INTERCEPT: f64 = 4.56;

/// Figures that are whole numbers.
const COUNTS: [&str; 5] = ["days", "left_out", "without_label", "trials", "rejected_exchange"];

pub(crate) fn cell(row: &FigureRow, name: &str) -> TableCell {
    match (row.get(name), row.undefined.get(name)) {
        (Some(value), _) if name == "p" || name == "spa_p" => TableCell::P(value),
        (Some(value), _) if COUNTS.contains(&name) => TableCell::Count(whole(value)),
        (Some(value), _) => TableCell::Fine(value),
        (None, Some(reason)) => TableCell::Missing(reason.clone()),
        (None, None) => TableCell::Empty,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53 and never negative"
)]
const fn whole(count: f64) -> usize {
    count as usize
}

/// Formulas that no rule takes.
pub(crate) fn refused_table(report: &AlphaReport) -> TableData {
    let rows = report.refused.iter().map(|refused| {
        let cells = [&refused.pool, &refused.id, &refused.code, &refused.error];
        cells.map(|cell| TableCell::Text(cell.clone())).to_vec()
    });
    let heads = ["pool", "id", "code", "error"].map(|head| (head, Left));
    TableData::new(counted(report.refused.len(), "refused formula"), heads).with_rows(rows)
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
fn exchange_figures<'r>(
    mut rows: impl Iterator<Item = &'r FigureRow>,
) -> &'static [(&'static str, &'static str)] {
    let is_traded = rows.any(|row| {
        EXCHANGE_FIGURES
            .iter()
            .any(|(name, _)| row.figures.contains_key(*name))
    });
    if is_traded { &EXCHANGE_FIGURES } else { &[] }
}

/// Pools by split: means over their alphas, and diversity.
#[must_use]
pub fn pool_table(report: &AlphaReport) -> TableData {
    let heads = [("split", Left), ("pool", Left)].into_iter();
    let heads = heads.chain(POOL_FIGURES.map(|(_, head)| (head, Right)));
    let counts = ["alphas", "duplicates", "constant", "refused", "tried"];
    let heads = heads.chain(counts.map(|head| (head, Right)));
    let heads = heads.chain([("combined PPS", Right), ("hindsight", Left)]);
    let rows = report.pools.iter().map(|pool| {
        let mut cells = vec![
            TableCell::Text(pool.split.clone()),
            TableCell::Text(pool.pool.clone()),
        ];
        cells.extend(POOL_FIGURES.map(|(name, _)| cell(&pool.row, name)));
        let counts = [pool.alphas, pool.duplicates, pool.constants, pool.refused];
        cells.extend(counts.map(TableCell::Count));
        cells.push(pool.tried.map_or(TableCell::Empty, TableCell::Count));
        let combined = report.combinations.iter().find(|combination| {
            (&combination.split, &combination.pool) == (&pool.split, &pool.pool)
                && combination.weights == "equal"
        });
        cells.push(combined.map_or(TableCell::Empty, |combined| cell(&combined.row, "pps")));
        cells.push(TableCell::Text(match &pool.known_until {
            Some(day) if pool.is_hindsight => format!("may know these days (until {day})"),
            Some(day) => format!("knew until {day}"),
            None => String::new(),
        }));
        cells
    });
    let (label, mode) = (&report.label, &report.noise_mode);
    let title = format!("pools: label {label}, noise {mode}, {}", looks(report));
    let table = TableData::new(title, heads).with_rows(rows);
    report.notes.iter().fold(table, TableData::with_note)
}

/// Combinations of pools by split.
#[must_use]
pub fn combination_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "pool", "weights"].map(|head| (head, Left)).into_iter();
    let exchange = exchange_figures(report.combinations.iter().map(|row| &row.row));
    let heads = heads.chain(COMBINATION_FIGURES.map(|(_, head)| (head, Right)));
    let heads = heads.chain(exchange.iter().map(|(_, head)| (*head, Right)));
    let rows = report.combinations.iter().map(|combination| {
        let words = [&combination.split, &combination.pool, &combination.weights];
        let mut cells = words.map(|word| TableCell::Text(word.clone())).to_vec();
        cells.extend(COMBINATION_FIGURES.map(|(name, _)| cell(&combination.row, name)));
        cells.extend(exchange.iter().map(|(name, _)| cell(&combination.row, name)));
        cells
    });
    let title = format!("combinations: label {}, {}", report.label, looks(report));
    TableData::new(title, heads).with_rows(rows)
}

/// Alphas by split.
#[must_use]
pub fn alpha_table(report: &AlphaReport) -> TableData {
    let other = if report.label == "close" {
        ("pps_next_open", "PPS next_open")
    } else {
        ("pps_close", "PPS close")
    };
    let figures = ALPHA_FIGURES.map(|(name, head)| if name == "pps_other" { other } else { (name, head) });
    let heads = ["split", "pool", "id"].map(|head| (head, Left)).into_iter();
    let exchange = exchange_figures(report.alphas.iter().map(|row| &row.row));
    let heads = heads.chain(figures.map(|(_, head)| (head, Right)));
    let heads = heads.chain(exchange.iter().map(|(_, head)| (*head, Right)));
    let heads = heads.chain([("flags", Left), ("formula", Left)]);
    let rows = report.alphas.iter().map(|alpha| {
        let words = [&alpha.split, &alpha.pool, &alpha.id];
        let mut cells = words.map(|word| TableCell::Text(word.clone())).to_vec();
        cells.extend(figures.map(|(name, _)| cell(&alpha.row, name)));
        cells.extend(exchange.iter().map(|(name, _)| cell(&alpha.row, name)));
        let mut flags = Vec::new();
        flags.extend(alpha.is_turned.then(|| "turned".to_owned()));
        flags.extend(alpha.is_constant.then(|| "constant".to_owned()));
        flags.extend(alpha.duplicate_of.as_ref().map(|id| format!("duplicate of {id}")));
        cells.push(TableCell::Text(flags.join(", ")));
        cells.push(TableCell::Text(alpha.formula.clone()));
        cells
    });
    let (label, mode) = (&report.label, &report.noise_mode);
    let title = format!("alphas: label {label}, noise {mode}, {}", looks(report));
    TableData::new(title, heads).with_rows(rows)
}

/// Turnover on stability over the alphas of each split.
#[must_use]
pub fn split_table(report: &AlphaReport) -> TableData {
    let heads = ["split", "from", "to"].map(|head| (head, Left)).into_iter();
    let heads = heads.chain(["days", "label days", "cells", "alphas"].map(|head| (head, Right)));
    let heads = heads.chain(LINE_FIGURES.map(|(_, head)| (head, Right)));
    let rows = report.splits.iter().map(|split| {
        let words = [&split.split, &split.from, &split.to];
        let mut cells = words.map(|word| TableCell::Text(word.clone())).to_vec();
        let counts = [split.days, split.label_days, split.cells, split.points];
        cells.extend(counts.map(TableCell::Count));
        cells.extend(LINE_FIGURES.map(|(name, _)| cell(&split.row, name)));
        cells
    });
    TableData::new(
        "turnover on stability, a line through the alphas of each split",
        heads,
    )
    .with_rows(rows)
    .with_note(format!(
        "scores that keep a share of themselves from day to day, without any market, lie on turnover = {LAW_INTERCEPT} - {} RRE \
         (R2 0.98): what lies on this line is no merit of its own",
        -LAW_SLOPE
    ))
}
