//! Days as a board's page and the split of a return call them: by number where a mask hid them from the agent.

use crate::record::{DateBounds, Leaderboard, Track};
use crate::report::AttributionReport;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What a day is called that is not named: `day 1` and so on.
const NUMBERED: &str = "day ";

/// The board with numbers for the days of each window in which a mask hides them from any row, and for those of the factor
/// model then. For its owner alone, who sees closed windows too, it stays as it is.
pub(super) fn unmasked_alone(board: &Leaderboard) -> Cow<'_, Leaderboard> {
    let masked = board.tracks.iter().filter(|track| track.level.hides_days());
    let masked: BTreeSet<String> = masked.map(|track| track.window.clone()).collect();
    if board.names_closed_windows || masked.is_empty() {
        return Cow::Borrowed(board);
    }
    let mut board = board.clone();
    let hidden = board
        .tracks
        .iter_mut()
        .filter(|track| masked.contains(&track.window));
    hidden.for_each(|track| number(&mut track.dates));
    number(&mut board.health.dates);
    board.model.calibration = board.model.calibration.map(|_| unnamed());
    Cow::Owned(board)
}

impl AttributionReport {
    /// The report with numbers for its days, and no days of its factor model.
    #[must_use]
    pub fn with_numbered_days(mut self) -> Self {
        number(self.daily.iter_mut().map(|day| &mut day.date));
        self.dates = unnamed();
        self.model.calibration = self.model.calibration.map(|_| unnamed());
        self
    }
}

/// First and last day of what has no names.
const fn unnamed() -> DateBounds {
    DateBounds {
        first: String::new(),
        last: String::new(),
    }
}

fn number<'d>(dates: impl IntoIterator<Item = &'d mut String>) {
    for (place, date) in dates.into_iter().enumerate() {
        *date = format!("{NUMBERED}{}", place + 1);
    }
}

/// Whether a day has no name but its number.
pub(crate) fn is_numbered(date: &str) -> bool {
    date.starts_with(NUMBERED)
}

/// First and last day of a window, where they are named.
pub(crate) fn span(track: &Track) -> Option<(&str, &str)> {
    let (first, last) = track.dates.first().zip(track.dates.last())?;
    (!is_numbered(first)).then_some((first, last))
}
