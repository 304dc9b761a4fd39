//! The report: its verdict, its tables, and what every submission did.

use super::equity::equity;
use super::material::StrategyReport;
use super::strips::strips;
use crate::arena::ReviewEvent;
use crate::bar_traces::MarketTrace;
use crate::rows::VersionRow;
use crate::run::SubmissionFound;
use crate::run::VersionReport;
use crate::strip::LETTERS;
use crate::tables::version_table;
use ktd_strategy_code::Gate;
use ktd_study::{Report, Section, SectionPart, Shown};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, counted, visible};
use ktd_view::report_table::ReportTable;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Statements about the published benchmark that a reader of the tables needs.
const PUBLISHED: [&str; 5] = [
    "The paper speaks of five gates and lists six; all six are here, and each is shown.",
    "It counts 17 models in one place and 20 in others; shares here are of submissions.",
    "Its correlation of complexity and quality is given as p < .01 against its own critical value; here p is exact.",
    "Its D4 has no costs and windows of ten bars, in which indicators of 20 bars cannot trade.",
    "Its peers give 0.6 points more than its automatic scores, without a measured fidelity; here both stand side by side.",
];

/// Bars whose strips a page holds at most: some 200 versions of the documents that come with the benchmark.
const BARS_MAX: usize = 200_000;

/// Headings, and the tables below each by their numbers.
const SECTIONS: [(&str, &[&str]); 10] = [
    ("Gates", &["T1_"]),
    ("Strategies", &["T2_"]),
    ("Scores", &["T3_"]),
    ("Execution", &["T4_"]),
    ("Iterations", &["T5_"]),
    ("Convergence", &["T6_"]),
    ("Tokens and money", &["T7_"]),
    ("Reviews by peers", &["T8_"]),
    ("Real bars", &["T9_"]),
    ("Warnings and first failures", &["T10_", "T11_"]),
];
/// Tables that a terminal shows without being asked for all.
const SHORT: [&str; 2] = ["T1_gates", "T3_scores"];

/// The report of a study: tables, then submissions and documents. What a model wrote is escaped.
pub(crate) fn study_report(name: &str, report: &StrategyReport) -> Report {
    let mut about = Section::new("What is measured").picture(html! {
        p {
            "Gates decide whether a program is valid, in the box; fidelity, risk and reliability are measured against a reference \
             strategy; published rules and scores stand beside and rank nothing. Patches that moved away from the document are \
             void."
        }
        ul.notes { @for statement in PUBLISHED { li { (statement) } } }
    });
    let iterations = ReportTable::new("iterations", version_table(&report.rows));
    about.parts.push(SectionPart::Table(iterations, Shown::Terminal));
    let tables = report.tables();
    let of_heading = |(heading, numbers): (&'static str, &[&str])| {
        let own = tables
            .iter()
            .filter(|table| numbers.iter().any(|number| table.id.starts_with(number)));
        let shown = |table: &ReportTable| {
            if SHORT.contains(&table.id) {
                Shown::Everywhere
            } else {
                Shown::Page
            }
        };
        let parts = own.map(|table| SectionPart::Table(table.clone(), shown(table)));
        Section {
            heading,
            parts: parts.collect(),
        }
    };
    let sections = SECTIONS.into_iter().map(of_heading);
    Report {
        title: format!("{name}: trading strategies written by models"),
        verdict: verdict(report),
        sections: std::iter::once(about)
            .chain(sections)
            .chain([submissions(report), documents(report)])
            .collect(),
        styles: vec![include_str!("style.css")],
        ..Report::default()
    }
}

/// What the study comes to, in words.
fn verdict(report: &StrategyReport) -> String {
    let all = report.submissions.len();
    let valid = report
        .submissions
        .iter()
        .filter(|own| own.valid().is_some())
        .count();
    let lost = match report.lost.as_slice() {
        [] => String::new(),
        lost => format!(
            " {} lost by no fault of a model, and counted nowhere: {}.",
            lost_words(lost.len()),
            lost.iter()
                .map(|(name, why)| format!("{} ({})", visible(name), visible(why)))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    format!(
        "{valid} of {all} submissions of {} rank a program that passes all six gates.{lost}",
        counted(report.models().len(), "model")
    )
}

fn lost_words(count: usize) -> String {
    match count {
        1 => "1 submission was".to_owned(),
        some => format!("{some} submissions were"),
    }
}

/// Submissions with their versions, sources, traces and reviews.
fn submissions(report: &StrategyReport) -> Section {
    Section::new("Submissions").picture(html! {
        p.notes {
            "In strips a block has 20 bars: signal and position of the reference (ref), then of the version (ver); ^ marks bars \
             that differ, where need be by the exposure alone. " (LETTERS) ", ? what no document has."
        }
        @for submission in &report.submissions { (of_submission(report, submission)) }
    })
}

/// The texts of the documents.
fn documents(report: &StrategyReport) -> Section {
    let ids = report.submissions.iter().map(|own| own.rows.strategy.as_str());
    let ids: BTreeSet<&str> = ids.collect();
    Section::new("Documents").picture(html! {
        @for strategy in ids.into_iter().filter_map(|id| report.strategy(id)) {
            details.submission { summary { b { (strategy.id) } } pre { (lines_shown(&strategy.text)) } }
        }
    })
}

/// By submission, the iterations whose strips are on the page: the ranked ones, then others, as long as their bars fit.
pub(super) fn iterations_shown(submissions: &[SubmissionFound]) -> Vec<BTreeSet<usize>> {
    iterations_within(submissions, BARS_MAX)
}

fn iterations_within(submissions: &[SubmissionFound], most: usize) -> Vec<BTreeSet<usize>> {
    let mut shown = vec![BTreeSet::new(); submissions.len()];
    let mut left = most;
    for wants_ranked in [true, false] {
        for (submission, own) in submissions.iter().zip(&mut shown) {
            for (iteration, markets) in submission.traces.iter().enumerate() {
                let is_ranked = submission.rows.ranked == Some(iteration);
                let bars: usize = markets.iter().map(MarketTrace::bars).sum();
                if is_ranked == wants_ranked && bars <= left {
                    left -= bars;
                    own.insert(iteration);
                }
            }
        }
    }
    shown
}

fn of_submission(report: &StrategyReport, submission: &SubmissionFound) -> Markup {
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
            @for version in &rows.versions {
                (of_version(submission, version))
                (of_traces(submission, version))
                @if let Some(source) = submission.source(version.iteration) {
                    details { summary { "Source of iteration " (version.iteration) } pre { code { (lines_shown(source)) } } }
                }
            }
            @for (reviewer, event) in reviews(report, submission) { (of_review(reviewer, event)) }
        }
    }
}

fn of_version(submission: &SubmissionFound, version: &VersionRow) -> Markup {
    let iteration = version.iteration;
    let report = submission.report(iteration);
    let warnings = report.map_or(&[][..], |report| &report.warnings);
    html! {
        h4 { "Iteration " (iteration) ": " (version.state) }
        (gates(submission, version).html())
        @if !warnings.is_empty() {
            p { "Static warnings, which decide nothing: " bdi { (lines_shown(&warnings.join(", "))) } "." }
        }
        @if let Some(distances) = report.and_then(distances) { (distances.html()) }
    }
}

/// Strips and equity of an iteration.
fn of_traces(submission: &SubmissionFound, version: &VersionRow) -> Markup {
    let markets = submission
        .traces
        .get(version.iteration)
        .map_or(&[][..], Vec::as_slice);
    let has_run = version.passed.iter().any(|gate| gate == Gate::Exec.label());
    html! {
        @if !markets.is_empty() {
            (strips(markets))
            @if let Some(equity) = equity(markets) { (equity) }
        } @else if has_run {
            p.nothing {
                "Strips and equity are left out, for the page has many: the result of the submission's record keeps them."
            }
        }
    }
}

/// The gates with what they saw.
fn gates(submission: &SubmissionFound, version: &VersionRow) -> TableData {
    let report = submission.report(version.iteration);
    let rows = Gate::ALL.map(|gate| {
        let reason = report.and_then(|report| report.reason(gate));
        let passed = version.passed.iter().any(|name| name == gate.label());
        let state = match (passed, report) {
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
fn distances(report: &VersionReport) -> Option<TableData> {
    let distances = report.distances.as_ref()?;
    let rows = distances
        .iter()
        .map(|(name, distance)| vec![TableCell::Text(name.clone()), TableCell::Fine(*distance)]);
    let heads = [("scenario", Left), ("distance to the reference", Right)];
    Some(TableData::new("What it does, against the reference", heads).with_rows(rows))
}

/// The reviews of a submission, with their reviewers.
fn reviews<'a>(
    report: &'a StrategyReport,
    submission: &'a SubmissionFound,
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
            @if !text.is_empty() { p { (name) ": " bdi { (lines_shown(text)) } } }
        }
    }
}

/// Foreign lines without a character that is none of a line.
fn lines_shown(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| visible(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bar_traces::BarTrace;
    use crate::experiment_report::material::fixture::{report, submission, version};
    use crate::run::event_fixture::event;

    /// A submission of two versions with so many bars each.
    fn traced(bars: usize) -> SubmissionFound {
        let found = (0..2).map(|_| (event(0, "h"), "x = 1")).collect();
        let versions = vec![version(0, 6, None), version(1, 6, Some("same"))];
        let mut traced = submission(("writer", "S01"), versions, found);
        let trace = |letter: &str| BarTrace {
            signals: letter.repeat(bars),
            positions: "_".repeat(bars),
            exposure: vec![Some(0); bars],
            equity: vec![Some(100_000); bars],
        };
        let market = MarketTrace {
            market: "long".to_owned(),
            reference: trace("."),
            version: trace("?"),
        };
        traced.traces = vec![vec![market]; 2];
        traced
    }

    fn shown(report: &StrategyReport) -> String {
        submissions(report)
            .parts
            .iter()
            .fold(String::new(), |text, part| match part {
                SectionPart::Picture(markup) => text + &markup.clone().into_string(),
                SectionPart::Table(..) | SectionPart::Source(_) => text,
            })
    }

    #[test]
    fn a_page_has_strips_and_equity_of_every_version() {
        let text = shown(&report(vec![traced(30)], None));
        assert_eq!(text.matches("differs on 30 of 30 bars: 0 to 29").count(), 2);
        assert_eq!(text.matches("class=\"equity\"").count(), 2);
        assert!(!text.contains("left out"));
    }

    #[test]
    fn the_ranked_versions_come_first_where_a_page_is_full() {
        let submissions = [traced(30), traced(30)];
        let sets = |most| iterations_within(&submissions, most);
        assert_eq!(sets(60), [BTreeSet::from([1]), BTreeSet::from([1])]);
        assert_eq!(sets(90), [BTreeSet::from([0, 1]), BTreeSet::from([1])]);
        assert_eq!(sets(0), [BTreeSet::new(), BTreeSet::new()]);
        let mut left_out = traced(30);
        left_out.traces[0].clear();
        assert_eq!(
            shown(&report(vec![left_out], None))
                .matches("are left out")
                .count(),
            1
        );
    }
}
