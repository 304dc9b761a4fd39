//! The rows of a report: alphas, pools and their combinations over the days of a split.

use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, CombinationRow, Figure, FigureRow, PoolRow, SplitRow, coded};
use crate::open_study::OpenStudy;
use crate::pool_products::Weights;
use crate::split_tables::SplitTables;
use crate::study_pool::{StudyPool, UNKNOWN};
use ktd_alphas::{AlphaEvaluation, DailyCorrelations, DaySeries, DayTable, composite_scores};
use ktd_stats::moments::{count, mean};
use ktd_stats::{TRADING_DAYS_PER_YEAR, line_fit};
use std::collections::BTreeMap;

/// Figures of which a pool shows the mean over its alphas.
const AVERAGED: [&str; 10] = [
    "pps",
    "ic",
    "rank_ic",
    "rre",
    "pfs",
    "pfs_n",
    "pfs_t",
    "turnover",
    "composite",
    "logic",
];

/// The rows of all alphas on a split.
pub(crate) fn alpha_rows(
    open: &OpenStudy,
    found: &[AlphaFound],
    place: usize,
    split: &SplitTables<'_>,
) -> Vec<AlphaRow> {
    let mut alphas = found.iter();
    let mut rows = Vec::with_capacity(found.len());
    for pool in &open.pools {
        for ((line, formula), duplicate_of) in pool.set.checked.iter().zip(pool.set.duplicates()) {
            let Some(alpha) = alphas.next() else { continue };
            let Some(of_split) = alpha.splits.get(place) else {
                continue;
            };
            let mut row = of_split.row.clone();
            row.put("logic", open.logic.of(formula.canonical()));
            rows.push(AlphaRow {
                split: split.name.to_owned(),
                pool: pool.id.clone(),
                id: line.id.clone(),
                formula: formula.canonical().to_owned(),
                is_turned: alpha.is_turned,
                duplicate_of: duplicate_of.map(str::to_owned),
                is_constant: of_split.is_constant,
                row,
            });
        }
    }
    add_composites(&mut rows);
    rows
}

/// The share of the members' cells that have a score.
pub(crate) fn coverage(scores: &DayTable, split: &SplitTables<'_>) -> f64 {
    let (members, days) = (split.split.members, &split.split.days);
    let on_day = |day: &usize| {
        let cells = scores.day(*day).iter().zip(members.day(*day));
        cells
            .filter(|(score, is_member)| **is_member && score.is_finite())
            .count()
    };
    count(days.iter().map(on_day).sum()) / count(members.cells(days))
}

/// The daily returns of an alpha's portfolio; none where it has none.
pub(crate) fn portfolio_returns(evaluation: &AlphaEvaluation) -> DaySeries {
    let test = evaluation.portfolio.as_ref().ok();
    test.map(|test| {
        test.days
            .iter()
            .copied()
            .zip(test.returns.iter().copied())
            .collect()
    })
    .unwrap_or_default()
}

/// Mean correlations and the portfolio's return by calendar year.
pub(crate) fn yearly_figures(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    evaluation: &AlphaEvaluation,
) -> Vec<(String, FigureRow)> {
    let year = |day: usize| {
        let day = open.data.panel.calendar.get(split.window.start + day);
        day.map(|day| day.reveal().chars().take(4).collect::<String>())
            .unwrap_or_default()
    };
    let mut years: BTreeMap<String, [Vec<f64>; 3]> = BTreeMap::new();
    for day in &evaluation.daily.days {
        let [ics, rank_ics, _] = years.entry(year(day.day)).or_default();
        ics.push(day.ic);
        rank_ics.push(day.rank_ic);
    }
    for (day, earned) in portfolio_returns(evaluation) {
        let [_, _, returns] = years.entry(year(day)).or_default();
        returns.push(earned);
    }
    let row = |[ics, rank_ics, returns]: [Vec<f64>; 3]| {
        let mean = |values: &[f64]| mean(values).ok_or_else(|| "too_few_days".to_owned());
        let mut row = FigureRow::default();
        row.put("days", Ok(count(ics.len())));
        row.put("ic", mean(&ics));
        row.put("rank_ic", mean(&rank_ics));
        row.put("ar", mean(&returns).map(|mean| TRADING_DAYS_PER_YEAR * mean));
        row
    };
    years
        .into_iter()
        .map(|(year, values)| (year, row(values)))
        .collect()
}

/// Weighted correlations by day, counted from a first one.
pub(crate) fn daily_scores(daily: &DailyCorrelations, beta: f64, first: usize) -> DaySeries {
    let days = daily.days.iter();
    days.map(|day| (day.day - first, beta * day.ic + (1.0 - beta) * day.rank_ic))
        .collect()
}

/// The figures that alphas and combinations share.
pub(crate) fn add_evaluation(row: &mut FigureRow, evaluation: &AlphaEvaluation, other_label: &str) {
    let power = coded(evaluation.power);
    let mut put = |name: &str, figure: Figure| row.put(name, figure);
    put("days", Ok(count(evaluation.daily.days.len())));
    put("left_out", Ok(count(evaluation.daily.left_out)));
    put("pps", power.clone().map(|power| power.score));
    put("ic", power.clone().map(|power| power.ic));
    put("rank_ic", power.clone().map(|power| power.rank_ic));
    put("icir", power.clone().and_then(|power| coded(power.ic_ratio)));
    put(
        "rank_icir",
        power.clone().and_then(|power| coded(power.rank_ic_ratio)),
    );
    put("nw_t", power.and_then(|power| coded(power.rank_ic_t)));
    let other = coded(evaluation.other_power);
    put(
        &format!("pps_{other_label}"),
        other.clone().map(|power| power.score),
    );
    put(&format!("ic_{other_label}"), other.clone().map(|power| power.ic));
    put(
        &format!("rank_ic_{other_label}"),
        other.map(|power| power.rank_ic),
    );
    put(
        "rre",
        coded(evaluation.stability).map(|stability| stability.score),
    );
    let test = coded(evaluation.portfolio.as_ref().map_err(|reason| *reason));
    put("turnover", test.clone().and_then(|test| coded(test.turnover)));
    put("ar", test.clone().map(|test| test.annual_return));
    put("sr", test.clone().and_then(|test| coded(test.sharpe)));
    put("mdd", test.clone().map(|test| test.max_drawdown));
    put("without_label", test.map(|test| count(test.without_label)));
    let test = coded(evaluation.with_costs.as_ref().map_err(|reason| *reason));
    put("ar_10bps", test.clone().map(|test| test.annual_return));
    put("sr_10bps", test.and_then(|test| coded(test.sharpe)));
}

fn add_composites(rows: &mut [AlphaRow]) {
    let column = |name: &str| -> Vec<Option<f64>> { rows.iter().map(|row| row.row.get(name)).collect() };
    let composites = composite_scores(&["pps", "rre", "pfs", "logic"].map(column));
    for (row, composite) in rows.iter_mut().zip(composites) {
        row.row.put("composite", coded(composite));
    }
}

/// A split: its days, and the line of turnover on stability.
pub(crate) fn split_row(open: &OpenStudy, split: &SplitTables<'_>, rows: &[AlphaRow]) -> SplitRow {
    let points: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some((row.row.get("rre")?, row.row.get("turnover")?)))
        .filter(|(_, turnover)| 0.0 < *turnover)
        .collect();
    let fit = coded(line_fit(&points));
    let mut row = FigureRow::default();
    row.put("slope", fit.clone().map(|fit| fit.slope));
    row.put("slope_error", fit.clone().map(|fit| fit.slope_error));
    row.put("intercept", fit.clone().map(|fit| fit.intercept));
    row.put("intercept_error", fit.clone().map(|fit| fit.intercept_error));
    row.put("p", fit.clone().map(|fit| fit.p));
    row.put("r_squared", fit.map(|fit| fit.r_squared));
    let days = &split.split.days;
    SplitRow {
        split: split.name.to_owned(),
        from: open.day_of(split, days.first()),
        to: open.day_of(split, days.last()),
        days: days.len(),
        label_days: split.split.label_days.len(),
        cells: split.split.members.cells(days),
        points: points.len(),
        row,
    }
}

/// A pool: means over its alphas, and its diversity.
pub(crate) fn pool_row(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    pool: &StudyPool,
    rows: &[&AlphaRow],
    diversity: Figure,
) -> PoolRow {
    let mut row = FigureRow::default();
    for name in AVERAGED {
        let values: Vec<f64> = rows.iter().filter_map(|row| row.row.get(name)).collect();
        row.put(name, mean(&values).ok_or_else(|| "no_alpha_has_it".to_owned()));
    }
    row.put("de", diversity);
    let first = open.day_of(split, split.split.days.first());
    let known_until = pool.known_on(split.name == "test");
    let may_know = |known: &String| known == UNKNOWN || first <= *known;
    PoolRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        alphas: rows.len(),
        duplicates: rows.iter().filter(|row| row.duplicate_of.is_some()).count(),
        constants: rows.iter().filter(|row| row.is_constant).count(),
        refused: pool.set.refused.len(),
        tried: pool.tried,
        is_hindsight: known_until.is_some_and(may_know),
        known_until: known_until.cloned(),
        row,
    }
}

/// The combination of a pool by one kind of weights, from its evaluation.
pub(crate) fn combination_row(
    open: &OpenStudy,
    split: &SplitTables<'_>,
    pool: &StudyPool,
    (weights, evaluation): (&Weights, &AlphaEvaluation),
) -> CombinationRow {
    let mut row = FigureRow::default();
    match &weights.1 {
        Ok(_) => add_evaluation(&mut row, evaluation, open.label_words().1),
        Err(reason) => row.put("pps", Err(reason.clone())),
    }
    CombinationRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        weights: weights.0.to_owned(),
        row,
    }
}

impl OpenStudy {
    /// A day of a split as text.
    pub(crate) fn day_of(&self, split: &SplitTables<'_>, place: Option<&usize>) -> String {
        let session = place.map(|day| split.window.start + day);
        let day = session.and_then(|session| self.data.panel.calendar.get(session));
        day.map(|day| day.reveal()).unwrap_or_default()
    }
}
