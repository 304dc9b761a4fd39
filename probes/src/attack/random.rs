//! Guesses by board: the baseline that every other attacker is measured against.

use super::{Attacker, Reading};
use crate::clue::Clues;

pub(crate) struct Random;

impl Attacker for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn clues(&self, _: &Reading<'_>) -> Clues {
        Clues::default()
    }
}
