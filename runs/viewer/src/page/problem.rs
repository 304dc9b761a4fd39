//! A page that says what is wrong, and nothing else.

use super::frame::{Page, PageSite};
use super::value;
use maud::html;

/// The page of a fault: what is wrong, and how to fix it.
#[must_use]
pub(crate) fn page(site: PageSite, root: &'static str, what: &str, hint: &str) -> String {
    let body = html! {
        h1 { "This cannot be shown" }
        (value::text(what))
        @if !hint.is_empty() { p { "Hint: " (value::line(hint)) } }
    };
    let page = Page {
        site,
        title: "ktd view: a problem",
        root,
        above: &[],
        changes: false,
        body: &body,
    };
    page.html()
}
