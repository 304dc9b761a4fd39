//! Days as a board's page calls them: by number where a mask hid them from those who are ranked.

use crate::{DateBounds, Leaderboard, Track};
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
    let unnamed = DateBounds {
        first: String::new(),
        last: String::new(),
    };
    board.model.calibration = board.model.calibration.map(|_| unnamed);
    Cow::Owned(board)
}

fn number(dates: &mut [String]) {
    for (place, date) in dates.iter_mut().enumerate() {
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
