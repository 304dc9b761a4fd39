//! Knows the index: its level and returns name the day.

use super::cross_section::day_clues;
use super::{Attacker, Reading};
use crate::clue::Clues;
use crate::column::DayColumn;

pub(crate) struct IndexPath;

impl Attacker for IndexPath {
    fn name(&self) -> &'static str {
        "index-path"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        day_clues(reading, is_of_index)
    }
}

/// Whether a column is about the index rather than the cross-section.
pub(super) const fn is_of_index(column: DayColumn) -> bool {
    matches!(
        column,
        DayColumn::IndexLevel
            | DayColumn::IndexReturn1d
            | DayColumn::IndexReturn5d
            | DayColumn::IndexReturn20d
            | DayColumn::IndexReturn60d
            | DayColumn::IndexVolatility
            | DayColumn::IndexDrawdown
    )
}
