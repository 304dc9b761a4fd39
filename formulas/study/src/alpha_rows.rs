//! The rows of a report: alphas, pools and their combinations over the days of a split.

use crate::alpha_found::AlphaFound;
use crate::alpha_report::{AlphaRow, CombinationRow, PoolRow, SplitRow};
use crate::open_study::OpenStudy;
use crate::pool_products::Weights;
use crate::split_tables::SplitTables;
use crate::study_pool::{StudyPool, UNKNOWN};
use ktd_alphas::{
    AlphaEvaluation, Figure, FigureRow, coded, composite_correlations, composite_scores, stability_line,
};

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

/// The word for a mean over alphas where none has a value.
pub(crate) const NO_ALPHA: &str = "no_alpha_has_it";

/// The rows of all alphas on a split.
pub(crate) fn alpha_rows(
    open: &OpenStudy,
    found: &[AlphaFound],
    place: usize,
    split: &SplitTables<'_>,
) -> Vec<AlphaRow> {
    let alphas = open.pools.iter().flat_map(|pool| {
        let checked = pool.set.checked.iter().zip(pool.set.duplicates());
        checked.map(move |((line, formula), duplicate_of)| (pool, line, formula, duplicate_of))
    });
    let rows = alphas
        .zip(found)
        .filter_map(|((pool, line, formula, duplicate_of), alpha)| {
            let of_split = alpha.splits.get(place)?;
            let mut row = of_split.row.clone();
            row.put("logic", open.logic_of(formula.canonical()));
            Some(AlphaRow {
                split: split.name.to_owned(),
                pool: pool.id.clone(),
                id: line.id.clone(),
                formula: formula.canonical().to_owned(),
                is_turned: alpha.is_turned,
                duplicate_of: duplicate_of.map(str::to_owned),
                is_constant: of_split.is_constant,
                like: None,
                row,
            })
        });
    let mut rows: Vec<AlphaRow> = rows.collect();
    let column = |name: &str| -> Vec<Option<f64>> { rows.iter().map(|row| row.row.get(name)).collect() };
    let composites = composite_scores(&["pps", "rre", "pfs", "logic"].map(column));
    for (row, composite) in rows.iter_mut().zip(composites) {
        row.row.put("composite", coded(composite));
    }
    rows
}

/// A split: its days, and what its alphas have in common.
pub(crate) fn split_row(open: &OpenStudy, split: &SplitTables<'_>, rows: &[AlphaRow]) -> SplitRow {
    let distinct = rows.iter().filter(|row| row.like.is_none()).map(|row| &row.row);
    let (points, mut row) = stability_line(rows.iter().map(|row| (&row.row, row.like.is_none())));
    row.add(composite_correlations(&distinct.collect::<Vec<_>>()));
    let days = &split.split.days;
    SplitRow {
        split: split.name.to_owned(),
        from: open.day_of(days.first()),
        to: open.day_of(days.last()),
        days: days.len(),
        label_days: split.split.label_days.len(),
        cells: split.split.members.cells(days),
        points,
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
        row.put_mean(name, &values, NO_ALPHA);
    }
    row.put("de", diversity);
    let first = open.day_of(split.split.days.first());
    let last = open.day_of(split.split.days.last());
    let known_until = pool.known_on(split.name == "test");
    let may_know = |known: &String| known == UNKNOWN || first <= *known;
    PoolRow {
        split: split.name.to_owned(),
        pool: pool.id.clone(),
        alphas: rows.len(),
        duplicates: rows.iter().filter(|row| row.duplicate_of.is_some()).count(),
        constants: rows.iter().filter(|row| row.is_constant).count(),
        refused: pool.set.refused.len(),
        made_by: pool.made_by.clone(),
        tried: pool.tried,
        trials_from: pool.trials_from,
        chosen_on: pool.chosen_on.clone(),
        is_chosen_here: pool
            .chosen_on
            .as_ref()
            .is_some_and(|[from, to]| *from <= last && first <= *to),
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
        Ok(_) => evaluation.add_figures(&mut row, open.label_words().1),
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
    /// A day of the tables as text.
    pub(crate) fn day_of(&self, day: Option<&usize>) -> String {
        let session = day.map(|day| self.window().start + day);
        let day = session.and_then(|session| self.data.panel.calendar.get(session));
        day.map(|day| day.reveal()).unwrap_or_default()
    }

    /// The year of a day of the tables.
    pub(crate) fn year_of(&self, day: usize) -> String {
        self.day_of(Some(&day)).chars().take(4).collect()
    }
}
