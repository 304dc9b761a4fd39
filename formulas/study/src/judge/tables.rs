//! Judgements as tables.

use super::record::LogicJudgement;
use crate::alpha_tables::cell;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

/// Figures of a judge with their heads.
const FIGURES: [(&str, &str); 11] = [
    ("mean", "mean"),
    ("spread", "spread"),
    ("length_difference", "longer less short"),
    ("length_p", "p"),
    ("length_slope", "per ln(nodes)"),
    ("nonsense_mean", "nonsense"),
    ("nonsense_highest", "highest"),
    ("repeat_distance", "repeat"),
    ("repeat_tau", "repeat tau"),
    ("ndcg_10", "NDCG@10"),
    ("ndcg_all", "NDCG"),
];

/// Judges with their controls.
#[must_use]
pub(super) fn judge_table(judgement: &LogicJudgement) -> TableData {
    let heads = [("judge", Left), ("model", Left)].into_iter();
    let heads = heads.chain(FIGURES.map(|(_, head)| (head, Right)));
    let heads = heads.chain([("questions", Right), ("lost", Right), ("marks", Left)]);
    let rows = judgement.judges.iter().map(|judge| {
        let mut cells = vec![
            TableCell::Text(judge.id.clone()),
            TableCell::Text(judge.model.clone()),
        ];
        cells.extend(FIGURES.map(|(name, _)| cell(&judge.row, name)));
        cells.push(TableCell::Count(judge.questions));
        cells.push(TableCell::Count(judge.lost.all()));
        let mark = if judge.is_miner {
            "its model found formulas of these pools"
        } else {
            ""
        };
        cells.push(TableCell::Text(mark.to_owned()));
        cells
    });
    let table = TableData::new(
        "judges: Logic, and what length, nonsense and chance have to do with it",
        heads,
    );
    let table = table.with_rows(rows);
    judgement.agreement.iter().fold(table, |table, pair| {
        let tau = pair
            .tau
            .map_or_else(|| "undefined".to_owned(), |tau| format!("{tau:.3}"));
        table.with_note(format!(
            "{} and {}: Kendall tau {tau} over {} formulas",
            pair.first, pair.second, pair.formulas
        ))
    })
}

/// Pools with the means of their scores.
#[must_use]
pub(super) fn judged_pool_table(judgement: &LogicJudgement) -> TableData {
    let heads = [
        ("pool", Left),
        ("Logic", Right),
        ("judged", Right),
        ("alphas", Right),
        ("found by", Left),
    ];
    let rows = judgement.pools.iter().map(|pool| {
        vec![
            TableCell::Text(pool.pool.clone()),
            pool.score
                .map_or_else(|| TableCell::Missing("not_judged".to_owned()), TableCell::Fine),
            TableCell::Count(pool.judged),
            TableCell::Count(pool.alphas),
            TableCell::Text(pool.miners.join(", ")),
        ]
    });
    TableData::new("pools: the mean Logic of their alphas", heads).with_rows(rows)
}

/// Formulas with their scores, the best first.
#[must_use]
pub(super) fn judged_formula_table(judgement: &LogicJudgement) -> TableData {
    let heads = [
        ("Logic", Right),
        ("spread", Right),
        ("nodes", Right),
        ("formula", Left),
    ];
    let mut formulas: Vec<_> = judgement.formulas.iter().collect();
    formulas.sort_by(|left, right| {
        let score = |score: Option<f64>| score.unwrap_or(f64::NEG_INFINITY);
        score(right.score).total_cmp(&score(left.score))
    });
    let rows = formulas.into_iter().map(|formula| {
        let reason = || formula.reason.clone().unwrap_or_else(|| "not_judged".to_owned());
        let spread = formula.by.iter().filter_map(|by| by.spread).reduce(f64::max);
        vec![
            formula
                .score
                .map_or_else(|| TableCell::Missing(reason()), TableCell::Fine),
            spread.map_or(TableCell::Empty, TableCell::Fine),
            TableCell::Count(formula.nodes),
            TableCell::Text(formula.formula.clone()),
        ]
    });
    TableData::new("formulas by Logic", heads).with_rows(rows)
}
