//! The keys of a file that say how models review each other's programs.

use crate::error::StrategyError;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::config::unique;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The temperature at which reviews are published.
const TEMPERATURE: f64 = 0.7;
/// Times that a reviewer gets each planted program: a plea that gains one mark is found in 97 of 100.
const REPETITIONS: u64 = 16;
/// The fewest of which the planted programs can say something, and the most.
const REPETITIONS_BOUNDS: RangeInclusive<u64> = 5..=60;
/// How to write the key.
const HINT: &str =
    "write arena = { reviewers = \"agents\", temperature = 0.7, review = \"stripped\", repetitions = 16 }";

/// Who reviews.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum ReviewerChoice {
    /// A word: `agents`.
    Word(String),
    /// Agents of the file, by their ids.
    List(Vec<String>),
}

/// How much of a program a reviewer is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewText {
    /// Without comments, docstrings, strings that nothing uses, and members of the card that nobody asked for.
    #[default]
    Stripped,
    /// All of it.
    Whole,
}

/// How models review each other's programs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArenaKeys {
    /// Who reviews (default all agents).
    pub reviewers: ReviewerChoice,
    /// Sent where an agent names none and its vendor takes one (default 0.7).
    pub temperature: f64,
    /// How much of a program a reviewer is shown.
    pub review: ReviewText,
    /// How many times a reviewer gets each planted program (default 16).
    pub repetitions: u64,
}

impl Default for ArenaKeys {
    fn default() -> Self {
        Self {
            reviewers: ReviewerChoice::Word("agents".to_owned()),
            temperature: TEMPERATURE,
            review: ReviewText::default(),
            repetitions: REPETITIONS,
        }
    }
}

impl ArenaKeys {
    /// Whether its numbers fit.
    pub(super) fn check(&self) -> Result<(), StrategyError> {
        if !(0.0..=2.0).contains(&self.temperature) {
            let what = format_args!("`arena.temperature` is {}; it lies from 0 to 2", self.temperature);
            return Err(StrategyError::input(what, HINT));
        }
        if !REPETITIONS_BOUNDS.contains(&self.repetitions) {
            let (least, most) = REPETITIONS_BOUNDS.into_inner();
            let what = format_args!(
                "`arena.repetitions` is {}; it lies from {least} to {most}",
                self.repetitions
            );
            return Err(StrategyError::input(what, HINT));
        }
        Ok(())
    }

    /// The reviewers, in the order of the agents.
    pub(crate) fn reviewers(&self, agents: &[AgentConfig]) -> Result<Vec<AgentConfig>, StrategyError> {
        let ids = match &self.reviewers {
            ReviewerChoice::Word(word) if word == "agents" => return Ok(agents.to_vec()),
            ReviewerChoice::Word(word) => {
                return Err(StrategyError::input(
                    format_args!("`arena.reviewers` is {word:?}; it is \"agents\" or a list of their ids"),
                    HINT,
                ));
            }
            ReviewerChoice::List(ids) => ids,
        };
        if ids.is_empty() {
            return Err(StrategyError::input("`arena.reviewers` names none", HINT));
        }
        unique("arena.reviewers", ids.iter().map(String::as_str))?;
        let unknown = ids.iter().find(|id| agents.iter().all(|agent| agent.id != **id));
        if let Some(unknown) = unknown {
            return Err(StrategyError::input(
                format_args!("`arena.reviewers` names {unknown:?}, which is no agent"),
                HINT,
            ));
        }
        let named = agents.iter().filter(|agent| ids.contains(&agent.id));
        Ok(named.cloned().collect())
    }
}
