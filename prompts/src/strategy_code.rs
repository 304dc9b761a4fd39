//! Texts for a model that writes a trading strategy from a document, mends it, and reviews those of others. They are part of no episode and have a
//! hash of their own. Their `{{slots}}` are filled with text from outside any mask.

use crate::hash_of;
use crate::template::open_templates;

open_templates! {
    /// The system message; it has no slot.
    SYSTEM = include_str!("../strategy_code/system.md");
    /// The message that asks for the first version; its slots are `document`, `id` and `spec`. One of the two contracts
    /// follows it.
    BUILD = include_str!("../strategy_code/build.md");
    /// How a program is handed all bars at once; its slots are `shape` and `rows`.
    CONTRACT_RUN = include_str!("../strategy_code/contract_run.md");
    /// How a program is handed one bar after the other; its slots are `shape` and `rows`.
    CONTRACT_STEP = include_str!("../strategy_code/contract_step.md");
    /// The message that asks for a patch; its slots are `document`, `card`, `source`, `evidence` and `lines`.
    PATCH = include_str!("../strategy_code/patch.md");
    /// The system message of a reviewer; it has no slot.
    REVIEW_SYSTEM = include_str!("../strategy_code/review_system.md");
    /// The message that asks for a review; its slots are `document`, `fence`, `card` and `source`.
    REVIEW = include_str!("../strategy_code/review.md");
    /// The reply to what is no review; its slot is `problem`.
    REVIEW_AGAIN = include_str!("../strategy_code/review_again.md");
    /// What follows it where a model is to know what its strategy earns; its slot is `figures`.
    PROFIT = include_str!("../strategy_code/profit.md");
}

/// SHA-256 over all texts for writers and reviewers of strategies, in hexadecimal.
#[must_use]
pub fn strategy_code_hash() -> String {
    hash_of(b"ktd strategy code prompts 1\0", ALL.iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Piece;

    #[test]
    fn texts_ask_for_what_their_docs_name() {
        let slots = |name: &str| -> Vec<&str> {
            let template = ALL.iter().find(|template| template.name == name).unwrap();
            let slots = template.pieces().iter().filter_map(|piece| match piece {
                Piece::Slot(slot) => Some(*slot),
                Piece::Text(_) => None,
            });
            slots.collect()
        };
        assert!(slots("SYSTEM").is_empty());
        assert_eq!(slots("BUILD"), ["document", "id", "spec"]);
        for contract in ["CONTRACT_RUN", "CONTRACT_STEP"] {
            assert_eq!(slots(contract), ["shape", "rows"]);
        }
        assert_eq!(
            slots("PATCH"),
            ["document", "card", "source", "evidence", "lines"]
        );
        assert!(slots("REVIEW_SYSTEM").is_empty());
        assert_eq!(
            slots("REVIEW"),
            ["document", "fence", "card", "fence", "fence", "source", "fence"]
        );
        assert_eq!(slots("REVIEW_AGAIN"), ["problem"]);
        assert_eq!(slots("PROFIT"), ["figures"]);
        assert_ne!(strategy_code_hash(), crate::factor_code::factor_code_hash());
    }
}
