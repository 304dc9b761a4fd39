//! T7: tokens and money.

use super::material::StrategyReport;
use super::scores::{mean_of, overall};
use crate::cells::{NONE_VALID, missing};
use crate::run::{IterationTokens, SubmissionFound};
use ktd_experiment::amount::Picodollars;
use ktd_record::spending::Spending;
use ktd_stats::{Sample, median};
use ktd_view::draw::{Align, TableCell};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use std::collections::BTreeMap;

const NO_PRICE: &str = "the model has no price";

/// T7: tokens by iteration, over all models.
pub(super) fn by_iteration(report: &StrategyReport) -> ReportTable {
    let mut all: BTreeMap<usize, IterationTokens> = BTreeMap::new();
    for (iteration, own) in report.counted().flat_map(|submission| &submission.tokens) {
        let sum = all.entry(*iteration).or_default();
        sum.requests += own.requests;
        sum.input += own.input;
        sum.output += own.output;
    }
    let data = RowTable::new("T7. Tokens by iteration", all)
        .count("iteration", |(iteration, _)| iteration)
        .count("requests", |(_, sum)| sum.requests)
        .count("tokens in", |(_, sum)| sum.input)
        .count("tokens out", |(_, sum)| sum.output)
        .table();
    ReportTable::new("T7_iterations", data)
}

/// What one model cost and came to.
struct ModelCost<'a> {
    model: &'a str,
    submissions: usize,
    valid: usize,
    spending: Spending,
    /// Over all submissions, an invalid one as 0.
    overall: Option<f64>,
}

impl<'a> ModelCost<'a> {
    fn of(report: &'a StrategyReport, model: &'a str) -> Self {
        let own: Vec<&SubmissionFound> = report.of_model(model).collect();
        let mut spending = Spending::nothing();
        for one in &own {
            spending.add(&one.spending);
        }
        Self {
            model,
            submissions: own.len(),
            valid: own.iter().filter(|own| own.rows.valid().is_some()).count(),
            spending,
            overall: mean_of(&own, overall),
        }
    }

    /// Cost of one of so many.
    fn each(&self, number: usize) -> Option<f64> {
        let number = u64::try_from(number).ok().filter(|number| *number > 0)?;
        Some(Picodollars(self.spending.total()?.0 / number).to_usd())
    }

    fn cell(&self, number: usize) -> TableCell {
        match (self.spending.total(), self.each(number)) {
            (None, _) => missing(NO_PRICE),
            (Some(_), None) => missing("no such submission"),
            (Some(_), Some(dollars)) => TableCell::Dollars(dollars),
        }
    }

    fn tier(&self, placed: &[(f64, f64)]) -> TableCell {
        let (Some(dollars), Some(overall)) = (self.each(self.submissions), self.overall) else {
            return missing("no price, or no valid submission");
        };
        if placed.len() < 2 {
            return missing("below two models with a price and a valid submission");
        }
        let middle = |of: fn(&(f64, f64)) -> f64| {
            let values: Vec<f64> = placed.iter().map(of).collect();
            median(&Sample::new("models", &values).ok()?).ok()
        };
        let is_cheap = middle(|(dollars, _)| *dollars).is_some_and(|middle| dollars <= middle);
        let is_good = middle(|(_, overall)| *overall).is_some_and(|middle| middle <= overall);
        let tier = match (is_cheap, is_good) {
            (true, true) => "cheap and good",
            (true, false) => "cheap",
            (false, true) => "dear and good",
            (false, false) => "dear",
        };
        TableCell::Text(tier.to_owned())
    }
}

/// T7: what each model's submissions cost, with its tier by price and quality.
pub(super) fn by_model(report: &StrategyReport) -> ReportTable {
    let models = report.models().into_iter();
    let costs: Vec<ModelCost<'_>> = models.map(|model| ModelCost::of(report, model)).collect();
    let placed = costs
        .iter()
        .filter_map(|cost| Some((cost.each(cost.submissions)?, cost.overall?)));
    let placed: Vec<(f64, f64)> = placed.collect();
    let total = |cost: &ModelCost<'_>| cost.spending.total().map(Picodollars::to_usd);
    let data = RowTable::new("T7. Tokens, money and tiers", &costs)
        .text("model", |cost| cost.model)
        .count("tokens in", |cost| cost.spending.tokens.input())
        .count("tokens out", |cost| cost.spending.tokens.all() - cost.spending.tokens.input())
        .figure("cost", total, (TableCell::Dollars, NO_PRICE))
        .column(("a submission", Align::Right), |cost| cost.cell(cost.submissions))
        .column(("a valid one", Align::Right), |cost| cost.cell(cost.valid))
        .figure("overall", |cost| cost.overall, (TableCell::Fine, NONE_VALID))
        .column(("tier", Align::Left), |cost| cost.tier(&placed))
        .table()
        .with_note(
            "without reviews; tier: cost of a submission and measured overall score, each against the median of models that \
             have both",
        );
    ReportTable::new("T7_money", data)
}
