//! What one run of the benchmark is.

use crate::switch::Switch;
use ktd_stats::SplitMix64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A family of predictors, with the same settings under all protocols.
#[derive(strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelFamily {
    /// The return of 20 sessions.
    Momentum,
    /// Ridge regression.
    Ridge,
    /// Boosted trees.
    Trees,
    /// Perceptrons on own features and the peers'.
    GraphMlp,
    /// A recurrent network over 60 sessions.
    Lstm,
    /// A transformer over 60 sessions.
    Transformer,
}

impl ModelFamily {
    /// All families.
    pub const ALL: [Self; 6] = [
        Self::Momentum,
        Self::Ridge,
        Self::Trees,
        Self::GraphMlp,
        Self::Lstm,
        Self::Transformer,
    ];

    /// Its name in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether seeds change it; those of the others are all alike.
    #[must_use]
    pub const fn is_seeded(self) -> bool {
        match self {
            Self::Momentum | Self::Ridge => false,
            Self::Trees | Self::GraphMlp | Self::Lstm | Self::Transformer => true,
        }
    }
}

/// One run: a family under a protocol for a horizon and a year. Runs do not depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RunKey {
    /// Who scores.
    #[serde(rename = "model")]
    pub family: ModelFamily,
    /// Under which protocol.
    #[serde(rename = "protocol")]
    pub switch: Switch,
    /// Sessions of the label.
    pub horizon: usize,
    /// The test year.
    pub year: i32,
    /// The seed of what is drawn.
    pub seed: u64,
}

/// What a stream of chance is for; fits that differ in the protocol alone share all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Columns,
    Weights,
    Rows,
    Dropout,
}

impl RunKey {
    /// The stream of a purpose, by seed, family and year: not by protocol, so that gains are paired.
    pub(crate) fn stream(&self, purpose: Purpose) -> SplitMix64 {
        let family = match self.family {
            ModelFamily::Momentum => 0,
            ModelFamily::Ridge => 1,
            ModelFamily::Trees => 2,
            ModelFamily::GraphMlp => 3,
            ModelFamily::Lstm => 4,
            ModelFamily::Transformer => 5,
        };
        let purpose = match purpose {
            Purpose::Columns => 0,
            Purpose::Weights => 1,
            Purpose::Rows => 2,
            Purpose::Dropout => 3,
        };
        // Each part is mixed into all bits before the next is added.
        let parts = [family, u64::from(self.year.cast_unsigned()), purpose];
        let mix = |state: u64, part: u64| SplitMix64::new(state ^ part).next_u64();
        SplitMix64::new(parts.into_iter().fold(SplitMix64::new(self.seed).next_u64(), mix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_but_between_protocols_and_horizons() {
        let key = RunKey {
            family: ModelFamily::Lstm,
            switch: Switch::Clean,
            horizon: 5,
            year: 2020,
            seed: 1,
        };
        let first = |key: RunKey, purpose| key.stream(purpose).next_u64();
        let own = first(key, Purpose::Weights);
        let paired = RunKey {
            switch: Switch::ExecOpen,
            horizon: 20,
            ..key
        };
        assert_eq!(own, first(paired, Purpose::Weights));
        let others = [
            first(key, Purpose::Rows),
            first(RunKey { year: 2021, ..key }, Purpose::Weights),
            first(RunKey { seed: 2, ..key }, Purpose::Weights),
            first(
                RunKey {
                    family: ModelFamily::Trees,
                    ..key
                },
                Purpose::Weights,
            ),
        ];
        assert!(!others.contains(&own));
    }

    #[test]
    fn files_have_the_names_of_tables() {
        for family in ModelFamily::ALL {
            assert_eq!(serde_json::to_value(family).unwrap(), family.name());
        }
        for switch in Switch::ALL {
            assert_eq!(serde_json::to_value(switch).unwrap(), switch.name());
        }
    }
}
