//! What noise perturbs.

use serde::{Deserialize, Serialize};

/// What is perturbed.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Deserialize,
    Serialize,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum NoiseMode {
    /// Prices and volumes that formulas read, each by a draw of its own.
    #[default]
    Input,
    /// The level of a bar's prices: one draw a bar.
    Bar,
    /// The alpha's own values: no formula is evaluated again.
    Output,
    /// The same as a published program has it: correlation of values, and the deviation of the index's level scaled to [0, 1].
    Code,
}

impl NoiseMode {
    /// Its word in files and heads.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.into()
    }
}
