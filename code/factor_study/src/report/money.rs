//! Tables of tokens and money.

use super::cells::ReportedCell;
use super::rates::{count, missing, text};
use crate::run::RoundSpending;
use ktd_experiment::amount::Picodollars;
use ktd_factor_code::{Funnel, JudgeRule, LayersPassed, TaskGroup};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};

const NO_PRICE: &str = "the model has no price";

/// Table 11: what a bundle cost.
pub(super) fn table(cells: &[ReportedCell<'_>]) -> TableData {
    let heads = [
        ("bundle", Left),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
        ("cost", Right),
        ("a task", Right),
        ("a verified task", Right),
    ];
    let rows = cells.iter().map(|reported| {
        let spending = &reported.found.spending;
        let spent = RoundSpending::of(0, spending);
        let funnel = Funnel::of(&reported.last(), TaskGroup::All, &reported.rules);
        let verified = funnel.rate(JudgeRule::Strict, LayersPassed::Verified).passed;
        let total = spending.total();
        let each = |tasks: u64| match (total, tasks) {
            (None, _) => missing(NO_PRICE),
            (Some(_), 0) => missing("no such task"),
            (Some(amount), tasks) => TableCell::Dollars(Picodollars(amount.0 / tasks).to_usd()),
        };
        vec![
            text(reported.name()),
            count(spent.requests),
            count(spent.tokens_in),
            count(spent.tokens_out),
            total.map_or_else(|| missing(NO_PRICE), |amount| TableCell::Dollars(amount.to_usd())),
            each(funnel.tasks),
            each(verified),
        ]
    });
    TableData::new("T11. Tokens and money", heads).with_rows(rows)
}

/// Tokens by round, as the exchanges have them.
pub(super) fn rounds(cells: &[ReportedCell<'_>]) -> TableData {
    let heads = [
        ("bundle", Left),
        ("round", Right),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
    ];
    let rows = cells.iter().flat_map(|reported| {
        reported.found.spent_in_rounds.iter().map(|spent| {
            vec![
                text(reported.name()),
                TableCell::Text(spent.round.to_string()),
                count(spent.requests),
                count(spent.tokens_in),
                count(spent.tokens_out),
            ]
        })
    });
    TableData::new("T11. Tokens by round", heads).with_rows(rows)
}
