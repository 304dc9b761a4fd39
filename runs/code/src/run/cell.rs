//! One bundle's worth of an experiment.

use super::config::{BENCHMARK, FactorCodeConfig};
use super::style::CodeStyle;
use ktd_asking::AskingRole;

/// One model, asked in one style with one seed: a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(super) fn all(config: &FactorCodeConfig) -> Vec<Self> {
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

    /// What the models of these cells are asked for, in the cells' order.
    pub(super) fn roles(config: &FactorCodeConfig) -> Vec<AskingRole> {
        let mut roles = Vec::new();
        for seed in &config.seeds {
            roles.extend(config.styles.iter().map(|style| AskingRole {
                name: role_name(*style, *seed),
                seed: *seed,
                temperature: None,
            }));
        }
        roles
    }

    /// What its model is asked for.
    pub(super) fn role(&self) -> String {
        role_name(self.style, self.seed)
    }

    /// The name of its directory.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}__{}__s{}", self.agent, self.style.name(), self.seed)
    }
}

fn role_name(style: CodeStyle, seed: u64) -> String {
    format!("{BENCHMARK}__{}__s{seed}", style.name())
}
