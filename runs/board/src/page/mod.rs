//! The leaderboard as one page: a single file without scripts and without anything to load, readable on a phone, in the
//! dark, on paper and by a screen reader.
//!
//! Like the tables it computes nothing: all that it shows is in the [`Leaderboard`]. What could show anything else as well lies
//! in `ktd_view`.

mod front;
mod guide;
mod pictures;

use crate::{Leaderboard, Track, sheet};
use ktd_view::draw::{self, counted};
use maud::{Markup, html};
use pictures::View;

/// The page of a board.
#[must_use]
pub fn render(board: &Leaderboard) -> String {
    let styles = [draw::STYLE, include_str!("style.css")];
    draw::document(&front::title(board), &styles, &body(board))
}

fn body(board: &Leaderboard) -> Markup {
    html! {
        (front::head(board))
        main {
            @if let [headline, others @ ..] = board.tracks.as_slice() {
                (pooled(board))
                (pictures::all(View { board, track: headline }))
                (memory(board))
                (other_tracks(others))
            } @else {
                p.nothing { "There is no ranking: no finished run was shown." }
            }
            (guide::section())
            (front::protocol(board))
        }
        footer { p { "Made by ktd " (board.ktd) " from leaderboard.json, format " (board.format) ", content "
            code { (board.content_sha256) } "." } }
    }
}

/// The rankings over several windows together, each with its windows beside.
fn pooled(board: &Leaderboard) -> Markup {
    html! {
        @if !board.pooled.is_empty() {
            section #pooled {
                h2 { "Pooled over windows" }
                p.lead {
                    "Linked selection a day, a mean over windows that share no day and weigh the same. Intervals are \
                     Student's over windows. Who lacks a window has no rank."
                }
                @for pooled in &board.pooled {
                    (sheet::pooled::ranks(pooled).html())
                    (sheet::pooled::windows(pooled).html())
                }
            }
        }
    }
}

/// What hiding the identifiers took away, by where windows lie beside each model's training cutoff.
fn memory(board: &Leaderboard) -> Markup {
    html! {
        @if !board.cutoff_gaps.is_empty() {
            section #memory {
                h2 { "Memory gap and training cutoff" }
                p.lead {
                    "Bright minus blinded in windows that end by the last day of a model's training data, hold it, or begin \
                     later. A gap that is there before the cutoff and gone after it is memory, where both show the same numbers."
                }
                (sheet::memory::table(board).html())
            }
        }
    }
}

fn other_tracks(tracks: &[Track]) -> Markup {
    html! {
        @if !tracks.is_empty() {
            section #tracks {
                h2 { "Other rankings" }
                p.lead {
                    (counted(tracks.len(), "more ranking")) ": other windows, masks and decision modes."
                }
                @for track in tracks {
                    details.track {
                        summary {
                            b { (track.window) } " " (track.level_label()) "/" (track.numeric.label()) ", " (track.mode.label())
                            @if let Some(first) = track.leaders.first().filter(|first| first.alpha_rank.is_some()) {
                                " \u{2013} first: " bdi { (first.agent) }
                            }
                        }
                        (pictures::leaderboard(track))
                    }
                }
            }
        }
    }
}

/// A count of the board's as one that is shown.
fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
