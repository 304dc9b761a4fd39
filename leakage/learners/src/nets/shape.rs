//! Kinds and sizes of networks.

use crate::error::LearnError;

/// Kind and sizes of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NetShape {
    /// Perceptrons on the own features and on the peers', summed, and a head of perceptrons. An example is the own
    /// features followed by the peers'.
    GraphMlp {
        /// Own features.
        base: usize,
        /// Features of the peers.
        peers: usize,
        /// Perceptrons of each of the four layers of the branches.
        hidden: usize,
        /// Perceptrons of the head.
        head: usize,
    },
    /// One layer of long short-term memory, read off its last state. An example is `lookback` rows of features.
    Lstm {
        /// Features of a day.
        features: usize,
        /// Days of an example.
        lookback: usize,
        /// Cells.
        hidden: usize,
    },
    /// One encoder layer of a transformer, read off the last day. An example is `lookback` rows of features.
    Transformer {
        /// Features of a day.
        features: usize,
        /// Days of an example.
        lookback: usize,
        /// Width of a day's embedding.
        embed: usize,
        /// Heads of attention; they divide the width.
        heads: usize,
        /// Width of the layer behind the attention.
        wide: usize,
        /// Share of values that training drops.
        dropout: f64,
    },
}

impl NetShape {
    /// The benchmark's perceptrons (docs/spec/leakage.md#models).
    pub const GRAPH_MLP: Self = Self::GraphMlp {
        base: 21,
        peers: 4,
        hidden: 32,
        head: 16,
    };
    /// The benchmark's recurrent network.
    pub const LSTM: Self = Self::Lstm {
        features: 25,
        lookback: 60,
        hidden: 32,
    };
    /// The benchmark's transformer.
    pub const TRANSFORMER: Self = Self::Transformer {
        features: 25,
        lookback: 60,
        embed: 32,
        heads: 4,
        wide: 64,
        dropout: 0.1,
    };

    /// Rows of an example.
    #[must_use]
    pub const fn lookback(&self) -> usize {
        match self {
            Self::GraphMlp { .. } => 1,
            Self::Lstm { lookback, .. } | Self::Transformer { lookback, .. } => *lookback,
        }
    }

    /// Features of a row.
    #[must_use]
    pub const fn width(&self) -> usize {
        match self {
            Self::GraphMlp { base, peers, .. } => *base + *peers,
            Self::Lstm { features, .. } | Self::Transformer { features, .. } => *features,
        }
    }

    pub(super) fn check(&self) -> Result<(), LearnError> {
        let (sizes, divides, dropout) = match *self {
            Self::GraphMlp {
                base,
                peers,
                hidden,
                head,
            } => ([base, peers, hidden, head, 1], true, 0.0),
            Self::Lstm {
                features,
                lookback,
                hidden,
            } => ([features, lookback, hidden, 1, 1], true, 0.0),
            Self::Transformer {
                features,
                lookback,
                embed,
                heads,
                wide,
                dropout,
            } => (
                [features, lookback, embed, heads, wide],
                embed.checked_rem(heads) == Some(0),
                dropout,
            ),
        };
        if sizes.contains(&0) {
            return Err(LearnError::Setting {
                name: "shape",
                rule: "of sizes above 0",
            });
        }
        if !divides {
            return Err(LearnError::Setting {
                name: "heads",
                rule: "a divisor of embed",
            });
        }
        if !(0.0..1.0).contains(&dropout) {
            return Err(LearnError::Setting {
                name: "dropout",
                rule: "at least 0 and below 1",
            });
        }
        Ok(())
    }
}
