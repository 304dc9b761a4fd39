//! The page: one file without scripts and without anything to load. What a model wrote is escaped.

use super::material::{ReportedSubmission, StrategyReport};
use crate::arena::ReviewEvent;
use crate::rows::VersionRow;
use ktd_strategy_code::{DocumentId, Gate, document_text};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{STYLE, TableCell, TableData, counted, document, visible};
use ktd_view::report_table::ReportTable;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeSet;

/// Statements about the published benchmark that a reader of the tables needs.
const PUBLISHED: [&str; 5] = [
    "The paper speaks of five gates and lists six; all six are here, and each is shown.",
    "It counts 17 models in one place and 20 in others; shares here are of submissions.",
    "Its correlation of complexity and quality is given as p < .01 against its own critical value; here p is exact.",
    "Its D4 has no costs and windows of ten bars, in which indicators of 20 bars cannot trade.",
    "Its peers give 0.6 points more than its automatic scores, without a measured fidelity; here both stand side by side.",
];

/// The page of a report.
pub(super) fn page(report: &StrategyReport, tables: &[ReportTable]) -> String {
    let title = "Trading strategies written by models";
    let documents: BTreeSet<DocumentId> = report
        .submissions
        .iter()
        .filter_map(|submission| DocumentId::parse(&submission.rows.strategy))
        .collect();
    let body = html! {
        h1 { (title) }
        p.lead {
            (counted(report.submissions.len(), "submission")) ". Gates decide whether a program is valid, in the box; fidelity, \
             risk and reliability are measured against a reference strategy; published rules and scores stand beside and rank \
             nothing. Patches that moved away from the document are void."
        }
        ul.notes { @for statement in PUBLISHED { li { (statement) } } }
        @for table in tables {
            section id=(table.id) { (table.data.html()) p.source { (table.id) ".csv" } }
        }
        section id="submissions" {
            h2 { "Submissions" }
            @for submission in &report.submissions { (of_submission(report, submission)) }
        }
        section id="documents" {
            h2 { "Documents" }
            @for id in documents {
                details.submission { summary { b { (id.label()) } } pre { (document_text(id)) } }
            }
        }
    };
    document(title, &[STYLE, include_str!("style.css")], &body)
}

fn of_submission(report: &StrategyReport, submission: &ReportedSubmission) -> Markup {
    let rows = &submission.rows;
    let state = match (submission.ranked(), submission.valid()) {
        (None, _) => "no version stands".to_owned(),
        (Some(ranked), None) => format!(
            "version {} is ranked, and fails {}",
            ranked.iteration, ranked.gates
        ),
        (Some(ranked), Some(_)) => format!("version {} is ranked, and valid", ranked.iteration),
    };
    html! {
        details.submission {
            summary {
                b { bdi { (rows.model) } } " " (rows.strategy) ", seed " (rows.seed) ": " (state)
            }
            @for version in &rows.versions { (of_version(submission, version)) }
            @for (reviewer, event) in reviews(report, submission) { (of_review(reviewer, event)) }
        }
    }
}

fn of_version(submission: &ReportedSubmission, version: &VersionRow) -> Markup {
    let iteration = version.iteration;
    let source = submission.sources.get(iteration).and_then(Option::as_ref);
    let warnings = words(submission.found(iteration, "/report/warnings"));
    html! {
        h4 { "Iteration " (iteration) ": " (version.state) }
        (gates(submission, version).html())
        @if !warnings.is_empty() {
            p { "Static warnings, which decide nothing: " bdi { (shown(&warnings.join(", "))) } "." }
        }
        @if let Some(distances) = distances(submission, iteration) { (distances.html()) }
        @if let Some(source) = source { pre { code { (shown(source)) } } }
    }
}

/// The gates with what they saw.
fn gates(submission: &ReportedSubmission, version: &VersionRow) -> TableData {
    let rows = Gate::ALL.map(|gate| {
        let pointer = format!("/report/gates/{}/reason", gate.label());
        let reason = submission
            .found(version.iteration, &pointer)
            .and_then(Value::as_str);
        let passed = version.passed.iter().any(|name| name == gate.label());
        let state = match (passed, submission.found(version.iteration, "/report/gates")) {
            (true, _) => "passed",
            (false, Some(_)) => "failed",
            (false, None) => "not run",
        };
        vec![
            TableCell::Text(gate.label().to_owned()),
            TableCell::Text(state.to_owned()),
            TableCell::Text(reason.map_or_else(String::new, |reason| visible(reason).into_owned())),
        ]
    });
    TableData::new("Gates", [("gate", Left), ("state", Left), ("why", Left)]).with_rows(rows)
}

/// Distances to the reference by scenario.
fn distances(submission: &ReportedSubmission, iteration: usize) -> Option<TableData> {
    let found = submission.found(iteration, "/report/distances")?.as_object()?;
    let rows = found.iter().map(|(name, distance)| {
        let distance = distance.as_f64();
        vec![
            TableCell::Text(name.clone()),
            TableCell::optional(distance, TableCell::Fine),
        ]
    });
    let heads = [("scenario", Left), ("distance to the reference", Right)];
    Some(TableData::new("What it does, against the reference", heads).with_rows(rows))
}

/// The reviews of a submission, with their reviewers.
fn reviews<'a>(
    report: &'a StrategyReport,
    submission: &'a ReportedSubmission,
) -> impl Iterator<Item = (&'a str, &'a ReviewEvent)> {
    let rows = &submission.rows;
    let all = report
        .reviews
        .iter()
        .flat_map(|(reviewer, events)| events.iter().map(move |event| (reviewer.as_str(), event)));
    all.filter(move |(_, event)| {
        event.model.as_ref() == Some(&rows.model)
            && (&event.strategy, event.seed) == (&rows.strategy, rows.seed)
    })
}

fn of_review(reviewer: &str, event: &ReviewEvent) -> Markup {
    let missing = event.problem.as_deref().or(event.lost.as_deref());
    html! {
        p {
            "Review by " b { bdi { (reviewer) } } ": "
            @if let (Some(first), Some(second)) = (event.d1, event.d2) { "D1 " (first) ", D2 " (second) }
            @else { "none (" (missing.unwrap_or("unknown")) ")" }
        }
        @for (name, text) in [("Strengths", &event.strengths), ("Weaknesses", &event.weaknesses)] {
            @if !text.is_empty() { p { (name) ": " bdi { (shown(text)) } } }
        }
    }
}

fn words(value: Option<&Value>) -> Vec<&str> {
    let items = value.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Foreign lines without a character that is none of a line.
fn shown(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| visible(line)).collect();
    lines.join("\n")
}
