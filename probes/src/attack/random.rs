//! Guesses among what an exhibit leaves open, such as a board: the check of what chance is.

use super::{DatabaseAttacker, Reading};
use crate::clue::Clues;

pub(crate) struct Random;

impl DatabaseAttacker for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn clues(&self, _: &Reading<'_>) -> Clues {
        Clues::default()
    }
}
