//! The cells of a plan by agent.

use ktd_experiment::agent::AgentKind;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::{AgentConfig, ExperimentConfig};
use schemars::JsonSchema;
use serde::Serialize;

/// What an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A language model behind an endpoint.
    Model,
    /// A program of the user's own.
    Outside,
    /// An agent of this program.
    BuiltIn,
    /// An agent that knows the future.
    Control,
}

/// The cells of one agent.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct AgentGrid {
    /// The agent.
    pub agent: String,
    /// What it is.
    pub kind: Kind,
    /// Its vendor and model, where it is one.
    pub model: Option<[String; 2]>,
    /// Its cells.
    pub cells: usize,
    /// Their steps.
    pub steps: usize,
    /// Cells that will repeat another one, but for the seed: the agent throws no dice, and names are shown. Where they are
    /// hidden, each seed has aliases of its own, and what depends on their order may differ.
    pub repeated_cells: usize,
}

impl Kind {
    /// What an agent is.
    #[must_use]
    pub const fn of(agent: &AgentConfig) -> Self {
        match &agent.kind {
            AgentKind::Control(_) => Self::Control,
            AgentKind::Builtin(_) => Self::BuiltIn,
            AgentKind::Program(_) | AgentKind::Client(_) => Self::Outside,
            AgentKind::Model(_) => Self::Model,
        }
    }

    /// It in a word.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Outside => "outside agent",
            Self::BuiltIn => "built-in",
            Self::Control => "control",
        }
    }
}

/// The agents of an experiment with their cells.
pub(super) fn agents(config: &ExperimentConfig, cells: &[Cell]) -> Vec<AgentGrid> {
    let of_agent = |agent: &AgentConfig| {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.agent.id == agent.id).collect();
        let kind = Kind::of(agent);
        let model = own
            .first()
            .filter(|_| kind == Kind::Model)
            .map(|cell| [cell.provider.dialect.id.clone(), agent.model_name().to_owned()]);
        AgentGrid {
            agent: agent.id.clone(),
            kind,
            model,
            cells: own.len(),
            steps: own.iter().map(|cell| cell.window.days.len()).sum(),
            repeated_cells: if throws_dice(agent) {
                0
            } else {
                let shown = own.iter().filter(|cell| !cell.mask.level.hides_stocks());
                shown
                    .filter(|cell| config.seeds.first() != Some(&cell.seed))
                    .count()
            },
        }
    };
    config.agents.iter().map(of_agent).collect()
}

/// Whether episodes of different seeds may differ in more than the seed: of what is not ours nobody knows.
fn throws_dice(agent: &AgentConfig) -> bool {
    !agent.is_ours() || agent.builtin_name() == Some("random")
}
