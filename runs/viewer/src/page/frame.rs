//! The frame of every page: head, way back, and footer.

use ktd_view::draw;
use maud::{Markup, PreEscaped, html};

/// Name of the style sheet.
pub(crate) const STYLE_SHEET: &str = "viewer.css";
/// Name of the script.
pub(crate) const SCRIPT: &str = "viewer.js";

/// Where pages stand, and what stands with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageSite {
    /// Who shows them.
    pub(crate) kind: SiteKind,
    /// Whether real names and days are shown.
    pub(crate) shows_real: bool,
    /// Whether a process writes now what they show.
    pub(crate) is_running: bool,
}

/// Who shows pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteKind {
    /// A server, which answers searches and comparisons too, and says when something changed.
    Served,
    /// A folder of files.
    Folder,
    /// One file with all steps of an episode.
    File,
}

impl PageSite {
    /// Pages of a server, of what nobody writes now.
    pub(crate) const fn served(shows_real: bool) -> Self {
        Self {
            kind: SiteKind::Served,
            shows_real,
            is_running: false,
        }
    }

    /// Exported pages: nothing private is in them.
    pub(crate) const fn exported(kind: SiteKind) -> Self {
        Self {
            kind,
            shows_real: false,
            is_running: false,
        }
    }

    /// Whether a server answers.
    pub(crate) fn is_live(self) -> bool {
        self.kind == SiteKind::Served
    }

    /// What the addresses of an episode's pages end with.
    pub(crate) const fn query(self) -> &'static str {
        if self.shows_real { "?real=1" } else { "" }
    }

    /// The address of a step from the other pages of its episode.
    pub(crate) fn step(self, step: usize) -> String {
        match self.kind {
            SiteKind::Served | SiteKind::Folder => format!("{step}.html{}", self.query()),
            SiteKind::File => format!("#step-{step}"),
        }
    }
}

/// A page.
pub(crate) struct Page<'p> {
    /// Where it stands.
    pub site: PageSite,
    /// What it is called.
    pub title: &'p str,
    /// From it to the site's root, such as `../../`.
    pub root: &'static str,
    /// Pages above it: address from the root and name.
    pub above: &'p [(String, String)],
    /// Whether it shows what may change while a run goes on.
    pub changes: bool,
    /// What it shows.
    pub body: &'p Markup,
}

impl Page<'_> {
    pub(crate) fn html(&self) -> String {
        let root = self.root;
        let head = if self.site.kind == SiteKind::File {
            html! { style { (PreEscaped(style_sheet())) } }
        } else {
            html! {
                link rel="stylesheet" href={ (root) (STYLE_SHEET) };
                script src={ (root) (SCRIPT) } defer {}
            }
        };
        let live = (self.site.is_live() && self.changes).then(|| format!("{root}events"));
        let body = html! {
            header.top data-live=[live] data-compares[self.site.is_live()] {
                @if self.site.kind != SiteKind::File { nav aria-label="Pages above" {
                    a href={ (root) "index.html" } data-key="home" { "Results" }
                    @for (address, name) in self.above {
                        " \u{203a} " a href={ (root) (address) } data-key="up" { bdi { (name) } }
                    }
                } }
                @if self.site.shows_real { p.real role="status" { "Real names and days are shown" } }
                @if self.site.is_live() && self.changes { p.live hidden { "live" } }
            }
            main data-running[self.site.is_running && self.changes] { (self.body) }
            footer { p { "ktd view, read only." @if self.site.kind != SiteKind::File { " Press ? for its keys." } } }
            @if self.site.kind != SiteKind::File { (keys(self.site)) }
        };
        draw::frame(self.title, &head, &body)
    }
}

/// Every key of the pages, and whether exported ones have it too.
const KEYS: [(&str, &str, bool); 11] = [
    (
        "j, k",
        "to the next row, hit or call, and back; Enter opens it",
        true,
    ),
    ("\u{2190}, \u{2192}", "the step before, the next one", true),
    ("u", "up to the page above", true),
    ("h", "to the results", true),
    (
        "c",
        "choose the episode of the row or page to lay beside another, also of another experiment",
        false,
    ),
    ("b", "the two chosen ones side by side", false),
    ("f", "to the first difference", false),
    ("/", "to the filter or the search", true),
    ("e", "unfold all calls of a step, or fold them", true),
    ("Esc", "leave a field, fold what is open, close this", true),
    ("?", "these keys", true),
];

/// The help that `?` opens.
fn keys(site: PageSite) -> Markup {
    let own = KEYS
        .into_iter()
        .filter(|(.., everywhere)| *everywhere || site.is_live());
    html! {
        dialog #keys aria-labelledby="keys-head" {
            h2 #keys-head { "Keys" }
            dl.values { @for (key, meaning, _) in own { dt { kbd { (key) } } dd { (meaning) } } }
            button type="button" { "Close" }
        }
    }
}

/// The style sheet.
#[must_use]
pub(crate) fn style_sheet() -> String {
    [
        draw::STYLE,
        draw::FIGURES_STYLE,
        include_str!("../../assets/viewer.css"),
    ]
    .concat()
}

/// The script: keys, filters, and what changed.
#[must_use]
pub(crate) const fn script() -> &'static str {
    include_str!("../../assets/viewer.js")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exported_page_offers_no_comparison() {
        let page = |kind| {
            let page = Page {
                site: PageSite::exported(kind),
                title: "t",
                root: "",
                above: &[],
                changes: false,
                body: &html! {},
            };
            page.html()
        };
        let is_offered = |page: String| {
            let offers = [
                "data-compares",
                "side by side",
                "to lay beside",
                "first difference",
            ];
            offers.map(|offer| page.contains(offer))
        };
        assert_eq!(is_offered(page(SiteKind::Served)), [true; 4]);
        assert_eq!(is_offered(page(SiteKind::Folder)), [false; 4]);
    }
}
