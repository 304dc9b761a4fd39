//! Studies of every kind: a list, one with its report and its units, and a unit with its result and files.

use super::frame::{Page, PageSite};
use super::value::{document, line, text, unreadable};
use crate::overview::Overview;
use crate::study::{StudyEntry, UnitFile};
use ktd_study::{StudyOutline, UnitOutline};
use ktd_view::draw::{counted, grouped, scroll};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The list of studies, kind by kind.
pub(super) fn list<'s>(studies: impl Iterator<Item = &'s StudyEntry>, overview: &Overview) -> Markup {
    let mut studies: Vec<_> = studies.map(|study| (study, study.outline())).collect();
    studies.sort_by(|(_, one), (_, other)| {
        let [one, other] =
            [one, other].map(|outline| outline.as_ref().map_or("", |outline| outline.kind.as_str()));
        one.cmp(other)
    });
    let table = html! {
        table {
            thead { tr {
                th.l scope="col" { "study" } th.l scope="col" { "kind" } th.l scope="col" { "state" } th scope="col" { "units" }
                th scope="col" { "finished" } th scope="col" { "open" } th scope="col" { "not begun" } th scope="col" { "spent" }
            } }
            tbody { @for (study, outline) in &studies { tr {
                th.l scope="row" { a href={ "s/" (study.slug) "/index.html" } { (line(&study.slug)) } }
                @match outline {
                    Ok(outline) => {
                        @let state = overview.state(&study.folder);
                        td.l { (outline.kind) } td.l { (super::value::state(state.label(outline.page.is_some()))) } td { (grouped(outline.units.len())) }
                        @for count in outline.counts() { td { (grouped(count)) } }
                        td { (state.spent().as_deref().unwrap_or("\u{2013}")) }
                    }
                    Err(what) => { td.l colspan="7" { (unreadable(&what.to_string())) } }
                }
            } } }
        }
    };
    html! { h2 { "Studies" } (scroll("studies", &table)) }
}

/// The page of a study: how far it is, its report as it was written, and its units.
#[must_use]
pub(crate) fn page(site: PageSite, study: &StudyEntry, outline: &StudyOutline) -> String {
    let [finished, open, not_begun] = outline.counts();
    let body = html! {
        h1 { (line(&outline.name)) }
        p.lead {
            "A study of kind " (outline.kind) ": " (counted(outline.units.len(), "unit")) ", " (finished) " finished, "
            (open) " open, " (not_begun) " not begun."
        }
        @if outline.page.is_some() {
            section { h2 { "Report" } p { a href="report.html" { "Open it alone" } }
                iframe.whole src="report.html" title="the report" sandbox="" {} }
        }
        section { h2 { "Units" } (scroll("units", &units(outline))) }
    };
    of_study(site, (study, outline), &[], &body)
}

fn units(outline: &StudyOutline) -> Markup {
    html! {
        table {
            thead { tr { th.l scope="col" { "unit" } th.l scope="col" { "state" } } }
            tbody { @for unit in &outline.units { tr {
                th.l scope="row" { a href={ "unit~" (unit.id) ".html" } { (line(unit.id.as_str())) } }
                td.l { (state(unit)) }
            } } }
        }
    }
}

fn state(unit: &UnitOutline) -> &'static str {
    match (&unit.found, unit.is_begun) {
        (Some(_), _) => "finished",
        (None, true) => "open",
        (None, false) => "not begun",
    }
}

/// The page of a unit: what it came to, and its files as text.
#[must_use]
pub(crate) fn unit(
    site: PageSite,
    of: (&StudyEntry, &StudyOutline),
    (unit, files): (&UnitOutline, &[UnitFile]),
) -> String {
    let body = html! {
        h1 { (line(unit.id.as_str())) }
        p.lead { "It is " (state(unit)) "." }
        @if let Some(found) = &unit.found {
            section { h2 { "Result" } (document(found, &BTreeMap::new())) }
        }
        @for file in files {
            section { h2 { (line(&file.name)) }
                @match &file.text {
                    Some(own) => { details { summary { (grouped(own.len())) " bytes" } (text(own)) } }
                    None => { p.notes { "It is packed, or too large to be shown here." } }
                }
            }
        }
    };
    of_study(site, of, &[("index.html".to_owned(), of.1.name.clone())], &body)
}

fn of_study(
    site: PageSite,
    (study, outline): (&StudyEntry, &StudyOutline),
    above: &[(String, String)],
    body: &Markup,
) -> String {
    let title = format!("ktd view: {}", outline.name);
    let above: Vec<_> = above
        .iter()
        .map(|(address, name)| (format!("s/{}/{address}", study.slug), name.clone()))
        .collect();
    let page = Page {
        site,
        title: &title,
        root: "../../",
        above: &above,
        changes: false,
        body,
    };
    page.html()
}
