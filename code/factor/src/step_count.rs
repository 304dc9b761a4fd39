//! Steps of a counted run: what it ran in Python.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why the steps of a run say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountFault {
    /// The function reached for what counts them.
    Tampered,
    /// It made code while it ran, whose loops are not seen.
    DynamicCode,
    /// A counted run gave no column: it took too long, or failed.
    Failed,
}

impl CountFault {
    /// The word that records hold.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Tampered => "tampered",
            Self::DynamicCode => "dynamic_code",
            Self::Failed => "failed",
        }
    }
}

/// The steps of a counted run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepCount {
    /// Calls of functions and turns of loops.
    pub steps: u64,
    /// Those inside functions that a window of pandas calls, each of which sees several rows and keeps nothing.
    pub window_steps: u64,
    /// Why they say nothing.
    pub fault: Option<CountFault>,
}
