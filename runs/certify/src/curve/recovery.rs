//! What one attacker recovers on a rung.

use ktd_probes::judge::RateInterval;
use ktd_probes::{Measure, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Recovery of one attacker on one kind of probes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// The attacker.
    pub attacker: String,
    /// The probes' kind.
    #[schemars(with = "String")]
    pub kind: ProbeKind,
    /// What was asked.
    #[schemars(with = "String")]
    pub measure: Measure,
    /// Of how many probes, as a share.
    pub share: f64,
    /// Its Wilson interval.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub interval: RateInterval,
    /// The interval that holds for all attackers together.
    #[schemars(with = "BTreeMap<String, f64>")]
    pub simultaneous: RateInterval,
    /// What chance recovers.
    pub chance: f64,
}
