//! What a run is counted as.

use serde_json::Value;

/// Run that is counted beside those of other folders that look at the same.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedRun {
    /// Hash of the data that it looks at.
    pub over: String,
    /// What it is.
    pub value: Value,
    /// Whether it looks; else it only says who has looked before.
    pub looks: bool,
}
