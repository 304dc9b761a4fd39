//! The algorithmic attackers. Each reads an exhibit in its own sense; all own the price database.

mod asking;
mod combination;
mod cross_section;
mod index_path;
mod labels_and_order;
mod limit_pattern;
mod plaintext_leak;
mod price_level;
mod random;
mod return_path;
mod senses;
mod ten;
mod verdict;
mod volatility_profile;
mod volume_level;

pub use combination::{LearnedWeights, Lesson};
pub(crate) use senses::Reading;
pub use ten::Attackers;

use crate::clue::Clues;
use crate::kind::ProbeKind;

/// The published name of a probe, under which the keys of its exhibits are derived. Attackers have it from the description
/// of the method and not from the maker, of whom they know nothing but texts.
fn probe_name(kind: ProbeKind, number: usize) -> String {
    format!("probe {} {number}", kind.label())
}

/// One attacker: what it makes of an exhibit, as clues about the stock and the day.
pub(crate) trait DatabaseAttacker: Sync {
    /// The name in tables and certificates.
    fn name(&self) -> &'static str;

    /// What the exhibit tells this attacker; nothing where it sees nothing in its sense, and then it guesses.
    fn clues(&self, reading: &Reading<'_>) -> Clues;
}
