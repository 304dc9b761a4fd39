//! The keys of a manifest.

use ktd_leakage::{BarField, GraphScope, ScaleRows, UniverseRule};
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestFile {
    pub(super) protocol: ProtocolPart,
    #[serde(default)]
    pub(super) feature: Vec<FeaturePart>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProtocolPart {
    pub(super) signal_at: Spanned<String>,
    pub(super) fill_at: Spanned<String>,
    pub(super) label: LabelPart,
    pub(super) purge_days: Spanned<i64>,
    #[serde(default)]
    pub(super) standardise: ScalePart,
    #[serde(default)]
    pub(super) graph: GraphPart,
    #[serde(default)]
    pub(super) universe: UniversePart,
    #[serde(default)]
    pub(super) adjusted_from: AdjustedPart,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelPart {
    pub(super) price: PricePart,
    pub(super) from_day: Spanned<i64>,
    pub(super) horizon_days: Spanned<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeaturePart {
    pub(super) name: Spanned<String>,
    pub(super) available_at: Spanned<String>,
    pub(super) expression: Option<String>,
    pub(super) peers_of: Option<Spanned<String>>,
    pub(super) command: Option<Spanned<Vec<String>>>,
    pub(super) pass_env: Option<Vec<String>>,
    pub(super) timeout_seconds: Option<Spanned<i64>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PricePart {
    Open,
    High,
    Low,
    Close,
}

impl PricePart {
    pub(super) const fn field(self) -> BarField {
        match self {
            Self::Open => BarField::Open,
            Self::High => BarField::High,
            Self::Low => BarField::Low,
            Self::Close => BarField::Close,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScalePart {
    #[default]
    None,
    Day,
    Train,
    Full,
}

impl ScalePart {
    pub(super) const fn rows(self) -> ScaleRows {
        match self {
            Self::None => ScaleRows::Unscaled,
            Self::Day => ScaleRows::SameDay,
            Self::Train => ScaleRows::FitRows,
            Self::Full => ScaleRows::AllRows,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GraphPart {
    #[default]
    None,
    Trailing,
    Symmetric,
    Full,
}

impl GraphPart {
    pub(super) const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) const fn scope(self) -> GraphScope {
        match self {
            Self::None => GraphScope::NoGraph,
            Self::Trailing => GraphScope::Trailing,
            Self::Symmetric => GraphScope::Symmetric,
            Self::Full => GraphScope::WholePanel,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum UniversePart {
    #[default]
    AsOf,
    End,
    Survivors,
}

impl UniversePart {
    pub(super) const fn rule(self) -> UniverseRule {
        match self {
            Self::AsOf => UniverseRule::AsOfDay,
            Self::End => UniverseRule::AtTheEnd,
            Self::Survivors => UniverseRule::Survivors,
        }
    }
}

/// The end from which factors are counted.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AdjustedPart {
    #[default]
    Start,
    End,
}

impl AdjustedPart {
    pub(super) const fn is_end(self) -> bool {
        matches!(self, Self::End)
    }
}
