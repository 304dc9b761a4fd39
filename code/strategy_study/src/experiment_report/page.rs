//! The report: its verdict, its tables, and what every submission did.

use super::equity::equity;
use super::material::StrategyReport;
use super::strips::strips;
use super::{
    convergence, execution, gates, iterations, money, peers, real_bars, score_parts, scores, strategies,
};
use crate::run::SubmissionFound;
use crate::tables::{report_tables, version_table};
use ktd_strategy_code::{
    Gate, MeanFidelity, ReviewEvent, SubmissionReport, SubmissionRows, TRACE_LETTERS, VersionRow,
};
use ktd_study::{Report, Section, SectionPart, Shown};
use ktd_view::draw::{FIGURES_STYLE, counted, visible};
use ktd_view::report_table::ReportTable;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// What every table of an experiment without a box says.
const UNSAFE: &str =
    "unsafe: programs ran without a sandbox, and may have done anything; no figure here counts";
/// Statements about the published benchmark that a reader of the tables needs.
const PUBLISHED: [&str; 5] = [
    "The paper speaks of five gates and lists six; all six are here, and each is shown.",
    "It counts 17 models in one place and 20 in others; shares here are of submissions.",
    "Its correlation of complexity and quality is given as p < .01 against its own critical value; here p is exact.",
    "Its D4 has no costs and windows of ten bars, in which indicators of 20 bars cannot trade.",
    "Its peers give 0.6 points more than its automatic scores, without a measured fidelity; here both stand side by side.",
];

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
    let about = Section::new("What is measured").picture(html! {
        p {
            "Gates decide whether a program is valid, in the box; fidelity, risk and reliability are measured against a reference \
             strategy; published rules and scores stand beside and rank nothing. Patches that moved away from the document are \
             void."
        }
        ul.notes { @for statement in PUBLISHED { li { (statement) } } }
    });
    let versions = version_table(report.submissions.iter().map(|own| &own.rows));
    let shown = pictures(report).into_iter();
    let shown = shown.fold(Section::new("Pictures"), Section::picture);
    let tables = tables(report);
    let of_heading = |(heading, numbers): (&'static str, &[&str])| {
        let own = tables
            .iter()
            .filter(|table| numbers.iter().any(|number| table.id.starts_with(number)));
        let shown = |table: &ReportTable| {
            if SHORT.contains(&&*table.id) {
                Shown::Everywhere
            } else {
                Shown::Page
            }
        };
        let parts = own.map(|table| SectionPart::Table(table.clone(), shown(table)));
        Section {
            parts: parts.collect(),
            ..Section::new(heading)
        }
    };
    let sections = SECTIONS.into_iter().map(of_heading);
    Report {
        title: format!("{name}: trading strategies written by models"),
        verdict: verdict(report),
        sections: std::iter::once(shown.table("iterations", versions, Shown::Terminal))
            .chain(sections)
            .chain([about, submissions(report), documents(report)])
            .collect(),
        styles: vec![FIGURES_STYLE, include_str!("style.css")],
        ..Report::default()
    }
}

/// All pictures, or that nothing counts.
fn pictures(report: &StrategyReport) -> Vec<Markup> {
    if report.counted().next().is_none() {
        return vec![html! { p.nothing { "No submission counts." } }];
    }
    let pictures = [
        Some(gates::steps_picture(report)),
        Some(gates::models_picture(report)),
        iterations::picture(report),
        money::picture(report),
        Some(strategies::picture(report)),
        peers::picture(report),
    ];
    pictures.into_iter().flatten().collect()
}

/// All tables.
fn tables(report: &StrategyReport) -> Vec<ReportTable> {
    let mut tables = vec![
        gates::by_model(report),
        strategies::by_strategy(report),
        strategies::correlation(report),
        scores::by_model(report),
        execution::success(report),
        execution::reasons(report),
        iterations::by_iteration(report),
        convergence::table(report),
        money::by_iteration(report),
        money::by_model(report),
    ];
    tables.extend(score_parts::tables(&report.counted().collect::<Vec<_>>()));
    tables.extend(peers::tables(report));
    tables.extend(real_bars::tables(report));
    tables.extend([gates::warnings(report), gates::failures(report)]);
    let is_unsafe = report.submissions.iter().any(|own| !own.is_boxed);
    let notes = [
        is_unsafe.then(|| UNSAFE.to_owned()),
        SubmissionRows::contract_note(report.counted().map(|own| &own.rows)),
        SubmissionRows::reference_note(report.counted().map(|own| &own.rows)),
    ];
    for table in &mut tables {
        table.data.notes.extend(notes.iter().flatten().cloned());
    }
    tables
}

/// What the study comes to, in words.
fn verdict(report: &StrategyReport) -> String {
    let all = report.counted().count();
    let valid = report.counted().filter(|own| own.rows.valid().is_some()).count();
    let lost = match report.lost().as_slice() {
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
        "{valid} of {all} submissions of {} rank a program that passes all six gates.{}{}{lost}",
        counted(report.models().len(), "model"),
        nearest(report).unwrap_or_default(),
        reviewers(report).unwrap_or_default(),
    )
}

/// Which model is nearest to the documents, how far the draw of bars matters, and from how many others it is told apart.
fn nearest(report: &StrategyReport) -> Option<String> {
    let models = report.models().into_iter();
    let known = models.filter_map(|model| {
        Some((
            model,
            scores::fidelity(&report.of_model(model).collect::<Vec<_>>())?,
        ))
    });
    let known: Vec<(&str, MeanFidelity)> = known.collect();
    let (model, own) = known
        .iter()
        .reduce(|best, own| if best.1.mean < own.1.mean { own } else { best })?;
    let bounds = own.bounds.map_or_else(
        || "no bounds: one draw of bars".to_owned(),
        |(low, high)| format!("95 % over {} draws of bars: {low:.3} to {high:.3}", own.draws),
    );
    let others = known.len() - 1;
    let pairs = known.len() * others / 2;
    let apart = known
        .iter()
        .filter(|(_, other)| own.is_apart(other, pairs))
        .count();
    let beside = if 0 < others {
        format!(", told apart from {apart} of {others} others")
    } else {
        String::new()
    };
    if own.mean <= 0.0 {
        return Some(" No program acts as its document says: D1 is 0 for every model.".to_owned());
    }
    let model = visible(model);
    Some(format!(
        " {model} is nearest to the documents, D1 {:.3} of 1 ({bounds}){beside}.",
        own.mean
    ))
}

/// Which reviewers count.
fn reviewers(report: &StrategyReport) -> Option<String> {
    let all = &report.arena.as_ref()?.reviewers;
    let aside = all.iter().filter(|own| !own.counts);
    let aside: Vec<String> = aside
        .map(|own| format!("{} ({})", visible(&own.reviewer), own.flags.state().label()))
        .collect();
    Some(match aside.as_slice() {
        [] => format!(
            " All {} reviewers are sound (an honest one is set aside in 4 of 100).",
            all.len()
        ),
        some => format!(
            " {} of {} reviewers are set aside: {} (an honest one in 4 of 100).",
            some.len(),
            all.len(),
            some.join(", ")
        ),
    })
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
             that differ, where need be by the exposure alone. " (TRACE_LETTERS) ", ? what no document has."
        }
        @for submission in report.counted() { (of_submission(report, submission)) }
    })
}

/// The texts of the documents.
fn documents(report: &StrategyReport) -> Section {
    let ids = report.counted().map(|own| own.rows.strategy.as_str());
    let ids: BTreeSet<&str> = ids.collect();
    Section::new("Documents").picture(html! {
        @for (id, (text, _)) in ids.into_iter().filter_map(|id| Some((id, report.strategy(id)?))) {
            details.submission { summary { b { (id) } } pre { (lines_shown(&text)) } }
        }
    })
}

fn of_submission(report: &StrategyReport, submission: &SubmissionFound) -> Markup {
    let rows = &submission.rows;
    let state = match (rows.ranked(), rows.valid()) {
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
    let warnings = report.map_or_else(Vec::new, SubmissionReport::warnings);
    html! {
        h4 { "Iteration " (iteration) ": " (version.state.label()) }
        @for table in report.iter().flat_map(|report| report_tables(report)) { (table.html()) }
        @if !warnings.is_empty() {
            p { "Static warnings, which decide nothing: " bdi { (lines_shown(&warnings.join(", "))) } "." }
        }
    }
}

/// Strips and equity of an iteration.
fn of_traces(submission: &SubmissionFound, version: &VersionRow) -> Markup {
    let (markets, has_run) = (submission.markets(version.iteration), version.passes(Gate::Exec));
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

/// The reviews of a submission, with their reviewers.
fn reviews<'a>(
    report: &'a StrategyReport,
    submission: &'a SubmissionFound,
) -> impl Iterator<Item = (&'a str, &'a ReviewEvent)> {
    let rows = &submission.rows;
    let all = report.reviews.iter();
    let all = all.flat_map(|own| own.events.iter().map(move |event| (own.reviewer.as_str(), event)));
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
    use super::super::material::fixture::{arena, report, submission, traced, version};
    use super::*;
    use ktd_study::ShownRecord;

    fn shown(report: &StrategyReport) -> String {
        let parts = submissions(report).parts;
        parts.iter().fold(String::new(), |text, part| match part {
            SectionPart::Picture(markup) => text + &markup.clone().into_string(),
            SectionPart::Table(..) | SectionPart::Source(_) => text,
        })
    }

    #[test]
    fn a_page_has_strips_and_equity_of_every_version_or_says_that_they_are_left_out() {
        let text = shown(&report(vec![traced(30)], None));
        assert_eq!(text.matches("differs on 30 of 30 bars: 0 to 29").count(), 2);
        assert_eq!(text.matches("class=\"equity\"").count(), 2);
        assert!(!text.contains("left out"));
        let mut left_out = traced(30);
        left_out.judged[0].report.as_mut().unwrap().markets.clear();
        assert_eq!(
            shown(&report(vec![left_out], None))
                .matches("are left out")
                .count(),
            1
        );
    }

    #[test]
    fn a_page_has_its_verdict_then_pictures_then_tables() {
        let mended = || vec![version(0, 2, None), version(1, 6, Some("towards"))];
        let all = vec![
            submission(("a", "S01"), mended(), Vec::new()),
            submission(("b", "S01"), mended(), Vec::new()),
        ];
        let found = study_report("x", &report(all, Some(arena())));
        let page = found.page(ShownRecord::default());
        let at = |text: &str| {
            page.find(text)
                .unwrap_or_else(|| panic!("{text} is missing: {page}"))
        };
        let order = [
            "<p class=\"verdict\">2 of 2 submissions",
            "<h2>Pictures",
            "<svg",
            "<h2>Gates",
            "<table",
            "<h2>Documents",
        ];
        assert!(order.windows(2).all(|two| at(two[0]) < at(two[1])), "{page}");
        // Two of gates, iterations, reviewers; four maps of scores, three of them folded. Nothing is known of prices.
        assert_eq!(page.matches("<figure>").count(), 8);
        let empty = study_report("x", &report(Vec::new(), None)).page(ShownRecord::default());
        assert!(!empty.contains("<svg"), "{empty}");
    }
}
