//! The head of the page: what it says in a few sentences; and its last section: by which rules.

use ktd_view::draw::{Markup, change, counted, joined, plural, portion, short_hash};
use super::pictures::{CONTENTS, is_set_apart};
use crate::{Board, Leader, Separation, Track};

/// Shares of won resamples between which two agents cannot be separated.
const SEPARATE: (f64, f64) = (0.05, 0.95);

/// The page's title.
pub(super) fn title(board: &Board) -> String {
    if board.title.is_empty() {
        "Leaderboard".to_owned()
    } else {
        format!("Leaderboard: {}", board.title)
    }
}

/// Title, reading, notes and contents.
pub(super) fn write(page: &mut Markup, board: &Board) {
    page.element("header", &[], |page| {
        page.leaf("h1", &[], &title(board));
        if let Some(track) = board.tracks.first() {
            let ranked: Vec<&Leader> = track
                .leaders
                .iter()
                .filter(|leader| leader.alpha_rank.is_some())
                .collect();
            let first = ranked.first().map(|best| first(best, track.trials));
            let separated = track
                .separation
                .as_ref()
                .and_then(|separation| separated(ranked.len(), separation));
            let verdict: Vec<String> = separated.into_iter().chain(first).collect();
            page.leaf("p", &[("class", "reading")], &verdict.join(" "));
            scope(page, track, ranked.len());
        }
        hashes(page, board);
        if !board.notes.is_empty() {
            page.element("ul", &[("class", "notes board")], |page| {
                for note in &board.notes {
                    page.leaf("li", &[], note);
                }
            });
        }
        contents(page, board);
    });
}

/// What was ranked: agents, days, mask and mode.
fn scope(page: &mut Markup, track: &Track, ranked: usize) {
    let beside = match track.leaders.iter().filter(|leader| is_set_apart(leader)).count() {
        0 => String::new(),
        1 => ", beside 1 unranked control or reference".to_owned(),
        count => format!(", beside {count} unranked controls and references"),
    };
    let are = if ranked == 1 { "is" } else { "are" };
    page.element("p", &[], |page| {
        page.text(&format!(
            "{} {are} ranked by what they selected over the {} of window {}",
            counted(ranked, "agent"),
            counted(track.dates.len(), "trading day"),
            track.window,
        ));
        if let (Some(first), Some(last)) = (track.dates.first(), track.dates.last()) {
            page.text(" (");
            page.leaf("span", &[("class", "whole")], first);
            page.text(" to ");
            page.leaf("span", &[("class", "whole")], last);
            page.text(")");
        }
        page.text(&format!(
            ", {}/{}, {}{beside}.",
            track.level, track.numeric, track.mode
        ));
    });
}

/// How many pairs the data separate.
fn separated(agents: usize, separation: &Separation) -> Option<String> {
    let pairs = agents * agents.saturating_sub(1) / 2;
    if pairs == 0 {
        return None;
    }
    let rows = separation.win_share.iter().enumerate();
    let apart = rows.flat_map(|(row, shares)| shares.iter().skip(row + 1));
    let apart = apart
        .filter(|share| !(SEPARATE.0 < **share && **share < SEPARATE.1))
        .count();
    Some(match apart {
        0 => "These data cannot tell any two of them apart: read the order as chance.".to_owned(),
        all if all == pairs => "These data tell every two of them apart.".to_owned(),
        some => format!(
            "These data tell {some} of {pairs} pairs apart; the rest of the order may be chance ({}).",
            counted(separation.groups.len(), "group")
        ),
    })
}

/// What is known of the first.
fn first(best: &Leader, trials: usize) -> String {
    let Some(selection) = &best.selection else {
        return format!("First by selection is {}.", best.agent);
    };
    let mut details: Vec<String> = Vec::new();
    if let Some((low, high)) = selection.interval {
        details.push(format!("95 % interval {} to {}", change(low), change(high)));
    }
    if let Some(share) = best.first_share {
        details.push(format!("first in {} of resamples", portion(share)));
    }
    let details = if details.is_empty() {
        String::new()
    } else {
        format!(" ({})", details.join(", "))
    };
    let verdict = match selection.null_band {
        Some((_, high)) if high < selection.value => {
            " That is above what luck gives to 97.5 % of random portfolios"
        }
        Some((low, _)) if selection.value < low => {
            " That is below what luck gives to 97.5 % of random portfolios"
        }
        Some(_) => " That is inside the band of random portfolios: it may be luck",
        None => " No luck band is known for it",
    };
    let tried = match selection.dsr.value {
        Some(dsr) => format!(
            "; deflated by {trials} {}, the probability that it is more than the luckiest of as many is {} (DSR)",
            plural(trials, "trial"),
            portion(dsr)
        ),
        None => String::new(),
    };
    let value = change(selection.value);
    format!(
        "First by selection is {} with {value}{details}.{verdict}{tried}.",
        best.agent
    )
}

/// Parts of the protocol with their hashes.
fn parts(board: &Board) -> [(&'static str, &str); 5] {
    let protocol = &board.protocol;
    [
        ("data", &protocol.data),
        ("rules", &protocol.rules),
        ("prompts", &protocol.prompts),
        ("tools", &protocol.tools),
        ("metrics", &protocol.metrics),
    ]
}

fn hashes(page: &mut Markup, board: &Board) {
    page.element("p", &[("class", "hashes")], |page| {
        page.text("One protocol for all: ");
        for (name, hash) in parts(board) {
            page.element("span", &[("title", hash)], |page| {
                page.text(&format!("{name} "));
                page.leaf("code", &[], &short_hash(hash));
            });
            page.text(" ");
        }
    });
}

fn contents(page: &mut Markup, board: &Board) {
    page.element("nav", &[("aria-label", "contents")], |page| {
        page.element("ul", &[], |page| {
            let mut entry = |id: &str, text: &str| {
                page.element("li", &[], |page| {
                    page.leaf("a", &[("href", &format!("#{id}"))], text);
                });
            };
            if !board.tracks.is_empty() {
                for (id, text) in CONTENTS {
                    entry(id, text);
                }
            }
            if 1 < board.tracks.len() {
                entry("tracks", "Other rankings");
            }
            entry("guide", "How to read this");
            entry("protocol", "Protocol");
        });
    });
}

/// By which rules: hashes in full, the factor model's settings, how chance was drawn.
pub(super) fn protocol(page: &mut Markup, board: &Board) {
    page.element("section", &[("id", "protocol")], |page| {
        page.leaf("h2", &[], "Protocol");
        page.leaf(
            "p",
            &[("class", "lead")],
            "Runs whose hashes differ in any of these parts are never ranked together.",
        );
        page.element("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", "hashes")], |page| {
            page.element("table", &[], |page| {
                let fit = [("fit", board.model.fit_sha256.as_str())];
                for (name, hash) in parts(board).into_iter().chain(fit) {
                    page.element("tr", &[], |page| {
                        page.leaf("th", &[("scope", "row"), ("class", "l")], name);
                        page.element("td", &[("class", "l hash")], |page| page.leaf("code", &[], hash));
                    });
                }
            });
        });
        let draws = &board.resampling;
        page.leaf("p", &[], &format!(
            "Chance: {} replicates of a stationary bootstrap over days and seeds and {} random portfolios an agent, from seed {}.",
            ktd_view::table::grouped(draws.replicates),
            ktd_view::table::grouped(draws.null_portfolios),
            draws.seed
        ));
        page.leaf("p", &[], &format!("Styles kept: {}.", joined(&board.model.styles)));
        page.element("details", &[], |page| {
            page.leaf("summary", &[], "Settings of the factor model");
            page.leaf("pre", &[], board.model.configuration.trim());
        });
    });
}
