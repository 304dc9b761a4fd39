//! The fixed strategies whose view of the numbers is measured: those of two built-in agents.

use ktd_env::factors::Factor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Weight of each factor in a score, in the order of [`Factor::ALL`].
pub(super) type FactorWeights = [f64; Factor::ALL.len()];

/// Strategy that ranks the index members by factors alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactorStrategy {
    /// High momentum.
    Momentum,
    /// Strong and steady names near their highs.
    Composite,
}

impl FactorStrategy {
    /// Both, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Momentum, Self::Composite];

    /// The built-in agent that trades it.
    #[must_use]
    pub const fn builtin(self) -> &'static str {
        match self {
            Self::Momentum => "momentum",
            Self::Composite => "composite",
        }
    }

    /// The weight of each factor in its score, in the order of [`Factor::ALL`].
    #[must_use]
    pub(super) fn weights(self) -> FactorWeights {
        Factor::ALL.map(|factor| {
            let tilts = self.tilts().iter();
            tilts.filter(|(of, _)| *of == factor).map(|(_, sign)| sign).sum()
        })
    }

    /// Its factors, each with the sign of its attractive end.
    const fn tilts(self) -> &'static [(Factor, f64)] {
        match self {
            Self::Momentum => &[(Factor::Mom12_1, 1.0)],
            Self::Composite => &[
                (Factor::Mom12_1, 1.0),
                (Factor::High52w, 1.0),
                (Factor::Rv60, -1.0),
                (Factor::CvVol, -1.0),
            ],
        }
    }
}
