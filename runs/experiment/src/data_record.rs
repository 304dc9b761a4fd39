//! What a record says of its market data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data of an episode.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRecord {
    /// BLAKE3 of the panel.
    pub panel_blake3: String,
    /// Whether turnover is the source's own, or volume x (high + low + close) / 3.
    pub amount_declared: bool,
    /// Rules of the exchange that the panel cannot support, and what import noted.
    pub limitations: Vec<String>,
    /// The synthetic market's configuration, if it is one: enough to make it again.
    pub synthetic: Option<SyntheticRecord>,
}

/// The configuration of a synthetic market.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyntheticRecord {
    /// Seed.
    pub seed: u64,
    /// Names.
    pub names: u32,
    /// Trading days.
    pub days: u32,
}
