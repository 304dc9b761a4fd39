//! The leaderboard as one page: a single file without scripts and without anything to load, readable on a phone, in the
//! dark, on paper and by a screen reader.
//!
//! Like the tables it computes nothing: all that it shows is in the [`Board`]. Plotters draws the axes of the pictures,
//! through a backend of our own that writes classes: colours stand in `style.css` alone. Marks are drawn beside it, because
//! each of them carries its numbers as a text of its own.

mod front;
mod guide;
mod pictures;
mod table;

use crate::{Board, Track};
use ktd_view::draw::{Markup, counted};
use pictures::View;

/// The page of a board. It is well-formed XML that browsers read as HTML.
#[must_use]
pub fn render(board: &Board) -> String {
    Markup::document(&front::title(board), include_str!("style.css"), |page| {
        body(page, board);
    })
}

fn body(page: &mut Markup, board: &Board) {
    front::write(page, board);
    page.element("main", &[], |page| {
        match board.tracks.as_slice() {
            [] => page.leaf(
                "p",
                &[("class", "nothing")],
                "There is no ranking: no finished run was shown.",
            ),
            [headline, others @ ..] => {
                pictures::write(
                    page,
                    View {
                        board,
                        track: headline,
                    },
                );
                other_tracks(page, others);
            }
        }
        guide::write(page);
        front::protocol(page, board);
    });
    let made = format!(
        "Made by ktd {} from leaderboard.json, format {}.",
        board.ktd, board.format
    );
    page.element("footer", &[], |page| page.leaf("p", &[], &made));
}

fn other_tracks(page: &mut Markup, tracks: &[Track]) {
    if tracks.is_empty() {
        return;
    }
    page.element("section", &[("id", "tracks")], |page| {
        page.leaf("h2", &[], "Other rankings");
        let lead = format!(
            "{}: other windows, masks and decision modes.",
            counted(tracks.len(), "more ranking")
        );
        page.leaf("p", &[("class", "lead")], &lead);
        for track in tracks {
            page.element("details", &[("class", "track")], |page| {
                page.element("summary", &[], |page| {
                    page.leaf("b", &[], &track.window);
                    page.text(&format!(" {}/{}, {}", track.level, track.numeric, track.mode));
                    if let Some(first) = track.leaders.first().filter(|first| first.alpha_rank.is_some()) {
                        page.text(" \u{2013} first: ");
                        page.leaf("bdi", &[], &first.agent);
                    }
                });
                pictures::leaderboard(page, track);
            });
        }
    });
}
