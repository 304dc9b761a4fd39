//! Days as a board's page calls them: by number where a mask hid them from those who are ranked.

use crate::{DateBounds, Leaderboard, Track};
use std::borrow::Cow;

/// What a day is called that is not named: `day 1` and so on.
const NUMBERED: &str = "day ";

/// The board with numbers for the days of each window whose mask hides them, and of the factor model where any does. For its
/// owner alone, who sees closed windows too, it stays as it is.
pub(super) fn unmasked_alone(board: &Leaderboard) -> Cow<'_, Leaderboard> {
    let hides = |track: &Track| track.level.hides_days();
    if board.names_closed_windows || !board.tracks.iter().any(hides) {
        return Cow::Borrowed(board);
    }
    let mut board = board.clone();
    board
        .tracks
        .iter_mut()
        .filter(|track| hides(track))
        .for_each(|track| number(&mut track.dates));
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
