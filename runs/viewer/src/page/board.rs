//! A board in the frame of the other pages: its own page, as it was written.

use super::frame::{Page, PageSite};
use super::value::line;
use crate::catalogue::{DocumentEntry, ExperimentEntry};
use maud::html;

/// The page; the board's own stands in a frame that runs no script and reaches nothing.
#[must_use]
pub(crate) fn page(site: PageSite, experiment: &ExperimentEntry, board: &DocumentEntry) -> String {
    let own = format!("{}/index.html", board.slug);
    let body = html! {
        h1 { "Board " (line(&board.slug)) }
        p { a href=(own) { "Open it alone" } ". Episodes that it ranks: "
            a href={ "../x/" (experiment.slug) ".html" } { (line(&experiment.slug)) } "." }
        iframe.whole src=(own) title="the board" sandbox="" {}
    };
    let above = [(format!("x/{}.html", experiment.slug), experiment.slug.clone())];
    let page = Page {
        site,
        title: "ktd view: board",
        root: "../",
        above: &above,
        changes: false,
        body: &body,
    };
    page.html()
}
