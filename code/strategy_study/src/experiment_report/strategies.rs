//! T2: scores by strategy, and whether they fall with its complexity.

use super::material::StrategyReport;
use super::scores::{mean_of, overall, overall_valid, peers, published};
use crate::cells::{NO_REVIEW, NONE_VALID, mean};
use crate::run::SubmissionFound;
use ktd_strategy_code::{RankCorrelation, StrategyDocument};
use ktd_view::draw::TableCell;
use ktd_view::report_table::ReportTable;
use ktd_view::row_table::RowTable;
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
