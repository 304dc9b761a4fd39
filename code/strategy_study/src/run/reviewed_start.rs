//! A version that another experiment ended with, and what reviewers said is wrong with it: where a submission may start.

use crate::submission::StrategySubmission;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A version and what others say of it, as a submission's folder keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReviewedStart {
    /// Text of the card.
    pub(crate) card: String,
    /// Text of the program.
    pub(crate) source: String,
    /// What reviewers other than its author call its weaknesses: foreign text.
    pub(crate) weaknesses: Vec<PeerWeakness>,
}

/// One reviewer's words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeerWeakness {
    /// Who wrote them; no model is shown it.
    pub(crate) reviewer: String,
    /// The words, cut where they are long.
    pub(crate) words: String,
}

impl ReviewedStart {
    /// Card and source.
    pub(super) fn submission(&self) -> StrategySubmission {
        StrategySubmission {
            card: self.card.clone(),
            source: self.source.clone(),
        }
    }

    /// The words alone.
    pub(super) fn words(&self) -> Vec<&str> {
        self.weaknesses
            .iter()
            .map(|weakness| weakness.words.as_str())
            .collect()
    }
}

/// The versions that submissions start with, by model, document and seed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StartingVersions(BTreeMap<(String, String, u64), ReviewedStart>);

impl StartingVersions {
    /// With another one.
    #[must_use]
    pub(crate) fn with(mut self, (model, strategy, seed): (&str, &str, u64), start: ReviewedStart) -> Self {
        self.0
            .insert((model.to_owned(), strategy.to_owned(), seed), start);
        self
    }

    /// The version that a submission starts with; none where it begins with a build.
    pub(crate) fn of(&self, (model, strategy, seed): (&str, &str, u64)) -> Option<&ReviewedStart> {
        self.0.get(&(model.to_owned(), strategy.to_owned(), seed))
    }
}
