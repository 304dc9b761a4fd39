//! Classes of attackers, by what they know besides what an agent is shown.

use crate::kind::ProbeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Class of an attacker: what it knows besides the exhibit and the rules of the mask.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackerClass {
    /// A language model: what it remembers, and no database.
    Model,
    /// The whole price database, and the windows that the repository publishes.
    Database,
    /// The same, with the real codes of one or more of the stocks that are shown.
    DatabaseAndStocks,
    /// The same, with the day: what is left to find is the stock.
    DatabaseAndDay,
}

impl AttackerClass {
    /// Every class, from the one that knows least.
    pub const ALL: [Self; 4] = [
        Self::Model,
        Self::Database,
        Self::DatabaseAndStocks,
        Self::DatabaseAndDay,
    ];

    /// The class of the database's attackers on probes of a kind: what a kind gives away is known to all of them.
    #[must_use]
    pub const fn of_database(kind: ProbeKind) -> Self {
        match kind {
            ProbeKind::Day | ProbeKind::Days | ProbeKind::Episode | ProbeKind::Linked | ProbeKind::Asked => {
                Self::Database
            }
            ProbeKind::Anchored | ProbeKind::AskedKnown => Self::DatabaseAndStocks,
            ProbeKind::AskedDated => Self::DatabaseAndDay,
        }
    }

    /// The name in files and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}
