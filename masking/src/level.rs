//! What a mask hides.

use crate::numeric::Numeric;
use serde::{Deserialize, Serialize};

/// Which identifiers are hidden (docs/spec/episode.md#masks; KTD-Fin, section 3.3): four levels, one door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Real codes and real dates.
    Bright,
    /// Aliases and real dates.
    StockBlind,
    /// Real codes and day offsets.
    DateBlind,
    /// Aliases and day offsets.
    Blinded,
}

impl Level {
    /// All levels, from the brightest.
    pub const ALL: [Self; 4] = [Self::Bright, Self::StockBlind, Self::DateBlind, Self::Blinded];

    /// Whether codes, company names and sectors are hidden.
    #[must_use]
    pub const fn hides_stocks(self) -> bool {
        matches!(self, Self::StockBlind | Self::Blinded)
    }

    /// Whether dates are hidden.
    #[must_use]
    pub const fn hides_days(self) -> bool {
        matches!(self, Self::DateBlind | Self::Blinded)
    }

    /// The name in configurations and reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Bright => "bright",
            Self::StockBlind => "stock-blind",
            Self::DateBlind => "date-blind",
            Self::Blinded => "blinded",
        }
    }

    /// The level of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.label() == text)
    }
}

/// One mask profile, in files `{ level = "blinded", numeric = "rescaled" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskSettings {
    /// Which identifiers are hidden.
    pub level: Level,
    /// How numbers are shown; exactly, where a file does not say.
    #[serde(default = "exact")]
    pub numeric: Numeric,
}

const fn exact() -> Numeric {
    Numeric::Exact
}
