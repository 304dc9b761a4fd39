//! T2: scores by strategy, by model too as pictures, and whether they fall with its complexity.

use super::material::StrategyReport;
use super::scores::{mean_of, overall, overall_valid, peers, published};
use crate::cells::{NO_REVIEW, NONE_VALID, mean};
use crate::run::SubmissionFound;
use ktd_strategy_code::{RankCorrelation, StrategyDocument};
use ktd_view::draw::{HeatCell, HeatMap, TableCell, captioned, decimals};
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Submissions by document, in the order of its identifier.
fn by_document(report: &StrategyReport) -> Vec<(StrategyDocument, Vec<&SubmissionFound>)> {
    let mut groups: BTreeMap<&str, Vec<&SubmissionFound>> = BTreeMap::new();
    for submission in report.counted() {
        groups
            .entry(&submission.rows.strategy)
            .or_default()
            .push(submission);
    }
    let known = groups.into_iter();
    known
        .filter_map(|(id, own)| Some((report.strategy(id)?.1, own)))
        .collect()
}

/// T2.
pub(super) fn by_strategy(report: &StrategyReport) -> ReportTable {
    let is_valid = |own: &SubmissionFound| own.rows.valid().is_some();
    let reviewed = |own: &SubmissionFound| mean(&peers(report, own).filter(|_| is_valid(own))?);
    let ratio: (fn(f64) -> TableCell, _) = (TableCell::Ratio, NO_REVIEW);
    let fixed: (fn(f64) -> TableCell, _) = (TableCell::Ratio, NONE_VALID);
    let data = RowTable::new("T2. Strategies", &by_document(report))
        .text("strategy", |(document, _)| &document.id)
        .text("name", |(document, _)| &document.name)
        .text("family", |(document, _)| &document.family)
        .text("bars", |(document, _)| document.frequency())
        .count("assets", |(document, _)| document.assets.len())
        .ratio("complexity", |(document, _)| document.complexity())
        .text("rules", |(document, _)| {
            let rules: Vec<&str> = document.rules.iter().map(String::as_str).collect();
            rules.join(", ")
        })
        .figure("peers", |(_, own)| mean_of(own, reviewed), ratio)
        .figure(
            "published static",
            |(_, own)| mean_of(own, |own| mean(&own.rows.valid()?.published_scores?)),
            fixed,
        )
        .figure("published overall", |(_, own)| mean_of(own, |own| mean(&published(report, own)?)), ratio)
        .figure("overall", |(_, own)| mean_of(own, overall), (TableCell::Fine, NONE_VALID))
        .figure("valid overall", |(_, own)| mean_of(own, overall_valid), (TableCell::Fine, NONE_VALID))
        .count("valid", |(_, own)| own.iter().filter(|own| is_valid(own)).count())
        .count("submissions", |(_, own)| own.len())
        .table()
        .with_note(
            "peers: mean mark of D1 and D2, of 10, of valid submissions; published static: mean of published D3 and D4, of 10; \
             overall: mean of measured D1 to D3, of 1, over all submissions with 0 for an invalid one, and over valid ones",
        );
    ReportTable::new("T2_strategies", data)
}

/// The overall score of each model on each document, and folded below it each score alone.
pub(super) fn picture(report: &StrategyReport) -> Markup {
    let alone = |place: usize| {
        move |own: &SubmissionFound| own.rows.valid().and_then(|own| own.score(place)).unwrap_or(0.0)
    };
    html! {
        (map(report, "overall", |own| overall(own).unwrap_or(0.0)))
        details {
            summary { "The same of D1, D2 and D3 alone" }
            @for (place, name) in ["D1", "D2", "D3"].into_iter().enumerate() { (map(report, name, alone(place))) }
        }
    }
}

/// A score of each model on each document, and over all of them.
fn map(report: &StrategyReport, name: &str, score: impl Fn(&SubmissionFound) -> f64) -> Markup {
    let documents = by_document(report);
    let columns = documents.iter().map(|(document, _)| document.id.clone());
    let rows = report.models().into_iter().map(|model| {
        let cell = |head: &str, own: &[&SubmissionFound]| {
            let own = own.iter().filter(|own| own.rows.model == model);
            let own: Vec<&SubmissionFound> = own.copied().collect();
            let scores: Vec<f64> = own.iter().map(|own| score(own)).collect();
            let valid = own.iter().filter(|own| own.rows.valid().is_some()).count();
            mean(&scores).map_or_else(
                || HeatCell::none(format!("{model}, {head}: no submission")),
                |score| {
                    let figure = decimals(score, 3);
                    let words = format!("{model}, {head}: {name} {figure}; valid {valid} of {}", own.len());
                    HeatCell::of_share(score, decimals(score, 2), words)
                },
            )
        };
        let of_documents = documents.iter().map(|(document, own)| cell(&document.id, own));
        let all: Vec<&SubmissionFound> = report.counted().collect();
        (
            model.to_owned(),
            of_documents.chain([cell("all", &all)]).collect(),
        )
    });
    let map = HeatMap {
        rows: rows.collect(),
        columns: columns.chain(["all".to_owned()]).collect(),
    };
    let caption = format!(
        "Measured {name} by model and strategy, of 1: means over seeds, 0 for an invalid submission; stronger from .2, .4, .6 and .8 on \
         (T3_scores.csv, T2_strategies.csv)"
    );
    captioned(
        &caption,
        [],
        &map.figure(&caption, "a row a model, a column a strategy"),
    )
}

/// T2: rank correlation of complexity and measured quality over strategies.
pub(super) fn correlation(report: &StrategyReport) -> ReportTable {
    let pairs = by_document(report)
        .into_iter()
        .filter_map(|(document, own)| Some((document.complexity(), mean_of(&own, overall)?)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let found = RankCorrelation::of(&pairs);
    let few = "below three strategies, or one of the two does not vary";
    let no_p = if found.is_some() {
        "exact up to twelve strategies"
    } else {
        few
    };
    let bounds = found.and_then(|found| found.bounds);
    let fine: (fn(f64) -> TableCell, _) = (TableCell::Fine, few);
    let unbounded: (fn(f64) -> TableCell, _) = (
        TableCell::Fine,
        "below four strategies, or one of the two does not vary",
    );
    let data = RowTable::new("T2. Complexity and measured quality", [()])
        .count("strategies", |()| pairs.len())
        .figure("Spearman", |()| found.map(|found| found.rho), fine)
        .figure("exact p", |()| found.and_then(|found| found.p), (TableCell::P, no_p))
        .figure("low", |()| bounds.map(|bounds| bounds.0), unbounded)
        .figure("high", |()| bounds.map(|bounds| bounds.1), unbounded)
        .table()
        .with_note(
            "over all strategies, an invalid submission counts 0; p: share of all orders at least as far from 0, on both sides; low and \
             high: 95 % for strategies like these, from four on (Bonett and Wright 2000)",
        );
    ReportTable::new("T2_complexity", data)
}

#[cfg(test)]
mod tests {
    use super::super::material::fixture::{report, submission, version};
    use super::*;

    #[test]
    fn the_picture_has_a_cell_a_model_and_strategy_and_none_is_not_zero() {
        let all = vec![
            submission(("a", "S01"), vec![version(0, 6, None)], Vec::new()),
            submission(("a", "S02"), vec![version(0, 3, None)], Vec::new()),
            submission(("b", "S01"), vec![version(0, 6, None)], Vec::new()),
        ];
        let shown = picture(&report(all, None)).into_string();
        for title in [
            "a, S01: overall 0.583; valid 1 of 1",
            "a, S02: overall 0.000; valid 0 of 1",
            "a, all: overall 0.292; valid 1 of 2",
            "b, S02: no submission",
            "b, S01: D3 0.250; valid 1 of 1",
        ] {
            assert!(
                shown.contains(&format!("<title>{title}</title>")),
                "{title}: {shown}"
            );
        }
    }
}
