//! What is behind a probe. It is kept apart from what the probe shows.

use ktd_env::{Board, DayIndex, NameId};

/// Target of an exhibit: the stock and the day behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The stock.
    pub name: NameId,
    /// The as-of day of the last step shown.
    pub day: DayIndex,
    /// The stock's board, which every mask shows.
    pub board: Board,
    /// The stock's sector, as a place in the panel's list.
    pub sector: Option<u16>,
}

/// The answer key of one probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gold {
    /// Place of the stretch that the first exhibit was drawn from.
    pub stretch: usize,
    /// One an exhibit.
    pub targets: Vec<Target>,
}

impl Gold {
    /// Whether the two exhibits of a linked probe show the same stock; `None` of any other probe.
    #[must_use]
    pub fn is_same(&self) -> Option<bool> {
        match self.targets.as_slice() {
            [first, second] => Some(first.name == second.name),
            [] | [_] | [_, _, ..] => None,
        }
    }
}
