//! How much of an episode a probe shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a probe: how much an attacker is given.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
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
    /// Every step of an episode whose agent asks its own questions, with every call that it may make.
    Asked,
    /// The same, with the real codes of some of the stocks given away.
    AskedKnown,
    /// The same, with the day given away: which stock is it?
    AskedDated,
}

impl ProbeKind {
    /// Those that ask what is fixed beforehand: the kinds that language models are put.
    pub const FIXED: [Self; 5] = [Self::Day, Self::Days, Self::Episode, Self::Linked, Self::Anchored];

    /// Every kind, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Day,
        Self::Days,
        Self::Episode,
        Self::Linked,
        Self::Anchored,
        Self::Asked,
        Self::AskedKnown,
        Self::AskedDated,
    ];

    /// The name in configurations, files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }

    /// Whether its agent asks its own questions.
    #[must_use]
    pub const fn is_asked(self) -> bool {
        matches!(self, Self::Asked | Self::AskedKnown | Self::AskedDated)
    }

    /// Whether it gives the day away.
    #[must_use]
    pub const fn gives_day_away(self) -> bool {
        matches!(self, Self::AskedDated)
    }

    /// The kind of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.label() == text)
    }
}
