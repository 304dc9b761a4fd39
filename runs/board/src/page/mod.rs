//! The leaderboard as a report: one page without scripts and without anything to load, readable on a phone, in the dark, on paper
//! and by a screen reader; Markdown; and CSV and Parquet of each table.
//!
//! Like the tables it computes nothing: all that it shows is in the [`Leaderboard`]. What could show anything else as well lies
//! in `ktd_view` and in the report of every study.

mod front;
mod guide;
mod pictures;

use crate::days;
use crate::sheet::{self, TableKind};
use crate::{Leaderboard, PooledRow, Track};
use ktd_attribution::account::WeightBasis;
use ktd_study::{Report, Section, Shown};
use ktd_view::draw::counted;
use maud::html;
use pictures::View;

pub use front::verdict;

/// The folder of the tables.
pub(crate) const TABLES: &str = "tables";

/// The report of a board; `basis` is that of the tables of the split.
#[must_use]
pub fn report(board: &Leaderboard, basis: WeightBasis) -> Report {
    let board = &*days::unmasked_alone(board);
    let mut sections = Vec::new();
    if let [headline, others @ ..] = board.tracks.as_slice() {
        sections.push(pooled(board));
        sections.extend(pictures::all(View {
            board,
            track: headline,
        }));
        sections.push(memory(board));
        sections.push(other_tracks(others));
    }
    sections.extend([guide::section(), front::protocol(board), tables(board, basis)]);
    Report {
        title: front::title(board),
        verdict: front::verdict(board),
        notes: board.notes.clone(),
        sections,
        folder: TABLES,
        styles: vec![include_str!("style.css")],
        footer: front::footer(board),
        ..Report::default()
    }
}

/// The rankings over several windows together, each with its windows beside.
fn pooled(board: &Leaderboard) -> Section {
    let lead = "Linked selection a day, a mean over windows that share no day and weigh the same. Intervals are Student's over \
                windows. Who lacks a window has no rank.";
    let section = Section::new("Pooled over windows").at("pooled", lead);
    board.pooled.iter().fold(section, |section, pooled| {
        let of = format!(
            "{}-{}_{}",
            pooled.level_label(),
            pooled.numeric.label(),
            pooled.mode.label()
        );
        let id = |kind: TableKind| format!("{}_{of}", kind.label());
        let is_known = |row: &PooledRow| row.by_window.iter().any(Option::is_some);
        let by_window = if pooled.rows.iter().any(is_known) {
            Shown::Folded
        } else {
            Shown::Files
        };
        section
            .picture(sheet::front::of_pooled(board, pooled).html())
            .picture(pictures::pooled_ranks(pooled))
            .table(id(TableKind::Pooled), sheet::pooled::ranks(pooled), Shown::Folded)
            .table(id(TableKind::ByWindow), sheet::pooled::windows(pooled), by_window)
    })
}

/// What hiding the identifiers took away, by where windows lie beside each model's training cutoff.
fn memory(board: &Leaderboard) -> Section {
    let lead = "Bright minus blinded in windows that end by the last day of a model's training data, hold it, or begin later. A gap \
                that is there before the cutoff and gone after it is memory, where both show the same numbers.";
    let section = Section::new("Memory gap and training cutoff").at("memory", lead);
    if board.cutoff_gaps.is_empty() {
        return section;
    }
    section.picture(sheet::memory::table(board).html())
}

fn other_tracks(tracks: &[Track]) -> Section {
    let section = Section::new("Other rankings").at("tracks", "");
    if tracks.is_empty() {
        return section;
    }
    section.picture(html! {
        p.lead { (counted(tracks.len(), "more ranking")) ": other windows, masks and decision modes." }
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
    })
}

/// Every table that is not pooled as files: one a track, or one of the whole board.
fn tables(board: &Leaderboard, basis: WeightBasis) -> Section {
    let mut section = Section::new("Tables").at("tables", "");
    for kind in TableKind::ALL.into_iter().filter(|kind| !kind.is_pooled()) {
        let shown = if kind.is_per_track() {
            board.tracks.len()
        } else {
            1
        };
        for track in board.tracks.iter().take(shown) {
            let id = if kind.is_per_track() {
                format!(
                    "{}_{}_{}-{}_{}",
                    kind.label(),
                    track.window,
                    track.level_label(),
                    track.numeric.label(),
                    track.mode.label()
                )
            } else {
                kind.label().to_owned()
            };
            section = section.table(id, sheet::table(board, kind, track, basis), Shown::Files);
        }
    }
    section
}

/// A count of the board's as one that is shown.
fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
