//! Judgements as tables.

use super::record::{JudgedFormula, LogicJudgement};
use crate::figure_columns::FigureColumns;
use ktd_view::draw::{Align, ShareMark, ShareRow, TableCell, TableData, named, share_rows};
use ktd_view::row_table::RowTable;
use maud::Markup;

/// Figures of a judge.
const FIGURES: [&str; 11] = [
    "mean",
    "spread",
    "length_difference",
    "length_p",
    "length_slope",
    "nonsense_mean",
    "nonsense_highest",
    "repeat_distance",
    "repeat_tau",
    "ndcg_10",
    "ndcg_all",
];

fn logic(score: Option<f64>, reason: Option<&String>) -> TableCell {
    let reason = || reason.map_or("not_judged", String::as_str);
    score.map_or_else(|| TableCell::Missing(named(reason())), TableCell::Fine)
}

/// Judges with their controls.
pub(super) fn judge_table(judgement: &LogicJudgement) -> TableData {
    let mark = |is_miner| {
        if is_miner {
            "its model found formulas of these pools"
        } else {
            ""
        }
    };
    let title = "judges: Logic, and what length, nonsense and chance have to do with it";
    let table = RowTable::new(title, &judgement.judges)
        .text("judge", |judge| &judge.id)
        .text("model", |judge| &judge.model)
        .figures(&FIGURES, |judge| &judge.row)
        .count("questions", |judge| judge.questions)
        .count("lost", |judge| judge.lost.all())
        .text("marks", |judge| mark(judge.is_miner))
        .table();
    judgement.agreement.iter().fold(table, |table, pair| {
        let tau = pair
            .tau
            .map_or_else(|| "undefined".to_owned(), |tau| format!("{tau:.3}"));
        let (first, second, formulas) = (&pair.first, &pair.second, pair.formulas);
        table.with_note(format!(
            "{first} and {second}: Kendall tau {tau} over {formulas} formulas"
        ))
    })
}

/// The highest score that a judge may give.
const HIGHEST: f64 = 100.0;

/// What each judge gives formulas, and what it gives nonsense: whose dots lie together tells neither from the other.
pub(super) fn judge_picture(judgement: &LogicJudgement) -> Markup {
    let dots = [
        ("formulas, mean", "mean"),
        ("nonsense, mean", "nonsense_mean"),
        ("nonsense, highest", "nonsense_highest"),
    ];
    let rows = judgement.judges.iter().map(|judge| {
        let mark = |(colour, (name, figure)): (usize, (&str, &str))| {
            let share = judge.row.get(figure).map(|score| score / HIGHEST);
            ShareMark::dot(colour, share, name)
        };
        ShareRow {
            name: judge.id.clone(),
            marks: dots.into_iter().enumerate().filter_map(mark).collect(),
        }
    });
    let caption = "Scores of each judge, of the highest that there is: a judge whose nonsense scores as high as its formulas tells \
                   neither from the other";
    share_rows(caption, &dots.map(|(name, _)| name), &rows.collect::<Vec<_>>())
}

/// Pools with the means of their scores.
pub(super) fn judged_pool_table(judgement: &LogicJudgement) -> TableData {
    RowTable::new("pools: the mean Logic of their alphas", &judgement.pools)
        .text("pool", |pool| &pool.pool)
        .right("Logic", |pool| logic(pool.score, None))
        .count("judged", |pool| pool.judged)
        .count("alphas", |pool| pool.alphas)
        .text("found by", |pool| pool.miners.join(", "))
        .table()
}

/// Formulas with their scores, the best first.
pub(super) fn judged_formula_table(judgement: &LogicJudgement) -> TableData {
    let mut formulas: Vec<&JudgedFormula> = judgement.formulas.iter().collect();
    let score = |formula: &JudgedFormula| formula.score.unwrap_or(f64::NEG_INFINITY);
    formulas.sort_by(|left, right| score(right).total_cmp(&score(left)));
    RowTable::new("formulas by Logic", formulas)
        .right("Logic", |formula| logic(formula.score, formula.reason.as_ref()))
        .fine("spread", |formula| {
            formula.by.iter().filter_map(|by| by.spread).reduce(f64::max)
        })
        .column(("nodes", Align::Right, 2), |formula| {
            TableCell::Count(formula.nodes)
        })
        .column(("formula", Align::Left, 0), |formula| {
            TableCell::Text(formula.formula.clone())
        })
        .table()
}
