//! How much of an episode a probe shows.

use serde::{Deserialize, Serialize};

/// Kind of a probe: how much an attacker is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// One step: market context, a screen and the target's snapshot, as in KTD-Fin (appendix K).
    Day,
    /// Some consecutive steps under one alias.
    Days,
    /// Every step of an episode whose account holds the target.
    Episode,
    /// Some steps of two episodes under two keys: is it the same stock?
    Linked,
    /// One step, with the real code of another shown stock given away.
    Anchored,
}

impl ProbeKind {
    /// Every kind, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Day, Self::Days, Self::Episode, Self::Linked, Self::Anchored];

    /// The name in configurations, files and tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Days => "days",
            Self::Episode => "episode",
            Self::Linked => "linked",
            Self::Anchored => "anchored",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == text)
    }
}
