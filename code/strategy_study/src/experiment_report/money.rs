//! T7: tokens and money, as tables and as a picture.

use super::material::StrategyReport;
use super::scores::{mean_of, overall};
use crate::cells::{NONE_VALID, missing};
use crate::run::{IterationTokens, SubmissionFound};
use ktd_experiment::amount::Picodollars;
use ktd_record::spending::Spending;
use ktd_stats::{Sample, median};
use ktd_view::draw::{
    Align, Anchor, Axes, Axis, COLOURS, Canvas, Edges, TableCell, captioned, decimals, real,
};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use maud::Markup;
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

    /// Tokens of one submission.
    fn tokens_each(&self) -> f64 {
        let all = usize::try_from(self.spending.tokens.all()).unwrap_or(usize::MAX);
        real(all) / real(self.submissions.max(1))
    }

    fn tier(&self, placed: &[(f64, f64)]) -> TableCell {
        let (Some(dollars), Some(overall)) = (self.each(self.submissions), self.overall) else {
            return missing("no price, or no valid submission");
        };
        if placed.len() < 2 {
            return missing("below two models with a price and a valid submission");
        }
        let is_cheap = middle(placed, |(dollars, _)| *dollars).is_some_and(|middle| dollars <= middle);
        let is_good = middle(placed, |(_, overall)| *overall).is_some_and(|middle| middle <= overall);
        let tier = match (is_cheap, is_good) {
            (true, true) => "cheap and good",
            (true, false) => "cheap",
            (false, true) => "dear and good",
            (false, false) => "dear",
        };
        TableCell::Text(tier.to_owned())
    }
}

/// The median of one side of models' prices and qualities.
fn middle(placed: &[(f64, f64)], of: fn(&(f64, f64)) -> f64) -> Option<f64> {
    let values: Vec<f64> = placed.iter().map(of).collect();
    median(&Sample::new("models", &values).ok()?).ok()
}

/// A model, its price and its quality.
type PricedModel<'a> = (&'a str, f64, f64);

/// The models with their prices of a submission, in dollars, or in tokens where a model has no price; none where neither is known.
fn priced<'a>(costs: &'a [ModelCost<'a>]) -> Option<(bool, Vec<PricedModel<'a>>)> {
    let of = |price: &dyn Fn(&ModelCost<'_>) -> Option<f64>| {
        let placed = costs
            .iter()
            .map(|cost| Some((cost.model, price(cost)?, cost.overall?)));
        let placed: Vec<PricedModel<'_>> = placed.collect::<Option<_>>()?;
        placed.iter().any(|(_, price, _)| 0.0 < *price).then_some(placed)
    };
    let dollars = of(&|cost| cost.each(cost.submissions));
    let tokens = || Some((false, of(&|cost| Some(cost.tokens_each()))?));
    dollars.map(|placed| (true, placed)).or_else(tokens)
}

/// The overall score of each model over what a submission costs, with the medians that tiers lie between.
pub(super) fn picture(report: &StrategyReport) -> Option<Markup> {
    let models = report.models().into_iter();
    let costs: Vec<ModelCost<'_>> = models.map(|model| ModelCost::of(report, model)).collect();
    let (is_money, placed) = priced(&costs)?;
    let most = placed.iter().map(|(_, price, _)| *price).fold(0.0, f64::max);
    let places = [0.05, 0.5, 5.0].iter().filter(|from| most < **from).count() + 1;
    let price = |value: f64| {
        if is_money {
            format!("$ {}", decimals(value, places))
        } else {
            format!("{value:.0}")
        }
    };
    let mut canvas = Canvas::new(680.0, 300.0);
    let plane = Axes {
        edges: Edges::new(10.0, 20.0, 36.0, 40.0),
        rows: None,
        x: Axis::new(0.0..most * 1.08, 6, &price),
        y: Axis::new(0.0..1.0, 5, &|score| decimals(score, 1)),
    }
    .draw(&mut canvas);
    let unit = if is_money {
        "cost of a submission"
    } else {
        "tokens of a submission"
    };
    canvas.text("tk", Anchor::Middle, (353.0, 297.0), unit);
    let pairs: Vec<(f64, f64)> = placed.iter().map(|(_, price, score)| (*price, *score)).collect();
    if 1 < pairs.len() {
        if let Some(x) = middle(&pairs, |pair| pair.0).map(|x| plane.x(x)) {
            canvas.line("law", (x, plane.down.start), (x, plane.down.end));
        }
        if let Some(y) = middle(&pairs, |pair| pair.1).map(|y| plane.y(y)) {
            canvas.line("law", (plane.across.start, y), (plane.across.end, y));
        }
    }
    for (place, (model, cost, score)) in placed.iter().enumerate() {
        let text = format!(
            "{model}: overall {}, {unit} {}",
            decimals(*score, 3),
            price(*cost)
        );
        let (x, y) = plane.at(*cost, *score);
        canvas.explained(&text, |canvas| {
            canvas.dot(&format!("dots f{}", place % COLOURS), (x, y), 4.5);
            canvas.text("tk", Anchor::Start, (x + 6.0, y - 5.0), &(place + 1).to_string());
        });
    }
    let caption = "Price against quality: measured overall score over what a submission costs, reviews apart; dashed: medians \
                   (T7_money.csv)";
    let names: Vec<String> = (1..)
        .zip(&placed)
        .map(|(place, (model, ..))| format!("{place} {model}"))
        .collect();
    let drawing = canvas.figure("wide", caption, "a dot a model");
    Some(captioned(caption, names.iter().map(String::as_str), &drawing))
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

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{report, submission, version};
    use super::*;
    use ktd_record::spending::Cost;

    fn bought(model: &str, microdollars: Option<u64>) -> SubmissionFound {
        let mut own = submission((model, "S01"), vec![version(0, 6, None)], Vec::new());
        own.spending.tokens.visible_output = 700;
        own.spending.cost = microdollars.map(|cost| Cost {
            paid_picodollars: Picodollars(cost * 1_000_000),
            ..Cost::default()
        });
        own
    }

    #[test]
    fn the_picture_is_of_money_and_of_tokens_where_a_model_has_no_price() {
        let of = |all: Vec<SubmissionFound>| picture(&report(all, None)).map(Markup::into_string);
        let shown = of(vec![bought("a", Some(20_000)), bought("b", Some(30_000))]).unwrap();
        let title = "<title>b: overall 0.583, cost of a submission $ 0.0300</title>";
        assert!(shown.contains(title), "{shown}");
        assert_eq!(shown.matches("class=\"law\"").count(), 2);
        let shown = of(vec![bought("a", Some(20_000)), bought("b", None)]).unwrap();
        assert!(shown.contains("tokens of a submission 700</title>"), "{shown}");
        let mut free = bought("a", None);
        free.spending = Spending::nothing();
        free.spending.cost = None;
        assert_eq!(of(vec![free]), None);
    }
}
