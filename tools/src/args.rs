//! Arguments of the read-only tools. Doc comments become the descriptions a model reads.

use ktd_env::Decimal;
use ktd_env::exchange::TargetWeight;
use ktd_env::factors::{Factor, Technical};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(description = "No arguments: send {}.")]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenArguments {
    /// What to rank by: the score of a name is the sum over these of weight x z-score, with the sign turned for
    /// direction `low`. Each factor at most once.
    #[schemars(length(min = 1, max = 9))]
    pub(crate) factors: Vec<FactorTilt>,
    /// How many names to return, from the best; 20 if absent, at most `max_candidates` of the system message.
    #[schemars(with = "u32", range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_k: Option<u32>,
    /// Only names within all of these bounds are ranked; a name whose value is missing is left out.
    #[schemars(with = "Vec<FactorBound>", length(max = 18))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bounds: Option<Vec<FactorBound>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorTilt {
    /// A factor.
    pub(crate) factor: FactorName,
    /// `high` prefers high values, `low` prefers low ones.
    pub(crate) direction: Direction,
    /// Relative importance, above 0 and at most 100; 1 if absent. Example: 0.5.
    #[schemars(with = "f64", range(min = 0, max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorBound {
    /// A factor.
    pub(crate) factor: FactorName,
    /// `z` for z-scores among the index members (if absent), `raw` for the factor's own unit.
    #[schemars(with = "BoundScale")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<BoundScale>,
    /// Least value, included. Example: -0.5.
    #[schemars(with = "f64")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) min: Option<f64>,
    /// Largest value, included. Example: 1.5.
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
    /// A stock id exactly as shown.
    pub(crate) stock_id: String,
    /// How many of its latest daily bars to return; 20 if absent, at most `max_lookback` of the system message.
    #[schemars(with = "u32", range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lookback: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareArguments {
    /// From 2 different stock ids, exactly as shown, up to `max_compare` of the system message.
    #[schemars(length(min = 2))]
    pub(crate) stock_ids: Vec<String>,
    /// The columns of the grid; all nine factors if absent. A factor gives its raw value and its z-score.
    #[schemars(with = "Vec<Dimension>", length(min = 1, max = 24))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dimensions: Option<Vec<Dimension>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskArguments {
    /// The plan: the weight each named stock shall have after the trades. Names left out stay as they are.
    #[schemars(length(min = 1))]
    pub(crate) targets: Vec<WeightTarget>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeightTarget {
    /// A stock id exactly as shown.
    pub(crate) stock_id: String,
    /// Share of NAV from 0 to 1 with at most 6 decimal places; 0 sells everything. Example: 0.05.
    pub(crate) target_weight: WeightText,
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
