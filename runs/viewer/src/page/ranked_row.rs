//! A row of a board, with where it stands.

use super::exposures;
use super::frame::PageSite;
use super::nav::NavLine;
use super::value::line;
use crate::board::{Board, Track, TrackRow};
use crate::catalogue::DocumentEntry;
use crate::entry::EpisodeEntry;
use maud::{Markup, html};
use std::sync::Arc;

/// A row of a board.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedRow<'b> {
    pub(crate) document: &'b DocumentEntry,
    pub(crate) board: &'b Board,
    pub(crate) track: &'b Track,
    pub(crate) row: &'b TrackRow,
}

impl<'b> RankedRow<'b> {
    /// The row that an episode is part of: of the first of its experiment's boards that has one.
    pub(crate) fn of(boards: &'b [(&DocumentEntry, Arc<Board>)], entry: &EpisodeEntry) -> Option<Self> {
        let content = entry.content.as_ref().ok()?;
        boards.iter().find_map(|(document, board)| {
            let (track, row) = board.row_of(content)?;
            Some(Self {
                document,
                board,
                track,
                row,
            })
        })
    }

    /// Its page, from the root of the site.
    pub(crate) fn address(self) -> String {
        format!("board/{}/{}.html", self.document.slug, self.row.slug(self.track))
    }

    /// The benchmark and the price index, where they have a value for each of as many days.
    pub(crate) fn market(self, days: usize) -> Vec<NavLine<'b>> {
        let track = self.track;
        let index = track.price_index_name.as_deref().unwrap_or("price index");
        let lines = [
            (track.benchmark_name.as_str(), "nav-benchmark", &track.benchmark),
            (index, "nav-index", &track.price_index),
        ];
        let known = lines.into_iter().filter(|(_, _, values)| values.len() == days);
        known
            .map(|(name, class, values)| NavLine::of_days(name, class, values))
            .collect()
    }

    /// What its daily values are of: a mean where it has several seeds.
    pub(crate) const fn account_name(self) -> &'static str {
        if 1 < self.row.seeds.len() {
            "mean over seeds"
        } else {
            "account"
        }
    }

    /// Why a figure is not there: `otherwise`, but for a window that is not opened, of which the board has no figures.
    pub(crate) fn nothing(self, otherwise: &str) -> Markup {
        html! { p.nothing {
            @if self.track.is_closed() {
                "Hidden until the window is opened: the board leaves out what would find its days. "
                code { "ktd leaderboard RESULTS --real" } " makes a board with these figures, for its owner alone."
            } @else { (line(otherwise)) }
        } }
    }

    /// The days of its window where they may be named; none where they are called by their steps.
    pub(crate) fn dates(self, site: PageSite) -> &'b [String] {
        let is_hidden = self.board.hides_days(&self.track.window) && !site.shows_real;
        if is_hidden || !self.track.names_days() {
            return &[];
        }
        &self.track.dates
    }

    /// Its exposures through time.
    pub(crate) fn exposures(self, site: PageSite) -> Markup {
        let mut values = self.row.daily_exposures.iter().flatten();
        if values.all(Option::is_none) {
            let why = self.row.unattributed_reason.as_deref();
            return self.nothing(why.unwrap_or("No exposure is known."));
        }
        let styles = &self.board.model.styles;
        exposures::figure(styles, self.dates(site), &self.row.daily_exposures)
    }
}
