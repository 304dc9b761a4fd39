//! `curve.json`: one record, of which table and picture are views.

use ktd_experiment::data_record::DataRecord;
use serde::{Deserialize, Serialize};

/// Version of `curve.json`.
pub const CURVE_FORMAT: u32 = 1;

/// Leakage and utility of each rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// [`CURVE_FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub ktd: String,
    /// The panel.
    pub data: DataRecord,
    /// Confidence of every interval.
    pub confidence: f64,
    /// Probes put, by kind.
    pub probes: Vec<(String, usize)>,
    /// From exact numbers down.
    pub rungs: Vec<Rung>,
}

/// One way to show numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Its name.
    pub numeric: String,
    /// What each attacker recovered of each kind of probe.
    pub recovery: Vec<Recovery>,
    /// What it costs each strategy.
    pub strategies: Vec<StrategyCost>,
}

/// What one attacker recovered of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// The attacker.
    pub attacker: String,
    /// The probes' kind.
    pub kind: String,
    /// What was asked.
    pub measure: String,
    /// Of how many probes, as a share.
    pub share: f64,
    /// Its Wilson interval.
    pub interval: (f64, f64),
    /// What chance recovers.
    pub chance: f64,
}

/// What one strategy loses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrategyCost {
    /// The built-in agent that trades it.
    pub strategy: String,
    /// Mean over days of the rank correlation between what it sees and what it would see of exact numbers.
    pub rank_correlation: Option<f64>,
    /// Days compared.
    pub days: usize,
    /// Mean total return over the episodes.
    pub mean_return: Option<f64>,
    /// Standard error of the mean difference to exact numbers, episode by episode; absent with exact numbers.
    pub difference: Option<(f64, f64)>,
    /// Episodes.
    pub episodes: usize,
}

impl Rung {
    /// What each attacker recovered of a measure, for one kind.
    pub fn of<'r>(&'r self, kind: &'r str, measure: &'r str) -> impl Iterator<Item = &'r Recovery> {
        self.recovery
            .iter()
            .filter(move |found| found.kind == kind && found.measure == measure)
    }

    /// Who attacked, in the order of tables.
    #[must_use]
    pub fn attackers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for found in &self.recovery {
            if !names.contains(&found.attacker.as_str()) {
                names.push(&found.attacker);
            }
        }
        names
    }

    /// The largest share above chance of a measure over attackers, for one kind: attacker, share, chance.
    #[must_use]
    pub fn strongest<'r>(&'r self, kind: &'r str, measure: &'r str) -> Option<&'r Recovery> {
        self.of(kind, measure)
            .max_by(|left, right| (left.share - left.chance).total_cmp(&(right.share - right.chance)))
    }
}
