//! A board in the frame of the other pages: its rows, which sort, filter and lead to episodes, and its own page as it was written.

use super::frame::{Page, PageSite};
use super::tear_sheet::BRIGHT;
use super::value::line;
use crate::board::{Board, Track, TrackRow};
use crate::catalogue::{DocumentEntry, ExperimentEntry};
use ktd_view::draw::{basis_points, change, scroll};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// The page; the board's own stands in a frame that runs no script and reaches nothing.
#[must_use]
pub(crate) fn page(
    site: PageSite,
    experiment: &ExperimentEntry,
    document: &DocumentEntry,
    (board, has_private): (Result<&Board, &str>, bool),
) -> String {
    let title = board.map_or(document.slug.as_str(), |board| board.title.as_str());
    let own = format!("{}/index.html", document.slug);
    let body = html! {
        h1 { "Board " (line(title)) }
        p { a href=(own) { "Open it alone" } ". Episodes that it ranks: "
            a href={ "../x/" (experiment.slug) ".html" } { (line(&experiment.slug)) } "." }
        @if let Ok(board) = board { (days(site, board, has_private)) }
        section #rows {
            h2 { "Rows" }
            @match board {
                Ok(board) => {
                    p.lead { "Each leads to what it is made of. A click on a heading sorts." }
                    (filters(board))
                    (scroll("rows", &rows(site, document, board)))
                }
                Err(why) => { p.warning { "Its rows cannot be read: " (line(why)) } }
            }
        }
        section #own { h2 { "As it was written" } iframe.whole src=(own) title="the board" sandbox="" {} }
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

/// First and last day of each window; those of masked rows stand behind a switch.
fn days(site: PageSite, board: &Board, has_private: bool) -> Markup {
    let is_masked = board.tracks.iter().any(|track| track.level != BRIGHT);
    let tracks = board.tracks.iter().filter(|_| site.shows_real || !is_masked);
    let windows: BTreeMap<&str, &[String]> = tracks
        .map(|track| (track.window.as_str(), track.dates.as_slice()))
        .collect();
    html! {
        @if is_masked && has_private { p.switch {
            @if site.shows_real { a href="?" { "Show no real days of masked rows" } } @else { a.real href="?real=1" { "Show real days" } }
        } }
        @if !windows.is_empty() { details open[site.shows_real] { summary { "Days of its windows" }
            ul { @for (window, dates) in &windows {
                li { (line(window)) ": " (dates.len()) " trading days"
                    @if let (Some(first), Some(last)) = (dates.first(), dates.last()) { ", " (line(first)) " to " (line(last)) } "." }
            } }
        } }
    }
}

fn filters(board: &Board) -> Markup {
    let rows = || board.rows();
    let cohorts: BTreeSet<String> = rows().map(|(_, row)| row.cohort.clone()).collect();
    let windows: BTreeSet<String> = rows().map(|(track, _)| track.window.clone()).collect();
    let masks: BTreeSet<String> = rows().map(|(track, _)| track.mask("/")).collect();
    let modes: BTreeSet<String> = rows().map(|(track, _)| track.mode.clone()).collect();
    html! {
        form.filters role="search" data-filter="#rows tbody tr" {
            @for (name, options) in [("cohort", &cohorts), ("window", &windows), ("mask", &masks), ("mode", &modes)] {
                label { (name) " " select name=(name) {
                    option value="" { "any" }
                    @for option in options { option value=(option) { (line(option)) } }
                } }
            }
            label { "agent or word " input type="search" name="words" data-key="filter"; }
            span.count aria-live="polite" {}
        }
    }
}

fn rows(site: PageSite, document: &DocumentEntry, board: &Board) -> Markup {
    html! {
        table.sortable {
            thead { tr {
                th.l scope="col" { "agent" } th.l scope="col" { "cohort" } th.l scope="col" { "window" } th.l scope="col" { "mask" }
                th.l scope="col" { "mode" } th scope="col" { "seeds" } th scope="col" { "return" } th scope="col" { "rank" }
                th scope="col" { "selection a day" } th scope="col" { "from" } th scope="col" { "to" } th scope="col" { "rank by selection" }
                th.l scope="col" { "plausible ranks" }
            } }
            tbody { @for (track, one) in board.rows() { (row(site, document, track, one)) } }
        }
    }
}

fn row(site: PageSite, document: &DocumentEntry, track: &Track, row: &TrackRow) -> Markup {
    let total = row.attribution.as_ref().map(|bases| bases.two.carino.portfolio);
    let selection = row.selection.as_ref();
    let interval = selection.and_then(|selection| selection.interval);
    let mask = track.mask("/");
    html! {
        tr data-cohort=(row.cohort) data-window=(track.window) data-mask=(mask) data-mode=(track.mode) {
            th.l scope="row" { a href={ (document.slug) "/" (row.slug(track)) ".html" (site.query()) } { (line(&row.agent)) } }
            td.l { (line(&row.cohort)) } td.l { (line(&track.window)) } td.l { (line(&mask)) } td.l { (line(&track.mode)) }
            td { (row.seeds.len()) }
            (number(total, change)) td { @if let Some(rank) = row.return_rank { (rank) } }
            (number(selection.map(|selection| selection.a_day), basis_points))
            (number(interval.map(|interval| interval.low), basis_points)) (number(interval.map(|interval| interval.high), basis_points))
            td { @if let Some(rank) = row.alpha_rank { (rank) } }
            td.l { @if let Some(between) = row.rank_interval { (between.low) " to " (between.high) } }
        }
    }
}

/// A share, with the number that it sorts by.
fn number(share: Option<f64>, shown: fn(f64) -> String) -> Markup {
    html! { td data-value=[share.map(|share| share.to_string())] { @if let Some(share) = share { (shown(share)) } } }
}
