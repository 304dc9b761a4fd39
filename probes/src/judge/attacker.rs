//! Who is judged: the attacker that guesses, and what each knows.

use crate::{AttackerClass, Attackers, ProbeKind};

/// The attacker that draws at random from what an exhibit leaves open. Its own expectation is exact; all others have to beat
/// the best guess that looks at nothing else.
pub const RANDOM: &str = "random";

/// The class of an attacker on probes of a kind: whoever is none of the database's is a language model.
pub(super) fn class_of(attacker: &str, kind: ProbeKind) -> AttackerClass {
    if Attackers::NAMES.contains(&attacker) {
        AttackerClass::of_database(kind)
    } else {
        AttackerClass::Model
    }
}
