//! T2: scores by strategy, and whether they fall with its complexity.

use super::material::StrategyReport;
use super::scores::{overall, peers, published};
use crate::cells::{NO_REVIEW, NONE_VALID, figure, text};
use crate::number::mean;
use crate::run::SubmissionFound;
use ktd_strategy_code::{RankCorrelation, StrategyDocument};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{Align, TableCell, TableData};
use ktd_view::report_table::ReportTable;
use std::collections::BTreeMap;

const HEADS: [(&str, Align); 13] = [
    ("strategy", Left),
    ("name", Left),
    ("family", Left),
    ("bars", Left),
    ("assets", Right),
    ("complexity", Right),
    ("rules", Left),
    ("peers", Right),
    ("published static", Right),
    ("published overall", Right),
    ("overall", Right),
    ("valid", Right),
    ("submissions", Right),
];

/// Submissions by document, in the order of its identifier.
fn by_document(report: &StrategyReport) -> Vec<(StrategyDocument, Vec<&SubmissionFound>)> {
    let mut groups: BTreeMap<&str, Vec<&SubmissionFound>> = BTreeMap::new();
    for submission in &report.submissions {
        let own = groups.entry(&submission.rows.strategy).or_default();
        own.push(submission);
    }
    let known = groups.into_iter().filter_map(|(id, own)| {
        let document = report.strategy(id)?.document;
        Some((document, own))
    });
    known.collect()
}

fn mean_of(submissions: &[&SubmissionFound], score: impl Fn(&SubmissionFound) -> Option<f64>) -> Option<f64> {
    let scores: Vec<f64> = submissions.iter().filter_map(|own| score(own)).collect();
    mean(&scores)
}

/// T2.
pub(super) fn by_strategy(report: &StrategyReport) -> ReportTable {
    let rows = by_document(report)
        .into_iter()
        .map(|(document, own)| row(report, &document, &own));
    let data = TableData::new("T2. Strategies", HEADS).with_rows(rows).with_note(
        "peers: mean mark of D1 and D2, of 10, of valid submissions; published static: mean of published D3 and D4, of 10; \
         overall: mean of measured D1 to D3, of 1",
    );
    ReportTable::new("T2_strategies", data)
}

fn row(report: &StrategyReport, document: &StrategyDocument, own: &[&SubmissionFound]) -> Vec<TableCell> {
    let rules: Vec<&str> = document.rules.iter().map(String::as_str).collect();
    let bars = if document.is_intraday {
        "15 minutes"
    } else {
        "daily"
    };
    let reviewed = mean_of(own, |own| {
        mean(&peers(report, own).filter(|_| own.valid().is_some())?)
    });
    let fixed = mean_of(own, |own| mean(&own.valid()?.published_scores?));
    let whole = mean_of(own, |own| mean(&published(report, own)?));
    vec![
        text(&document.id),
        text(&document.name),
        text(&document.family),
        text(bars),
        TableCell::Count(document.assets.len()),
        TableCell::Ratio(document.complexity()),
        text(&rules.join(", ")),
        figure(reviewed, TableCell::Ratio, NO_REVIEW),
        figure(fixed, TableCell::Ratio, NONE_VALID),
        figure(whole, TableCell::Ratio, NO_REVIEW),
        figure(mean_of(own, overall), TableCell::Fine, NONE_VALID),
        TableCell::Count(own.iter().filter(|own| own.valid().is_some()).count()),
        TableCell::Count(own.len()),
    ]
}

/// T2: rank correlation of complexity and measured quality over strategies.
pub(super) fn correlation(report: &StrategyReport) -> ReportTable {
    let pairs = by_document(report)
        .into_iter()
        .filter_map(|(document, own)| Some((document.complexity(), mean_of(&own, overall)?)));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let found = RankCorrelation::of(&pairs, 1);
    let few = "below three strategies with a valid submission, or one of the two does not vary";
    let no_p = if found.is_some() {
        "exact up to twelve strategies"
    } else {
        few
    };
    let bounds = found.and_then(|found| found.bounds);
    let rows = [vec![
        TableCell::Count(pairs.len()),
        figure(found.map(|found| found.rho), TableCell::Fine, few),
        figure(found.and_then(|found| found.p), TableCell::P, no_p),
        figure(bounds.map(|bounds| bounds.0), TableCell::Fine, few),
        figure(bounds.map(|bounds| bounds.1), TableCell::Fine, few),
    ]];
    let heads = [
        ("strategies", Right),
        ("Spearman", Right),
        ("exact p", Right),
        ("low", Right),
        ("high", Right),
    ];
    let data = TableData::new("T2. Complexity and measured quality", heads)
        .with_rows(rows)
        .with_note(
            "over strategies with a valid submission; p: share of all orders at least as far from 0, on both sides; low and \
             high: the middle 95 % where strategies are drawn again",
        );
    ReportTable::new("T2_complexity", data)
}
