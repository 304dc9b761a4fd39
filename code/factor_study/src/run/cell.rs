//! Units of an experiment.

use super::config::FactorCodeConfig;
use super::style::CodeStyle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What decides a unit beside tasks, panels and box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorCodeUnit {
    /// What functions are judged on.
    Tasks,
    /// What one model writes.
    Cell(FactorCodeCell),
    /// What planted programs say of the gates.
    Gates,
}

/// One model, asked in one style with one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorCodeCell {
    /// The agent.
    pub agent: String,
    /// How it is asked.
    pub style: CodeStyle,
    /// The seed.
    pub seed: u64,
}

impl FactorCodeCell {
    /// The cells of an experiment: seed by seed, in each style by style, in each all agents in their order.
    pub(crate) fn all(config: &FactorCodeConfig) -> Vec<Self> {
        let mut cells = Vec::new();
        for seed in &config.seeds {
            for style in &config.styles {
                cells.extend(config.agents.iter().map(|agent| Self {
                    agent: agent.id.clone(),
                    style: *style,
                    seed: *seed,
                }));
            }
        }
        cells
    }

    /// The name of its unit.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}__{}__s{}", self.agent, self.style.name(), self.seed)
    }
}
