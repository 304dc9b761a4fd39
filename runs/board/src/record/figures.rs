//! Small figures that rows and tracks share: bounds, dates, factors of variance, p-values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lower and upper end of an interval, or two quartiles.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Lower and upper end of an interval of ranks.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankBounds {
    /// The best rank.
    pub low: usize,
    /// The worst rank.
    pub high: usize,
}

/// First and last day of a span.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateBounds {
    /// The first day.
    pub first: String,
    /// The last day.
    pub last: String,
}

/// Variance inflation of a factor in one round of the screen.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactorVif {
    /// The factor's name.
    pub factor: String,
    /// Its VIF; `null` where it is infinite.
    pub vif: Option<f64>,
}

/// The three p-values of Hansen's test for superior predictive ability.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaP {
    /// The lower one.
    pub lower: f64,
    /// The consistent one.
    pub consistent: f64,
    /// The upper one.
    pub upper: f64,
}

/// Murphy's parts of a Brier score: it is reliability less resolution plus uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MurphyParts {
    /// How far stated confidences are from what happened.
    pub reliability: f64,
    /// How far outcomes differ between bins.
    pub resolution: f64,
    /// The variance of the outcomes.
    pub uncertainty: f64,
}
