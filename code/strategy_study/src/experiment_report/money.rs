//! T7: tokens and money.

use super::material::StrategyReport;
use super::scores::overall;
use crate::cells::{count, figure, missing, text};
use crate::number::mean;
use crate::run::{IterationTokens, SubmissionFound};
use ktd_experiment::amount::Picodollars;
use ktd_record::spending::Spending;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

const NO_PRICE: &str = "the model has no price";

/// T7: tokens by iteration, over all models.
pub(super) fn by_iteration(report: &StrategyReport) -> ReportTable {
    let mut all: BTreeMap<usize, IterationTokens> = BTreeMap::new();
    for (iteration, own) in report
        .submissions
        .iter()
        .flat_map(|submission| &submission.tokens)
    {
        let sum = all.entry(*iteration).or_default();
        sum.requests += own.requests;
        sum.input += own.input;
        sum.output += own.output;
    }
    let rows = all.into_iter().map(|(iteration, sum)| {
        vec![
            TableCell::Count(iteration),
            count(sum.requests),
            count(sum.input),
            count(sum.output),
        ]
    });
    let heads = [
        ("iteration", Right),
        ("requests", Right),
        ("tokens in", Right),
        ("tokens out", Right),
    ];
    let data = TableData::new("T7. Tokens by iteration", heads).with_rows(rows);
    ReportTable::new("T7_iterations", data)
}

/// What one model cost and came to.
struct ModelCost<'a> {
    model: &'a str,
    submissions: usize,
    valid: usize,
    spending: Spending,
    /// Over valid submissions.
    overall: Option<f64>,
}

impl ModelCost<'_> {
    /// Cost of one of so many.
    fn each(&self, number: usize) -> Option<f64> {
        let number = u64::try_from(number).ok().filter(|number| *number > 0)?;
        Some(Picodollars(self.spending.total()?.0 / number).to_usd())
    }
}

const HEADS: [(&str, Align); 8] = [
    ("model", Left),
    ("tokens in", Right),
    ("tokens out", Right),
    ("cost", Right),
    ("a submission", Right),
    ("a valid one", Right),
    ("overall", Right),
    ("tier", Left),
];

/// T7: what each model's submissions cost, with its tier by price and quality.
pub(super) fn by_model(report: &StrategyReport) -> ReportTable {
    let costs: Vec<ModelCost<'_>> = report
        .models()
        .into_iter()
        .map(|model| {
            let own: Vec<&SubmissionFound> = report.of_model(model).collect();
            let mut spending = Spending::nothing();
            for one in own.iter().map(|own| &own.spending) {
                spending.add(one);
            }
            let scores: Vec<f64> = own.iter().filter_map(|own| overall(own)).collect();
            ModelCost {
                model,
                submissions: own.len(),
                valid: own.iter().filter(|own| own.valid().is_some()).count(),
                spending,
                overall: mean(&scores),
            }
        })
        .collect();
    let placed: Vec<(f64, f64)> = costs
        .iter()
        .filter_map(|cost| Some((cost.each(cost.submissions)?, cost.overall?)))
        .collect();
    let rows = costs.iter().map(|cost| row(cost, &placed));
    let data = TableData::new("T7. Tokens, money and tiers", HEADS)
        .with_rows(rows)
        .with_note(
            "without reviews; tier: cost of a submission and measured overall score, each against the median of models that \
             have both",
        );
    ReportTable::new("T7_money", data)
}

fn row(cost: &ModelCost<'_>, placed: &[(f64, f64)]) -> Vec<TableCell> {
    let tokens = &cost.spending.tokens;
    let dollars = |number: usize| match (cost.spending.total(), cost.each(number)) {
        (None, _) => missing(NO_PRICE),
        (Some(_), None) => missing("no such submission"),
        (Some(_), Some(dollars)) => TableCell::Dollars(dollars),
    };
    let total = cost.spending.total().map(Picodollars::to_usd);
    vec![
        text(cost.model),
        count(tokens.input()),
        count(tokens.all() - tokens.input()),
        figure(total, TableCell::Dollars, NO_PRICE),
        dollars(cost.submissions),
        dollars(cost.valid),
        figure(cost.overall, TableCell::Fine, crate::cells::NONE_VALID),
        tier(cost, placed),
    ]
}

fn tier(cost: &ModelCost<'_>, placed: &[(f64, f64)]) -> TableCell {
    let (Some(dollars), Some(overall)) = (cost.each(cost.submissions), cost.overall) else {
        return missing("no price, or no valid submission");
    };
    if placed.len() < 2 {
        return missing("below two models with a price and a valid submission");
    }
    let median = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = placed.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2).copied().unwrap_or_default();
        let before = values.get((values.len() - 1) / 2).copied().unwrap_or_default();
        f64::midpoint(before, middle)
    };
    let is_cheap = dollars <= median(|(dollars, _)| *dollars);
    let is_good = overall >= median(|(_, overall)| *overall);
    text(match (is_cheap, is_good) {
        (true, true) => "cheap and good",
        (true, false) => "cheap",
        (false, true) => "dear and good",
        (false, false) => "dear",
    })
}
