//! Two arms of one agent, paired over windows.

use super::GapKind;
use ktd_masking::{Mode, Numeric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One agent under two arms, paired over windows: bright against blinded, and the two parts of that gap.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// The agent, or `all models` for the cohort.
    pub agent: String,
    /// The decision mode.
    pub mode: Mode,
    /// Which arms are compared.
    #[serde(default)]
    pub sides: ContrastSides,
    /// Numbers of the first arm.
    pub first_numeric: Numeric,
    /// Numbers of the second arm.
    pub numeric: Numeric,
    /// What lies between them.
    pub kind: GapKind,
    /// What is compared.
    pub metric: ContrastMetric,
    /// The pairs: medians over seeds.
    pub pairs: Vec<Pair>,
    /// Two-sided p of the signed-rank test.
    pub p: Option<f64>,
    /// Whether `p` is exact; else by the normal approximation.
    pub is_exact: bool,
    /// The same, adjusted by Holm over the contrasts of one metric.
    pub holm_p: Option<f64>,
    /// Smallest p that the pairs which differ can reach.
    pub least_p: f64,
    /// What to make of it in words: `underpowered`, ...
    pub reading: String,
    /// Hodges-Lehmann shift, the first arm minus the second.
    pub shift: Option<f64>,
    /// Rank-biserial correlation.
    pub rank_biserial: Option<f64>,
}

impl Contrast {
    /// The numbers of both arms: `exact`, or `exact - banded-5` where they differ.
    #[must_use]
    pub fn numbers(&self) -> String {
        if self.first_numeric == self.numeric {
            return self.numeric.label().to_owned();
        }
        format!("{} - {}", self.first_numeric.label(), self.numeric.label())
    }
}

/// Arms that a contrast compares. The gap from bright to blinded is the sum of the two others: of the text that explains
/// the mask, and of the mask itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContrastSides {
    /// The whole gap.
    #[default]
    BrightBlinded,
    /// What the text of the mask alone takes away.
    BrightPromptOnly,
    /// What the mask takes away under one text.
    PromptOnlyBlinded,
}

impl ContrastSides {
    /// The whole gap, then its parts.
    pub const ALL: [Self; 3] = [
        Self::BrightBlinded,
        Self::BrightPromptOnly,
        Self::PromptOnlyBlinded,
    ];

    /// The words of tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::BrightBlinded => "bright - blinded",
            Self::BrightPromptOnly => "bright - prompt-only",
            Self::PromptOnlyBlinded => "prompt-only - blinded",
        }
    }
}

/// Figure whose bright and blinded values are compared.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    JsonSchema,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ContrastMetric {
    /// Total return.
    TotalReturn,
    /// Linked selection.
    Selection,
    /// Share of steps without an order.
    Abstention,
    /// Turnover a year.
    Turnover,
}

impl ContrastMetric {
    /// The name in files.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// A pair of a contrast.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The window.
    pub window: String,
    /// Of the first arm: bright, or prompt-only.
    pub bright: f64,
    /// Of the second arm: blinded, or prompt-only.
    pub blinded: f64,
}
