//! What was found in an episode.

use super::frame::{Page, PageSite};
use super::value::line;
use crate::episode::Episode;
use crate::search::{HITS_MAX, SearchHit};
use ktd_view::draw::counted;
use maud::html;

/// The page.
#[must_use]
pub(crate) fn page(site: PageSite, episode: &Episode, words: &str, hits: &[SearchHit]) -> String {
    let body = html! {
        h1 { "Search" }
        form.search role="search" action="search.html" method="get" {
            label { "Words " input type="search" name="q" value=(words) data-key="search" maxlength="200"; }
            button type="submit" { "Search" }
        }
        p.lead { (counted(hits.len(), "hit")) @if HITS_MAX <= hits.len() { " and perhaps more" } " for " q { (line(words)) } "." }
        ol.hits { @for hit in hits {
            li {
                a href={ (hit.step) ".html" } { "step " (hit.step) } ", " (line(&hit.place)) ": "
                @let [before, found, after] = &hit.context;
                (line(before)) mark { (line(found)) } (line(after))
            }
        } }
    };
    let above = [(
        format!("e/{}/index.html", episode.entry.slug),
        episode.entry.name.clone(),
    )];
    let page = Page {
        site,
        title: "ktd view: search",
        root: "../../",
        above: &above,
        changes: false,
        body: &body,
    };
    page.html()
}
