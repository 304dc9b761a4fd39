//! The page: one file without scripts and without anything to load. What a model wrote is escaped.

use super::bundles::{FactorCodeReport, ReportedBundle};
use super::plots::beside_golden;
use crate::error::CodeError;
use crate::run::FactorCodeEvent;
use crate::tables::verdict_text;
use ktd_factor_code::{FactorTask, GoldenColumns, PanelKind, curve_of};
use ktd_io::whole_file::read_if_exists;
use ktd_view::draw::{STYLE, counted, document, short_hash, visible};
use ktd_view::report_table::ReportTable;
use maud::{Markup, html};

/// The page of a report.
pub(super) fn page(report: &FactorCodeReport, tables: &[ReportTable]) -> Result<String, CodeError> {
    let title = "Factor code written by models";
    let mut bundles = Vec::new();
    for reported in &report.bundles {
        bundles.push(of_bundle(reported)?);
    }
    let body = html! {
        h1 { (title) }
        p.lead {
            (counted(report.bundles.len(), "bundle")) ". A function must run, must not look ahead, must be right, and must be \
             vectorised; each layer counts where the ones before it hold. Both rules are shown: the published one, and the \
             strict one that decides."
        }
        ul.notes { @for note in report.notes() { li { (note) } } }
        @for table in tables {
            section id=(table.id) { (table.data.html()) p.source { (table.id) ".csv" } }
        }
        @for bundle in bundles { (bundle) }
    };
    Ok(document(title, &[STYLE, include_str!("style.css")], &body))
}

fn of_bundle(reported: &ReportedBundle) -> Result<Markup, CodeError> {
    let header = &reported.bundle.header;
    let mut tasks = Vec::new();
    for task in reported.bundle.tasks.as_slice() {
        tasks.push(of_task(reported, task)?);
    }
    Ok(html! {
        section {
            h2 { bdi { (header.cell) } }
            p.lead {
                bdi { (header.model) } ", " (header.style.name()) ", seed " (header.seed) "; "
                (counted(usize::try_from(header.rounds).unwrap_or(usize::MAX), "round")) "; tasks "
                (short_hash(&header.tasks_sha256)) ", texts " (short_hash(&header.prompts_sha256)) "."
                @if !header.is_boxed() { b { " Unsafe: run without a sandbox, and never ranked." } }
            }
            @for task in tasks { (task) }
        }
    })
}

fn of_task(reported: &ReportedBundle, task: &FactorTask) -> Result<Markup, CodeError> {
    let id = task.id.as_str();
    let events = reported.bundle.events.iter();
    let events: Vec<&FactorCodeEvent> = events.filter(|event| event.task == id).collect();
    let golden = curve_of(GoldenColumns::of(task, &reported.panels)?.on(PanelKind::G));
    let passes = events.iter().rfind(|event| event.sample == 1);
    let strict = passes
        .and_then(|event| event.strict.as_deref())
        .unwrap_or("uncovered");
    let mut rounds = Vec::new();
    for event in events {
        rounds.push(of_event(reported, event, &golden)?);
    }
    Ok(html! {
        details.task {
            summary { b { (id) } " " (task.function) ": " (strict) }
            p { (task.prompt) }
            p { code { (task.fx) } }
            @for round in rounds { (round) }
        }
    })
}

fn of_event(
    reported: &ReportedBundle,
    event: &FactorCodeEvent,
    golden: &[Option<f64>],
) -> Result<Markup, CodeError> {
    let bundle = &reported.bundle;
    let samples = bundle.header.samples;
    let path = bundle
        .paths
        .source(&event.task, (event.sample, samples), event.round);
    let source = read_if_exists(&path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let verdict = event
        .verdict
        .as_ref()
        .map(|verdict| verdict_text(verdict, &reported.panels, &reported.rules));
    Ok(html! {
        h4 { "Round " (event.round) @if 1 < samples { ", sample " (event.sample) } }
        @if let Some(source) = &source { pre { code { (shown(source)) } } }
        @if let Some(verdict) = &verdict { pre { (shown(verdict)) } }
        @if let Some(reason) = &event.lost { p { "Uncovered: " (reason) } }
        @if !event.curve.is_empty() { (beside_golden(&event.curve, golden)) }
        @if let Some(feedback) = &event.feedback { p { "Sent back:" } pre { (shown(feedback)) } }
    })
}

/// Foreign lines without a character that is none of a line.
fn shown(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| visible(line)).collect();
    lines.join("\n")
}
