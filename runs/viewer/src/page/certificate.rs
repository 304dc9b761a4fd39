//! A certificate: its verdict, its bounds, the probes and answers that they rest on, and all that it says.

use super::frame::{Page, PageSite};
use super::value::{RealNames, laid_out, line};
use crate::catalogue::ExperimentEntry;
use crate::certificate::AnsweredProbes;
use ktd_study::Report;
use ktd_view::draw::scroll;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeSet;

/// Whose pages these are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CertificatePlace<'c> {
    pub(crate) site: PageSite,
    pub(crate) experiment: &'c ExperimentEntry,
    pub(crate) slug: &'c str,
    /// Whether the truth can be shown.
    pub(crate) has_private: bool,
}

impl CertificatePlace<'_> {
    /// A page below the certificate's own.
    fn below(self, title: &str, body: &Markup) -> String {
        let above = [
            (
                format!("x/{}.html", self.experiment.slug),
                self.experiment.slug.clone(),
            ),
            (
                format!("certificate/{}.html", self.slug),
                "Certificate".to_owned(),
            ),
        ];
        let page = Page {
            site: self.site,
            title,
            root: "../../",
            above: &above,
            changes: false,
            body,
        };
        page.html()
    }
}

/// The page of a certificate's document, and what it says, where who judges certificates reads it.
#[must_use]
pub(crate) fn page(place: CertificatePlace<'_>, document: &Value, says: Option<&Report>) -> String {
    let CertificatePlace {
        site,
        experiment,
        slug,
        ..
    } = place;
    let verdict = document.pointer("/certificate/verdict").and_then(Value::as_str);
    let answers = answers_behind(document);
    let body = html! {
        h1 { "Certificate" }
        p { "Verdict: " b { (line(says.map_or(verdict.unwrap_or_default(), |says| says.verdict.as_str()))) } ". "
            "Its signature is not checked here: " code { "ktd verify --certificate" } " does that." }
        @match says {
            Some(says) => { (says.part()) }
            None => { p.warning { "It is of another version of the program, or lacks what a certificate has: only its fields are shown." } }
        }
        @if site.is_live() && !answers.is_empty() { section #answers {
            h2 { "Answers behind the bounds" }
            ul { @for (kind, attacker) in &answers { li {
                a href={ (slug) "/answers~" (kind) "~" (attacker) ".html" } { (line(attacker)) " on " (line(kind)) }
            } } }
        } }
        section #all {
            h2 { "All that it says" }
            details { summary { "Every field of its document" } (laid_out(document, &RealNames::new(), 0)) }
        }
    };
    let above = [(format!("x/{}.html", experiment.slug), experiment.slug.clone())];
    let page = Page {
        site,
        title: "ktd view: certificate",
        root: "../",
        above: &above,
        changes: false,
        body: &body,
    };
    page.html()
}

/// The kinds of probes and the attackers that bounds of any class are of.
fn answers_behind(document: &Value) -> BTreeSet<(&str, &str)> {
    let classes = document.pointer("/certificate/classes").and_then(Value::as_array);
    let bounds = classes.into_iter().flatten();
    let bounds = bounds.filter_map(|class| class.get("bounds").and_then(Value::as_array));
    bounds
        .flatten()
        .filter_map(|bound| Some((bound.get("kind")?.as_str()?, bound.get("attacker")?.as_str()?)))
        .collect()
}

/// What an attacker answered to the probes of a kind.
#[must_use]
pub(crate) fn answers(
    place: CertificatePlace<'_>,
    (kind, attacker): (&str, &str),
    probes: &AnsweredProbes,
) -> String {
    let shows_truth = place.site.shows_real;
    let none = RealNames::new();
    let table = html! {
        table {
            thead { tr { th.l scope="col" { "probe" } th.l scope="col" { "answer" } @if shows_truth { th.l scope="col" { "truth" } } } }
            tbody { @for row in &probes.rows { tr data-words="" {
                th.l scope="row" { a href={ "probe~" (kind) "~" (row.number) ".html" } { (row.number) } }
                td.l.wide { (laid_out(&row.answer, &none, 0)) }
                @if shows_truth { td.l.wide.real { @if let Some(truth) = &row.truth { (laid_out(truth, &none, 0)) } } }
            } } }
        }
    };
    let body = html! {
        h1 { "Answers of " (line(attacker)) }
        p.lead { (probes.rows.len()) " probes of the kind " (line(kind)) @if probes.is_cut { "; more are not listed" } "." }
        @if place.has_private { p.switch {
            @if shows_truth { a href="?" { "Show the answers alone" } } @else { a.real href="?real=1" { "Show what was true" } }
        } }
        form.filters role="search" data-filter="tr[data-words]" {
            label { "Filter " input type="search" name="words" data-key="filter"; }
            span.count aria-live="polite" {}
        }
        (scroll("answers", &table))
    };
    place.below("ktd view: answers", &body)
}

/// A probe as it was asked.
#[must_use]
pub(crate) fn probe(place: CertificatePlace<'_>, (kind, number): (&str, u64), probe: &Value) -> String {
    let (before, after) = (number.checked_sub(1), number.saturating_add(1));
    let body = html! {
        nav.steps aria-label="Probes" {
            @if let Some(before) = before { a href={ "probe~" (kind) "~" (before) ".html" } data-key="previous" rel="prev" { "\u{2190} probe " (before) } }
            a href={ "probe~" (kind) "~" (after) ".html" } data-key="next" rel="next" { "probe " (after) " \u{2192}" }
        }
        h1 { "Probe " (number) " of the kind " (line(kind)) }
        p.lead { "As every attacker was shown it." }
        (laid_out(probe, &RealNames::new(), 0))
    };
    place.below("ktd view: probe", &body)
}
