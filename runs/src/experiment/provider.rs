//! An agent's endpoint as it will be spoken to: wire, dialect, force level and thinking, all decided before day one.

use super::config::AgentConfig;
use crate::error::RunError;
use ktd_agents::{Dialect, ForceLevel, ThinkingPolicy, Wire};
use serde::{Deserialize, Serialize};

/// How an agent's model is spoken to. It stands in the header whole, so that a bundle replays with the dialect it was
/// made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The wire.
    pub wire: Wire,
    /// The address that requests' paths are appended to; empty for a built-in agent.
    pub base_url: String,
    /// How submissions are forced, as declared.
    pub force: ForceLevel,
    /// When the model thinks.
    pub thinking: ThinkingPolicy,
    /// What the endpoint accepts and how it spells it.
    pub dialect: Dialect,
}

impl Provider {
    /// The provider of an agent.
    ///
    /// # Errors
    /// [`RunError::Input`] when the declared force level is stronger than what the endpoint honours.
    pub fn of(agent: &AgentConfig) -> Result<Self, RunError> {
        let dialect = if agent.is_outside() {
            outside()
        } else {
            Dialect::plain()
        };
        let thinking = agent.thinking.unwrap_or_default();
        let strongest = dialect.strongest_force(thinking);
        let force = agent.force.unwrap_or(strongest);
        if force < strongest {
            let what = format!(
                "agent {:?}: force level {force} is declared, but {} honours {strongest} at most",
                agent.id, dialect.name
            );
            let hint = format!("write force = \"{strongest}\", or change `thinking`");
            return Err(RunError::input(what, hint));
        }
        Ok(Self {
            wire: Wire::ChatCompletions,
            base_url: agent.base_url.clone().unwrap_or_default(),
            force,
            thinking,
            dialect,
        })
    }
}

/// What an outside agent is asked in: it never sees a parser of a model server, so that all it says is its own.
fn outside() -> Dialect {
    Dialect {
        id: "outside-agent".to_owned(),
        name: "the bridge to an outside agent".to_owned(),
        self_hosted: false,
        ..Dialect::plain()
    }
}
