//! Masks as files write them: `{ level = "blinded", numeric = "rescaled" }`.

use crate::mask_arm::{MaskArm, MaskInstruction};
use ktd_masking::{Level, MaskSettings, Numeric};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The keys of an entry of `masks`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArmKeys {
    /// Which identifiers are hidden.
    level: Level,
    /// How numbers are shown.
    #[serde(default = "default_numeric")]
    numeric: Numeric,
    /// The level whose text explains identifiers in the prompts; with `level = "bright"` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<MaskInstruction>,
}

const fn default_numeric() -> Numeric {
    Numeric::Exact
}

/// Reads a list of masks, prompt-only controls among them; an instruction stands with no level that hides something itself.
pub(crate) fn masks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MaskArm>, D::Error> {
    let masks = Vec::<ArmKeys>::deserialize(deserializer)?;
    masks.iter().map(arm).collect()
}

/// Writes them as they are read.
pub(crate) fn write_masks<S: Serializer>(masks: &[MaskArm], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(masks.iter().map(|arm| ArmKeys {
        level: arm.settings.level,
        numeric: arm.settings.numeric,
        instruction: arm.instruction,
    }))
}

fn arm<E: Error>(keys: &ArmKeys) -> Result<MaskArm, E> {
    let settings = MaskSettings {
        level: keys.level,
        numeric: keys.numeric,
    };
    MaskArm::new(settings, keys.instruction).ok_or_else(|| {
        E::custom(format!(
            "`instruction` stands with `level = \"bright\"` alone, but the level is {}: remove one of them",
            keys.level.label()
        ))
    })
}
