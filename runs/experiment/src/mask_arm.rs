//! Arms of an experiment's masks: what is hidden, and which level's text explains it.

use ktd_masking::{Level, MaskSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explanation of a level that hides something, in the prompts of an episode whose data hide nothing: the prompt-only
/// control. What such an episode loses against bright is the instruction's doing, and no mask's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaskInstruction {
    /// The text of `stock-blind`.
    StockBlind,
    /// The text of `date-blind`.
    DateBlind,
    /// The text of `blinded`.
    Blinded,
}

impl MaskInstruction {
    /// All of them, in the order of levels.
    pub const ALL: [Self; 3] = [Self::StockBlind, Self::DateBlind, Self::Blinded];

    /// The level whose text it is.
    #[must_use]
    pub const fn level(self) -> Level {
        match self {
            Self::StockBlind => Level::StockBlind,
            Self::DateBlind => Level::DateBlind,
            Self::Blinded => Level::Blinded,
        }
    }
}

/// Name of an arm in cell ids, tables and filters: a level's own, or that of a prompt-only control, whose data are bright.
#[must_use]
pub const fn arm_label(level: Level, instruction: Option<MaskInstruction>) -> &'static str {
    match instruction {
        None => level.label(),
        Some(MaskInstruction::StockBlind) => "bright-as-stock-blind",
        Some(MaskInstruction::DateBlind) => "bright-as-date-blind",
        Some(MaskInstruction::Blinded) => "bright-as-blinded",
    }
}

/// One entry of an experiment's `masks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaskArm {
    /// What is hidden.
    pub settings: MaskSettings,
    /// Whose text explains identifiers, where it is not the level's own.
    pub instruction: Option<MaskInstruction>,
}

impl MaskArm {
    /// An arm, if it can be one: the text of another level over data that hide something would be two changes in one.
    #[must_use]
    pub fn new(settings: MaskSettings, instruction: Option<MaskInstruction>) -> Option<Self> {
        let is_arm = instruction.is_none() || settings.level == Level::Bright;
        is_arm.then_some(Self {
            settings,
            instruction,
        })
    }

    /// The mask that the prompts explain: its own, or for a prompt-only control the one whose text stands there.
    #[must_use]
    pub fn explained(self) -> MaskSettings {
        MaskSettings {
            level: self
                .instruction
                .map_or(self.settings.level, MaskInstruction::level),
            ..self.settings
        }
    }

    /// Its name without that of the numbers, such as `blinded` or `bright-as-blinded`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        arm_label(self.settings.level, self.instruction)
    }
}

impl From<MaskSettings> for MaskArm {
    fn from(settings: MaskSettings) -> Self {
        Self {
            settings,
            instruction: None,
        }
    }
}
