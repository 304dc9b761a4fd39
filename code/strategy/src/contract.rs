//! How a program is handed its bars.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a program is handed its bars: what it can know of later ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyContract {
    /// `run(market_data, initial_capital)` gets all bars at once: look-ahead is searched for.
    #[default]
    Run,
    /// `step(bar)` gets one bar, and what it says of a bar is taken from a process that was given no later one: there is
    /// nothing to look ahead to.
    Step,
}

impl StrategyContract {
    /// The name used in files and tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Step => "step",
        }
    }

    /// Whether it is the one that is meant where nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What a table says of it.
    #[must_use]
    pub const fn note(self) -> &'static str {
        match self {
            Self::Run => "contract `run`: programs get all bars at once, and look-ahead is searched for",
            Self::Step => {
                "contract `step`: what a program says of a bar comes from a process that was given no later one, \
                 so that no program looks ahead"
            }
        }
    }
}
