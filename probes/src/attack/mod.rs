//! The ten algorithmic attackers. Each reads an exhibit in its own sense; all own the price database.

mod combination;
mod cross_section;
mod in_the_open;
mod index_path;
mod labels_and_order;
mod limit_pattern;
mod price_level;
mod random;
mod return_path;
mod senses;
mod ten;
mod verdict;
mod volatility_profile;
mod volume_level;

pub use combination::Lesson;
pub(crate) use senses::Reading;
pub use ten::Attackers;

use crate::clue::Clues;

/// One attacker: what it makes of an exhibit, as clues about the stock and the day.
pub(crate) trait Attacker: Sync {
    /// The name in tables and certificates.
    fn name(&self) -> &'static str;

    /// What the exhibit tells this attacker; nothing where it sees nothing in its sense, and then it guesses.
    fn clues(&self, reading: &Reading<'_>) -> Clues;
}
