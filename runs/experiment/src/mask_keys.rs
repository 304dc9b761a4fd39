//! Masks as files write them: `{ level = "blinded", numeric = "rescaled" }`.

use crate::label::{self, Label};
use crate::mask_arm::{MaskArm, MaskInstruction};
use ktd_masking::{Level, MaskSettings, Numeric};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The keys of a mask.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskKeys {
    /// `bright`, `stock-blind`, `date-blind` or `blinded`.
    #[serde(with = "label")]
    level: Level,
    /// `exact` (default), `rescaled`, `rounded-0.1`, `rounded-0.5`, `ranked` or `banded`.
    #[serde(with = "label", default = "default_numeric")]
    numeric: Numeric,
}

/// The keys of an entry of `masks`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArmKeys {
    /// Which identifiers are hidden.
    #[serde(with = "label")]
    #[schemars(with = "Label<Level>")]
    level: Level,
    /// How numbers are shown.
    #[serde(with = "label", default = "default_numeric")]
    #[schemars(with = "Label<Numeric>")]
    numeric: Numeric,
    /// The level whose text explains identifiers in the prompts; with `level = "bright"` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<MaskInstruction>,
}

const fn default_numeric() -> Numeric {
    Numeric::Exact
}

impl From<MaskKeys> for MaskSettings {
    fn from(keys: MaskKeys) -> Self {
        Self {
            level: keys.level,
            numeric: keys.numeric,
        }
    }
}

/// Reads a mask.
///
/// # Errors
/// An unknown key or label.
pub fn mask<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MaskSettings, D::Error> {
    MaskKeys::deserialize(deserializer).map(MaskSettings::from)
}

/// Writes a mask as it is read.
///
/// # Errors
/// Those of the serializer.
pub fn write_mask<S: Serializer>(mask: &MaskSettings, serializer: S) -> Result<S::Ok, S::Error> {
    let MaskSettings { level, numeric } = *mask;
    MaskKeys { level, numeric }.serialize(serializer)
}

/// Reads a list of masks, prompt-only controls among them.
///
/// # Errors
/// An unknown key or label, and an instruction where the level hides something itself.
pub fn masks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MaskArm>, D::Error> {
    let masks = Vec::<ArmKeys>::deserialize(deserializer)?;
    masks.iter().map(arm).collect()
}

/// Writes them as they are read.
///
/// # Errors
/// The serialiser's own.
pub fn write_masks<S: Serializer>(masks: &[MaskArm], serializer: S) -> Result<S::Ok, S::Error> {
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
