//! Arguments of the read-only tools. Doc comments become the descriptions a model reads.

use ktd_env::Decimal;
use ktd_env::exchange::TargetWeight;
use ktd_env::factors::{Factor, Technical};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Arguments of a call that fit its schema.
pub(crate) enum Asked {
    Context,
    Screen(ScreenArguments),
    Snapshot(SnapshotArguments),
    Compare(CompareArguments),
    Portfolio,
    Risk(RiskArguments),
    Expression(ExpressionArguments),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenArguments {
    /// The score is the sum of weight x z-score, with the sign turned for `low`. Each factor at most once.
    #[schemars(length(min = 1, max = 9))]
    pub(crate) factors: Vec<FactorTilt>,
    /// How many names; 10 if absent.
    #[schemars(with = "u32", range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_k: Option<u32>,
    /// Only names within all of these are ranked; a missing value is outside.
    #[schemars(with = "Vec<FactorBound>", length(max = 18))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bounds: Option<Vec<FactorBound>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorTilt {
    pub(crate) factor: FactorName,
    pub(crate) direction: Direction,
    /// Above 0; 1 if absent.
    #[schemars(with = "f64", range(min = 0, max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorBound {
    /// As in `factors`.
    pub(crate) factor: BoundFactor,
    /// `z` if absent.
    #[schemars(with = "BoundScale")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<BoundScale>,
    #[schemars(with = "f64")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<f64>,
    #[schemars(with = "f64")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Direction {
    High,
    Low,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BoundScale {
    Z,
    Raw,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SnapshotArguments {
    /// As shown.
    pub(crate) stock_id: String,
    /// How many bars; 10 if absent.
    #[schemars(with = "u32", range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lookback: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareArguments {
    /// Different ids, as shown.
    #[schemars(length(min = 2))]
    pub(crate) stock_ids: Vec<String>,
    /// All nine factors if absent. A factor gives its raw value and its z-score.
    #[schemars(with = "Vec<Dimension>", length(min = 1, max = 24))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dimensions: Option<Vec<Dimension>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskArguments {
    /// Stocks left out stay as they are.
    #[schemars(length(min = 1))]
    pub(crate) targets: Vec<WeightTarget>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeightTarget {
    /// As shown.
    pub(crate) stock_id: String,
    /// Share of NAV after the trade, at most 6 decimal places; 0 sells everything.
    pub(crate) target_weight: WeightText,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpressionArguments {
    /// A formula in Qlib's language.
    pub(crate) expression: String,
    /// How many names; 10 if absent, 30 at most.
    #[schemars(with = "u32", range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_k: Option<u32>,
    /// Which end of the values stands first.
    pub(crate) side: Side,
}

/// An end of ranked values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    High,
    Low,
}

/// A factor, by the name tables show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FactorName(pub(crate) Factor);

impl<'de> Deserialize<'de> for FactorName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Factor::from_name(&name)
            .map(Self)
            .ok_or_else(|| D::Error::custom("no factor"))
    }
}

impl JsonSchema for FactorName {
    fn schema_name() -> Cow<'static, str> {
        "FactorName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Factor::ALL.map(Factor::name) })
    }
}

/// A factor by its name, or `None` for a name that is no factor's: told where the rest of a bound is checked, so that
/// the list of names stands once in the schema and not twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoundFactor(pub(crate) Option<Factor>);

impl<'de> Deserialize<'de> for BoundFactor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Self(Factor::from_name(&name)))
    }
}

impl JsonSchema for BoundFactor {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "BoundFactor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// A column of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dimension {
    Factor(Factor),
    Technical(Technical),
    Close,
    Weight,
    UnrealisedReturn,
}

impl Dimension {
    /// Every dimension, in the order the schema shows.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Factor::ALL
            .into_iter()
            .map(Self::Factor)
            .chain(Technical::ALL.into_iter().map(Self::Technical))
            .chain([Self::Close, Self::Weight, Self::UnrealisedReturn])
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Factor(factor) => factor.name(),
            Self::Technical(technical) => technical.name(),
            Self::Close => "close",
            Self::Weight => "weight",
            Self::UnrealisedReturn => "unrealised_return",
        }
    }
}

impl<'de> Deserialize<'de> for Dimension {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::all()
            .find(|dimension| dimension.name() == name)
            .ok_or_else(|| D::Error::custom("no dimension"))
    }
}

impl JsonSchema for Dimension {
    fn schema_name() -> Cow<'static, str> {
        "Dimension".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::all().map(Self::name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// A target weight by its text, so that no float decides how many places it has.
#[derive(Debug)]
pub(crate) struct WeightText(Box<RawValue>);

impl WeightText {
    /// `None` outside 0 to 1 or with more than six places by value.
    pub(crate) fn weight(&self) -> Option<TargetWeight> {
        TargetWeight::new(Decimal::parse(self.0.get()).ok()?)
    }
}

impl<'de> Deserialize<'de> for WeightText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for WeightText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Weight".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}
