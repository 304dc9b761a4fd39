//! Masks as files write them: `{ level = "blinded", numeric = "rescaled" }`.

use crate::label;
use ktd_masking::{Level, MaskSettings, Numeric};
use serde::{Deserialize, Deserializer};

/// The keys of a mask.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MaskKeys {
    /// `bright`, `stock-blind`, `date-blind` or `blinded`.
    #[serde(with = "label")]
    level: Level,
    /// `exact` (default), `rescaled`, `rounded-0.1`, `rounded-0.5`, `ranked` or `banded`.
    #[serde(with = "label", default = "default_numeric")]
    numeric: Numeric,
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

/// Reads a list of masks.
///
/// # Errors
/// An unknown key or label.
pub fn masks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<MaskSettings>, D::Error> {
    let masks = Vec::<MaskKeys>::deserialize(deserializer)?;
    Ok(masks.into_iter().map(MaskSettings::from).collect())
}
