//! A certificate: its verdict, its bounds, and all that it says.

use super::frame::{Page, PageSite};
use super::value::{RealNames, laid_out, line};
use crate::catalogue::ExperimentEntry;
use ktd_view::draw::scroll;
use maud::{Markup, html};
use serde_json::Value;

/// The page of a certificate's document.
#[must_use]
pub(crate) fn page(site: PageSite, experiment: &ExperimentEntry, document: &Value) -> String {
    let text = |pointer: &str| {
        document
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let classes = document.pointer("/certificate/classes").and_then(Value::as_array);
    let body = html! {
        h1 { "Certificate" }
        p.lead { "Verdict: " b { (line(text("/certificate/verdict"))) } ". Mask "
            (line(text("/certificate/set/plan/level"))) "/" (line(text("/certificate/set/plan/numeric"))) ". "
            "Its signature is not checked here: " code { "ktd verify" } " does that." }
        @for class in classes.into_iter().flatten() { (bounds(class)) }
        section #all { h2 { "All that it says" } (laid_out(document, &RealNames::new(), 0)) }
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

fn bounds(class: &Value) -> Markup {
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let number = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_f64)
            .map(|share| format!("{share:.3}"))
    };
    let rows = class.get("bounds").and_then(Value::as_array);
    let table = html! {
        table {
            thead { tr {
                th.l scope="col" { "measure" } th.l scope="col" { "attacker" } th.l scope="col" { "probes" }
                th scope="col" { "at most" } th scope="col" { "threshold" }
            } }
            tbody { @for row in rows.into_iter().flatten() {
                tr {
                    th.l scope="row" { (line(&text(row, "measure"))) } td.l { (line(&text(row, "attacker"))) } td.l { (line(&text(row, "kind"))) }
                    td { (number(row, "excess").unwrap_or_default()) } td { (number(row, "threshold").unwrap_or_default()) }
                }
            } }
        }
    };
    html! {
        section {
            h2 { "Attackers: " (line(&text(class, "class"))) }
            p { "Verdict: " (line(&text(class, "verdict"))) "." }
            (scroll("bounds", &table))
        }
    }
}
