//! What the mask took away from one agent, and of which arms it is the difference.

use ktd_masking::Numeric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What lies between two arms: what a mask hides alone, or what its numbers blur with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// Both arms show numbers of one rung: what the identifiers were worth.
    Memory,
    /// Rungs differ: an agent that remembers nothing loses signal with the finer numbers.
    SignalAndMemory,
    /// Both arms show the identifiers: what a text was worth.
    Instruction,
}

impl GapKind {
    /// Of bright numbers against a mask's.
    #[must_use]
    pub fn of(bright: Numeric, hidden: Numeric) -> Self {
        if bright == hidden {
            Self::Memory
        } else {
            Self::SignalAndMemory
        }
    }

    /// The words of tables and pages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::SignalAndMemory => "signal and memory",
            Self::Instruction => "instruction",
        }
    }
}

/// Bright minus blinded.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Whether both had the same numbers.
    pub kind: GapKind,
    /// Of total return: medians over seeds.
    pub total_return: f64,
    /// Of selection.
    pub selection: Option<f64>,
}
