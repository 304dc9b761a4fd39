//! Keys of a manifest: what the author of a pipeline declares.

use crate::contract::{AdjustedFrom, FeatureContract, GraphScope, ScaleRows, UniverseRule, switch_contract};
use crate::instant::SessionInstant;
use crate::panel::BarField;
use crate::schema::{FEATURES, FeatureSpec};
use crate::switch::Switch;
use serde::{Deserialize, Serialize};

/// Whole number from the least that makes sense.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Whole<const LEAST: i64>(pub i64);

impl<const LEAST: i64> TryFrom<i64> for Whole<LEAST> {
    type Error = String;

    fn try_from(value: i64) -> Result<Self, String> {
        const MOST: i64 = 10_000;
        if (LEAST..=MOST).contains(&value) {
            return Ok(Self(value));
        }
        Err(format!(
            "{value} is out of range: write a whole number from {LEAST} to {MOST}"
        ))
    }
}

impl<const LEAST: i64> From<Whole<LEAST>> for i64 {
    fn from(whole: Whole<LEAST>) -> Self {
        whole.0
    }
}

/// Keys of a manifest; a reader may say more of each feature, such as where it stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestKeys<F = FeatureKeys> {
    /// How the pipeline is fitted, and where it trades.
    pub protocol: ProtocolKeys,
    /// Its features.
    #[serde(default = "Vec::new")]
    pub feature: Vec<F>,
}

/// Keys of `[protocol]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProtocolKeys {
    /// When scores are made.
    pub signal_at: SessionInstant,
    /// Where orders are filled.
    pub fill_at: SessionInstant,
    /// What is predicted.
    pub label: LabelKeys,
    /// Sessions that are left out of the fit.
    pub purge_days: Whole<0>,
    /// Which rows features are scaled by.
    #[serde(default)]
    pub standardise: ScaleRows,
    /// Where peers are found.
    #[serde(default)]
    pub graph: GraphScope,
    /// Which names are traded.
    #[serde(default)]
    pub universe: UniverseRule,
    /// From where factors are counted.
    #[serde(default)]
    pub adjusted_from: AdjustedFrom,
}

/// Keys of the label.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelKeys {
    /// The price that it begins at.
    pub price: BarField,
    /// Sessions after the signal day at which it begins.
    pub from_day: Whole<0>,
    /// Sessions that it looks ahead.
    pub horizon_days: Whole<1>,
}

/// Keys of a `[[feature]]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureKeys {
    /// Its name.
    pub name: String,
    /// The expression that computes it.
    pub expression: Option<String>,
    /// The feature whose mean over the peers it is.
    pub peers_of: Option<String>,
    /// The program that computes it.
    pub command: Option<Vec<String>>,
    /// Variables of the environment that the program gets.
    pub pass_env: Option<Vec<String>>,
    /// The longest that the program may take.
    pub timeout_seconds: Option<Whole<1>>,
    /// When it is declared to be known.
    pub available_at: SessionInstant,
}

impl ManifestKeys {
    /// The manifest of the runs under a protocol for a horizon; it says what the run does, leaks and all.
    #[must_use]
    pub fn of_switch(
        switch: Switch,
        (horizon, future_days): (usize, usize),
        (universe, adjusted_from): (UniverseRule, AdjustedFrom),
    ) -> Self {
        let contract = switch_contract(switch, horizon, future_days);
        let ahead = if switch == Switch::TempCenter {
            future_days
        } else {
            0
        };
        let feature = |(feature, declared): (&FeatureSpec, &FeatureContract)| FeatureKeys {
            name: feature.name.to_owned(),
            expression: feature.expression(ahead),
            peers_of: feature.peers_of().map(str::to_owned),
            command: None,
            pass_env: None,
            timeout_seconds: None,
            available_at: declared.available_at,
        };
        Self {
            feature: FEATURES.iter().zip(&contract.features).map(feature).collect(),
            protocol: ProtocolKeys {
                signal_at: contract.signal_at,
                fill_at: contract.fill_at,
                label: LabelKeys {
                    price: contract.label_price,
                    from_day: Whole(contract.label_from),
                    horizon_days: Whole(contract.horizon),
                },
                purge_days: Whole(contract.purge),
                standardise: contract.scale,
                graph: contract.graph,
                universe,
                adjusted_from,
            },
        }
    }
}
