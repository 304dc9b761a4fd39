//! Studies of every kind: a list, one with its report and its units, and a unit with its result and files.

use super::frame::{Page, PageSite};
use super::value::{RealNames, laid_out, line, text, unreadable};
use crate::overview::Overview;
use crate::study::{StudyEntry, UnitFile};
use ktd_study::{StudyOutline, UnitOutline};
use ktd_view::draw::{counted, grouped, scroll};
use maud::{Markup, html};
use serde_json::Value;

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
pub(crate) fn page(
    site: PageSite,
    study: &StudyEntry,
    outline: &StudyOutline,
    verdict: Option<&str>,
) -> String {
    let [finished, open, not_begun] = outline.counts();
    let body = html! {
        h1 { (line(&outline.name)) }
        @if let Some(verdict) = verdict { p { b { (line(verdict)) } } }
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
    match (unit.is_finished, unit.is_begun) {
        (true, _) => "finished",
        (false, true) => "open",
        (false, false) => "not begun",
    }
}

/// The page of a unit: what it was asked, what it came to and what that cost in a table; and its records as they are, folded.
#[must_use]
pub(crate) fn unit(
    site: PageSite,
    of: (&StudyEntry, &StudyOutline),
    (unit, files): (&UnitOutline, &[UnitFile]),
) -> String {
    let found: Option<Value> = unit
        .found
        .as_deref()
        .and_then(|raw| serde_json::from_str(raw).ok());
    let body = html! {
        h1 { (line(unit.id.as_str())) }
        p.lead { "A unit of a study of kind " (of.1.kind) ". It is " (state(unit)) "." }
        (scroll("unit", &facts(unit, files, found.as_ref())))
        @if let Some(found) = &found { section { h2 { "Result" }
            @for (name, part) in parts(found) { details { summary { (line(name)) } (laid_out(part, &RealNames::new(), 1)) } }
            @if let Some(raw) = &unit.found { details { summary { "as it was recorded" } (text(raw)) } }
        } }
        @if !files.is_empty() { section { h2 { "Records" }
            @for file in files { @match &file.text {
                Some(own) => { details { summary { (line(&file.name)) ", " (grouped(own.len())) " bytes" } (text(own)) } }
                None => { p.notes { (line(&file.name)) " is packed, or too large to be shown here." } }
            } }
        } }
    };
    of_study(site, of, &[("index.html".to_owned(), of.1.name.clone())], &body)
}

/// What decides a unit, who was asked, what that cost, and the plain values that it came to.
fn facts(unit: &UnitOutline, files: &[UnitFile], found: Option<&Value>) -> Markup {
    let read = |name: &str, place: &str| {
        let file = files.iter().find(|file| file.name == name)?;
        let value: Value = serde_json::from_str(file.text.as_deref()?).ok()?;
        value.pointer(place).cloned()
    };
    let row =
        |name: &str, value: &Markup| html! { tr { th.l scope="row" { (line(name)) } td.l.wide { (value) } } };
    let laid_out = |value: &Value| laid_out(value, &RealNames::new(), 1);
    let plain = found.and_then(Value::as_object).into_iter().flatten();
    html! {
        table { tbody {
            @let asked_for = read("header.json", "/unit").filter(|unit| !unit.is_null());
            (row("asked for", &asked_for.map_or_else(|| line(unit.id.as_str()), |unit| laid_out(&unit))))
            @if let Some(agent) = read("agent.json", "/agent/id") { (row("agent", &laid_out(&agent))) }
            @if let Some(model) = read("agent.json", "/agent/model") { (row("model", &laid_out(&model))) }
            @if let Some(spent) = &unit.spent {
                @let sends = &spent.sends;
                @let requests = sends.reported + sends.estimated + sends.incomplete + sends.unknown + sends.uncharged;
                (row("requests", &html! { (requests) }))
                (row("tokens", &html! { (spent.tokens.all()) }))
                (row("spent", &html! { (spent.text()) }))
            } @else if found.is_some() {
                (row("spent", &html! { span.quiet { "nothing: nobody was asked" } }))
            }
            @for (name, value) in plain.filter(|(_, value)| is_plain(value)) { (row(name, &laid_out(value))) }
        } }
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// The parts of a result that are no plain values of the table.
fn parts(found: &Value) -> Vec<(&str, &Value)> {
    match found {
        Value::Object(map) => {
            let parts = map.iter().filter(|(_, value)| !is_plain(value));
            parts.map(|(name, value)| (name.as_str(), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            vec![("all of it", found)]
        }
    }
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
