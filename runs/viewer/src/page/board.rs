//! A board in the frame of the other pages: its rows, which sort, filter and lead to episodes, and its own page as it was written.

use super::frame::{Page, PageSite};
use super::value::line;
use crate::board::{Board, Track, TrackRow};
use crate::catalogue::{DocumentEntry, ExperimentEntry};
use ktd_view::draw::{basis_points, change, scroll};
use maud::{Markup, html};
use std::collections::{BTreeMap, BTreeSet};

/// A board with what its page says beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoardParts<'b> {
    pub(crate) document: &'b DocumentEntry,
    /// What it ranks, or why that cannot be read.
    pub(crate) board: Result<&'b Board, &'b str>,
    /// The experiments whose episodes it ranks, as far as they lie here.
    pub(crate) experiments: &'b [&'b ExperimentEntry],
    /// Whether private parts are read.
    pub(crate) has_private: bool,
}

/// The page; the board's own stands in a frame that runs no script and reaches nothing.
#[must_use]
pub(crate) fn page(site: PageSite, parts: BoardParts<'_>, verdict: Option<&str>) -> String {
    let BoardParts {
        document,
        board,
        experiments,
        has_private,
    } = parts;
    let title = board.map_or(document.slug.as_str(), |board| board.title.as_str());
    let own = format!("{}/index.html{}", document.slug, site.query());
    let shows_own = shows_own(site, board.ok(), has_private);
    let has_switch = !shows_own || site.shows_real || board.is_ok_and(hides_any);
    let body = html! {
        h1 { "Board " (line(title)) }
        @if let Some(verdict) = verdict.filter(|_| shows_own) { p { b { (line(verdict)) } } }
        p { @if shows_own { a href=(own) { "Open it alone" } ". " } (ranked(experiments)) }
        @if has_switch && has_private { p.switch {
            @if site.shows_real { a href="?" { "Show no real days of masked rows" } } @else { a.real href="?real=1" { "Show real days" } }
        } }
        @if let Ok(board) = board { (days(site, board)) }
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
        section #own { h2 { "As it was written" }
            @if shows_own { iframe.whole src=(own) title="the board" sandbox="" {} }
            @else { p.nothing { "Its own page may name days of windows that are not opened: it stands behind the switch of their owner." } }
        }
    };
    let above = above(experiments);
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

/// The page above a board and its rows: the experiment, where it ranks one alone.
pub(super) fn above(experiments: &[&ExperimentEntry]) -> Vec<(String, String)> {
    match experiments {
        [only] => vec![(format!("x/{}.html", only.slug), only.slug.clone())],
        _ => Vec::new(),
    }
}

/// Where the episodes are that a board ranks.
fn ranked(experiments: &[&ExperimentEntry]) -> Markup {
    html! {
        @if experiments.is_empty() { "The episodes that it ranks do not lie below the named directories." }
        @else {
            "Episodes that it ranks: "
            @for (place, one) in experiments.iter().enumerate() {
                @if 0 < place { ", " }
                a href={ "../x/" (one.slug) ".html" } { (line(&one.slug)) }
            }
            "."
        }
    }
}

/// Whether a board's own page is shown: one that tells of windows that are not opened, or does not say so, stands behind the switch of
/// whoever owns them.
pub(crate) fn shows_own(site: PageSite, board: Option<&Board>, has_private: bool) -> bool {
    site.shows_real || !board.map_or(has_private, |board| board.names_closed_windows)
}

/// Whether a mask hides the days of any window.
fn hides_any(board: &Board) -> bool {
    board.tracks.iter().any(|track| board.hides_days(&track.window))
}

/// First and last day of each window where they are named; those that a mask hides from any row stand behind a switch.
fn days(site: PageSite, board: &Board) -> Markup {
    let is_shown =
        |track: &Track| track.names_days() && (site.shows_real || !board.hides_days(&track.window));
    let tracks = board.tracks.iter().filter(|track| is_shown(track));
    let windows: BTreeMap<&str, &[String]> = tracks
        .map(|track| (track.window.as_str(), track.dates.as_slice()))
        .collect();
    html! {
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
    let cohorts: BTreeSet<String> = rows().map(|(_, row)| row.cohort().to_owned()).collect();
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
                th.l scope="col" { "mode" } th scope="col" { "seeds" } th scope="col" { "return" } th scope="col" { "rank by return" }
                th scope="col" { "selection a day" } th scope="col" { "from" } th scope="col" { "to" } th scope="col" { "rank by selection" }
                th.l scope="col" { "plausible ranks" }
            } }
            tbody { @for (track, one) in board.rows() { (row(site, document, track, one)) } }
        }
    }
}

fn row(site: PageSite, document: &DocumentEntry, track: &Track, row: &TrackRow) -> Markup {
    let total = row.total_return();
    let selection = row.selection.as_ref();
    let interval = selection.and_then(|selection| selection.interval);
    let mask = track.mask("/");
    html! {
        tr data-cohort=(row.cohort()) data-window=(track.window) data-mask=(mask) data-mode=(track.mode) {
            th.l scope="row" { a href={ (document.slug) "/" (row.slug(track)) ".html" (site.query()) } { (line(&row.agent)) } }
            td.l { (line(row.cohort())) } td.l { (line(&track.window)) } td.l { (line(&mask)) } td.l { (line(&track.mode)) }
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

#[cfg(test)]
mod tests {
    use super::super::frame::SiteKind;
    use super::super::ranked_row::RankedRow;
    use super::super::tear_sheet;
    use super::*;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    const DAYS: [&str; 2] = ["2024-04-30", "2024-05-06"];

    /// A board of one agent with two seeds: on each of these levels with its window and days.
    fn board(tracks: &[(&str, &str, [&str; 2])], names_closed_windows: bool) -> Board {
        let row = json!({
            "agent": "a", "cohort": "model", "seeds": [1, 2], "return_rank": 1, "alpha_rank": 1,
            "rank_interval": null, "attribution": null, "unattributed_reason": null, "selection": null, "reliability": null,
            "curves": { "nav": [1.1, 1.05], "common": [], "style": [], "selection": [], "other": [] },
            "metrics": { "total_return": { "median": { "value": 0.05 }, "values": [0.05, 0.05] } },
        });
        let track = |(level, window, dates): &(&str, &str, [&str; 2])| {
            json!({
                "window": window, "level": level, "numeric": "exact", "mode": "open-research", "dates": dates,
                "benchmark_name": "members' total return", "benchmark": [1.01, 1.02],
                "price_index_name": "price index SH000300", "price_index": [1.0, 1.0], "leaders": [row],
            })
        };
        let tracks: Vec<Value> = tracks.iter().map(track).collect();
        let board = json!({
            "title": "t", "model": { "styles": [] }, "tracks": tracks, "names_closed_windows": names_closed_windows,
        });
        serde_json::from_value(board).unwrap()
    }

    /// The page of a board and the tear sheet of its first row, with the switch or without.
    fn pages(board: &Board, shows_real: bool) -> [String; 2] {
        let site = PageSite {
            kind: SiteKind::Served,
            shows_real,
            is_running: false,
        };
        let document = DocumentEntry {
            slug: "own".to_owned(),
            folder: PathBuf::new(),
        };
        let experiment = ExperimentEntry {
            slug: "x".to_owned(),
            folder: PathBuf::new(),
            episodes: Vec::new(),
            boards: vec![document.clone()],
            certificates: Vec::new(),
        };
        let (track, row) = board.rows().next().unwrap();
        let ranked = RankedRow {
            document: &document,
            board,
            track,
            row,
        };
        let parts = BoardParts {
            document: &document,
            board: Ok(board),
            experiments: &[&experiment],
            has_private: true,
        };
        [
            page(site, parts, Some(VERDICT)),
            tear_sheet::page(site, &[&experiment], ranked, true),
        ]
    }

    const SWITCH: &str = "Show real days";
    const VERDICT: &str = "Of 1 agent nobody is first.";

    #[test]
    fn days_that_a_mask_hides_from_any_row_stand_behind_the_switch() {
        // Whoever sees the days of the bright row knows those of the blinded one.
        let both = board(&[("bright", "w", DAYS), ("blinded", "w", DAYS)], false);
        for page in pages(&both, false) {
            assert!(!page.contains("2024-0") && page.contains(SWITCH), "{page}");
        }
        for page in pages(&both, true) {
            assert!(page.contains("2024-0"), "{page}");
        }
        // A mask of stocks alone hides no day, and a masked window hides none of another.
        let shown = board(
            &[("stock-blind", "w", DAYS), ("date-blind", "v", ["2023-01-03"; 2])],
            false,
        );
        let [rows, sheet] = pages(&shown, false);
        assert!(
            rows.contains(DAYS[0]) && !rows.contains("2023-01-03") && rows.contains(SWITCH),
            "{rows}"
        );
        assert!(
            sheet.contains(DAYS[0]) && sheet.contains("Calendar months"),
            "{sheet}"
        );
        assert!(!sheet.contains(SWITCH), "{sheet}");
    }

    #[test]
    fn a_board_of_closed_windows_has_no_days_to_show_or_hides_its_own_page() {
        let concealed = board(&[("blinded", "w", ["day 1", "day 2"])], false);
        let [rows, sheet] = pages(&concealed, false);
        assert!(
            !rows.contains(SWITCH) && !sheet.contains(SWITCH) && !rows.contains("day 1"),
            "{rows}"
        );
        assert!(rows.contains("<iframe") && rows.contains(VERDICT), "{rows}");
        assert!(rows.contains(&change(0.05)), "without a split, too: {rows}");
        assert!(
            sheet.contains("Hidden until the window is opened") && !sheet.contains("was measured"),
            "{sheet}"
        );
        let named = board(&[("blinded", "w", DAYS)], true);
        let [rows, _] = pages(&named, false);
        assert!(
            !rows.contains("own/index.html") && !rows.contains(VERDICT) && rows.contains(SWITCH),
            "{rows}"
        );
        let [rows, _] = pages(&named, true);
        assert!(
            rows.contains("src=\"own/index.html?real=1\"") && rows.contains(VERDICT),
            "{rows}"
        );
    }

    #[test]
    fn months_and_beta_are_against_the_benchmark() {
        let [_, sheet] = pages(&board(&[("bright", "w", DAYS)], false), false);
        let (_, months) = sheet.split_once("<section id=\"months\">").unwrap();
        let (months, rest) = months.split_once("</section>").unwrap();
        assert!(
            months.contains("total return") && !months.contains("SH000300"),
            "{months}"
        );
        assert_eq!(rest.matches("Of the mean over its 2 seeds.").count(), 2, "{rest}");
    }
}
