//! A language model as an attacker.

use ktd_experiment::cells::Cell;

/// Language model as an attacker.
#[derive(Debug, Clone, PartialEq)]
pub struct LanguageAttacker {
    /// Its agent, endpoint and prices, in the form in which every paid conversation is metered.
    pub(super) cell: Cell,
}

impl LanguageAttacker {
    /// The agent's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.cell.agent.id
    }
}
