//! What a curve comes to: one value, of which tables and picture are views.

use super::leakage::ClassLeakage;
use super::recovery::Recovery;
use super::strategy::FactorStrategy;
use ktd_masking::Numeric;
use ktd_probes::{AttackerClass, Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Curve of leakage and utility over the rungs of the numeric ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The name of its file.
    pub name: String,
    /// Confidence of every interval.
    pub confidence: f64,
    /// Probes put, by kind.
    #[schemars(with = "BTreeMap<String, usize>")]
    pub probes: BTreeMap<ProbeKind, usize>,
    /// From exact numbers down.
    pub rungs: Vec<Rung>,
}

/// Rung of the ladder: one way to show numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Its name.
    #[schemars(with = "String")]
    pub numeric: Numeric,
    /// What each attacker recovered of each kind of probe.
    pub recovery: Vec<Recovery>,
    /// What it leaks to each class of attackers, in bits.
    pub leakage: Vec<ClassLeakage>,
    /// What is left to see of the nine factors and of a forecast of returns.
    pub sight: FactorSight,
    /// What it costs each strategy.
    pub strategies: Vec<StrategyCost>,
}

/// What a rung leaves to see, as rank correlations with the same of exact numbers: means over days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorSight {
    /// Of each factor by its name.
    pub factors: BTreeMap<String, Option<f64>>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Of the forecast of the next day's return that a regression on exact numbers makes of what is shown.
    pub forecast: Option<f64>,
    /// Days compared.
    pub days: usize,
}

/// Cost of a rung to one strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrategyCost {
    /// The built-in agent that trades it.
    pub strategy: FactorStrategy,
    /// Mean over days of the rank correlation between what it sees and what it would see of exact numbers.
    pub rank_correlation: Option<f64>,
    /// Days compared.
    pub days: usize,
    /// Mean total return over the episodes.
    pub mean_return: Option<f64>,
    /// Mean difference to exact numbers, episode by episode; absent with exact numbers.
    pub difference: Option<ReturnDifference>,
    /// Episodes.
    pub episodes: usize,
}

/// Mean difference of returns, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReturnDifference {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Rung {
    /// What each attacker recovered of a measure, for one kind.
    pub fn of(&self, kind: ProbeKind, measure: Measure) -> impl Iterator<Item = &Recovery> {
        self.recovery
            .iter()
            .filter(move |found| found.kind == kind && found.measure == measure)
    }

    /// What leaked to a class, where probes of it were put.
    #[must_use]
    pub fn leaked(&self, class: AttackerClass) -> Option<&ClassLeakage> {
        self.leakage.iter().find(|leakage| leakage.class == class)
    }

    /// The largest share above chance of a measure over attackers, for one kind: attacker, share, chance.
    #[must_use]
    pub fn strongest(&self, kind: ProbeKind, measure: Measure) -> Option<&Recovery> {
        self.of(kind, measure)
            .max_by(|left, right| (left.share - left.chance).total_cmp(&(right.share - right.chance)))
    }
}
