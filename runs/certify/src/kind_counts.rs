//! How many probes of each kind.

use ktd_probes::ProbeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of probes of each kind; a kind that is not named is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindCounts {
    /// One step.
    #[serde(default)]
    pub day: usize,
    /// Some steps under one alias.
    #[serde(default)]
    pub days: usize,
    /// Whole episodes.
    #[serde(default)]
    pub episode: usize,
    /// Two episodes: the same stock?
    #[serde(default)]
    pub linked: usize,
    /// One step, with another stock's code given away.
    #[serde(default)]
    pub anchored: usize,
    /// Whole episodes of an agent that asks its own questions.
    #[serde(default)]
    pub asked: usize,
    /// The same, with the codes of some stocks given away.
    #[serde(default)]
    pub asked_known: usize,
    /// The same, with the day given away.
    #[serde(default)]
    pub asked_dated: usize,
}

impl Default for KindCounts {
    fn default() -> Self {
        Self {
            asked: 300,
            asked_known: 300,
            asked_dated: 300,
            ..Self::all(2_000)
        }
    }
}

impl KindCounts {
    /// The same number of every kind.
    #[must_use]
    pub const fn all(count: usize) -> Self {
        Self {
            day: count,
            days: count,
            episode: count,
            linked: count,
            anchored: count,
            asked: count,
            asked_known: count,
            asked_dated: count,
        }
    }

    /// The number of a kind.
    #[must_use]
    pub const fn of(&self, kind: ProbeKind) -> usize {
        match kind {
            ProbeKind::Day => self.day,
            ProbeKind::Days => self.days,
            ProbeKind::Episode => self.episode,
            ProbeKind::Linked => self.linked,
            ProbeKind::Anchored => self.anchored,
            ProbeKind::Asked => self.asked,
            ProbeKind::AskedKnown => self.asked_known,
            ProbeKind::AskedDated => self.asked_dated,
        }
    }

    /// Every kind that is not left out.
    pub fn kinds(&self) -> impl Iterator<Item = ProbeKind> {
        let counts = *self;
        ProbeKind::ALL
            .into_iter()
            .filter(move |kind| 0 < counts.of(*kind))
    }
}
