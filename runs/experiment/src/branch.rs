//! Where an episode left another one, and the one thing that it changed there.

use crate::ExperimentError;
use crate::agent::AgentConfig;
use crate::provider::Provider;
use crate::recorded_rules::RecordedRules;
use crate::rules_config::RulesConfig;
use ktd_masking::{FactorScale, Numeric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a branch left another episode, and who answered before. What was asked before is that episode's: it is
/// recorded in the branch too, and was not charged again.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchRecord {
    /// The episode it left.
    pub cell: String,
    /// SHA-256 of that episode's events when it was left.
    pub events_sha256: String,
    /// 1-based first step of the branch's own.
    pub step: usize,
    /// Who answered in the step before it.
    pub agent: AgentConfig,
    /// How its model was spoken to.
    pub provider: Provider,
    /// Requests of the branch's own first step that are that episode's too: those before a changed answer.
    #[serde(skip_serializing_if = "is_none_copied", default)]
    pub copied_requests: u32,
    /// The one thing that was changed there; absent where another agent, or the same, went on with all as it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<BranchChange>,
    /// Where that episode left yet another one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<Self>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands fields over by reference"
)]
const fn is_none_copied(requests: &u32) -> bool {
    *requests == 0
}

impl BranchRecord {
    /// The first request of its own: 1-based step, and place in the step.
    #[must_use]
    pub const fn first_own_request(&self) -> (usize, u32) {
        (self.step, self.copied_requests)
    }
}

/// The one thing that a branch changes.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BranchChange {
    /// At its first step a tool call is answered as if another had been made: the answer is of the same mask, and no text
    /// from outside it.
    Answer {
        /// 1-based place of the call in the step.
        call: usize,
        /// The tool that answers.
        tool: String,
        /// Its arguments, JSON.
        arguments: String,
    },
    /// At its first step nobody is asked, and this is submitted.
    Orders {
        /// Arguments of `submit_action`, JSON.
        submission: String,
    },
    /// From its first step on numbers are shown otherwise.
    Numeric {
        /// How.
        numeric: Numeric,
    },
    /// From its first step on the exchange has other rules.
    Rules {
        /// All of them.
        rules: Box<RecordedRules>,
    },
}

impl BranchChange {
    /// Whether it holds for all later steps, and not for the first alone.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        matches!(self, Self::Numeric { .. } | Self::Rules { .. })
    }

    /// What was changed, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Answer {
                call,
                tool,
                arguments,
            } => format!("call {call} is answered as {tool} {arguments}"),
            Self::Orders { submission } => format!("{submission} is submitted"),
            Self::Numeric { numeric } => format!("numbers are {} from then on", numeric.label()),
            Self::Rules { .. } => "the exchange has other rules from then on".to_owned(),
        }
    }

    /// The rules with one key changed, written as in an experiment file: `KEY = VALUE`.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] for a text that is no known key with a valid value, for several keys, and for the cash before
    /// the first day.
    pub fn rule(rules: &RecordedRules, text: &str) -> Result<Self, ExperimentError> {
        let hint = "write one key of [rules] with its value, such as max_positions = 9";
        let invalid = |what: String| ExperimentError::input(format!("--rule {text:?}: {what}"), hint);
        let table: toml::Table = toml::from_str(text).map_err(|error| invalid(error.message().to_owned()))?;
        let mut keys = table.into_iter();
        let (Some((key, value)), None) = (keys.next(), keys.next()) else {
            return Err(invalid("it must be one key".to_owned()));
        };
        if key.starts_with("initial_cash") {
            return Err(invalid(
                "the cash before the first day is not of a later step".to_owned(),
            ));
        }
        let now = rules.keys();
        let mut all = toml::Table::try_from(&now).map_err(|error| invalid(error.to_string()))?;
        all.insert(key, value);
        let changed: RulesConfig = all
            .try_into()
            .map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
        let rules = changed.rules()?;
        if changed == now {
            return Err(invalid("the episode has this rule already".to_owned()));
        }
        Ok(Self::Rules {
            rules: Box::new(RecordedRules::of(&rules)),
        })
    }

    /// Another rung of numbers than `from`.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] for the same rung, and for bands, which keep a book of their own over the days.
    pub fn numeric(from: Numeric, to: Numeric) -> Result<Self, ExperimentError> {
        let is_banded = |numeric: Numeric| numeric.scale() == FactorScale::Bands;
        if from == to || is_banded(from) || is_banded(to) {
            let what = format!("no branch goes from {} to {}", from.label(), to.label());
            return Err(ExperimentError::input(
                what,
                "choose another rung; bands keep a book of their own over the days",
            ));
        }
        Ok(Self::Numeric { numeric: to })
    }
}

/// What is changed in a step, 1-based, of an episode that left others: the latest change first.
#[must_use]
pub fn changes_at(branch: Option<&BranchRecord>, step: usize) -> Vec<&BranchChange> {
    let (mut found, mut left_at, mut branch) = (Vec::new(), usize::MAX, branch);
    while let Some(record) = branch {
        let is_on = |change: &&BranchChange| {
            if change.lasts() {
                record.step <= step && record.step <= left_at
            } else {
                record.step == step && step < left_at
            }
        };
        found.extend(record.change.iter().filter(is_on));
        left_at = left_at.min(record.step);
        branch = record.branch.as_deref();
    }
    found
}

/// How numbers are shown in a step of an episode that began with `numeric`.
#[must_use]
pub fn numeric_at(branch: Option<&BranchRecord>, numeric: Numeric, step: usize) -> Numeric {
    let changed = changes_at(branch, step)
        .into_iter()
        .find_map(|change| match change {
            BranchChange::Numeric { numeric } => Some(*numeric),
            BranchChange::Answer { .. } | BranchChange::Orders { .. } | BranchChange::Rules { .. } => None,
        });
    changed.unwrap_or(numeric)
}
