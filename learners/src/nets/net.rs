//! A network of one of three kinds.

use super::adam::Adam;
use super::graph_mlp::GraphMlp;
use super::lstm::Lstm;
use super::parameters::{NamedWeights, Tensors};
use super::transformer::Transformer;
use crate::chance::Chance;
use crate::error::LearnError;
use crate::kernel::Kernel;
use crate::real::{Real, count};

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

    fn check(&self) -> Result<(), LearnError> {
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

/// What a kind of network computes.
pub(super) trait Layers<T: Real> {
    /// One number for each example.
    fn outputs(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> Vec<T>;

    /// Adds the gradients of a loss, given its derivatives by the outputs as a function of them. With chance, values are
    /// dropped.
    fn add_gradients(
        &self,
        kernel: Kernel,
        weights_and_gradients: (&[T], &mut [T]),
        examples: &[&[T]],
        by_output: &mut dyn FnMut(&[T]) -> Vec<T>,
        dropout: Option<&mut Chance<'_>>,
    );
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    GraphMlp(GraphMlp),
    Lstm(Lstm),
    Transformer(Box<Transformer>),
}

/// A network: its layers and their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct NeuralNet<T> {
    shape: NetShape,
    kind: Kind,
    tensors: Tensors,
    weights: Vec<T>,
}

/// Examples that go through the layers at once: their states stay in the cache. Gradients of such parts are added in their
/// order.
const PART: usize = 32;

impl<T: Real> NeuralNet<T> {
    /// A network with drawn weights: uniform within one over the root of the number of inputs.
    ///
    /// # Errors
    /// [`LearnError::Setting`] for a size of 0, heads that do not divide the width, or a share outside `[0, 1)`.
    pub fn draw(shape: NetShape, chance: &mut Chance<'_>) -> Result<Self, LearnError> {
        let (kind, tensors) = Self::layers(shape)?;
        let weights = tensors.draw(chance);
        Ok(Self {
            shape,
            kind,
            tensors,
            weights,
        })
    }

    /// A network with given weights, every name once.
    ///
    /// # Errors
    /// As [`NeuralNet::draw`], and [`LearnError::Weight`] for a list that does not fit.
    pub fn with_weights(shape: NetShape, named: &NamedWeights<T>) -> Result<Self, LearnError> {
        let (kind, tensors) = Self::layers(shape)?;
        let weights = tensors.take(named)?;
        Ok(Self {
            shape,
            kind,
            tensors,
            weights,
        })
    }

    fn layers(shape: NetShape) -> Result<(Kind, Tensors), LearnError> {
        shape.check()?;
        let mut tensors = Tensors::default();
        let kind = match shape {
            NetShape::GraphMlp {
                base,
                peers,
                hidden,
                head,
            } => Kind::GraphMlp(GraphMlp::new(&mut tensors, base, peers, hidden, head)),
            NetShape::Lstm { features, hidden, .. } => Kind::Lstm(Lstm::new(&mut tensors, features, hidden)),
            NetShape::Transformer { .. } => {
                Kind::Transformer(Box::new(Transformer::new(&mut tensors, shape)))
            }
        };
        Ok((kind, tensors))
    }

    /// Its shape.
    #[must_use]
    pub const fn shape(&self) -> NetShape {
        self.shape
    }

    /// Its weights.
    #[must_use]
    pub fn weights(&self) -> NamedWeights<T> {
        self.tensors.named(&self.weights)
    }

    /// One number for each example; nothing is dropped. An example of another length gives an undefined number.
    #[must_use]
    pub fn outputs(&self, examples: &[&[T]]) -> Vec<T> {
        let kernel = Kernel::default();
        let of_part = |part: &[&[T]]| self.kind().outputs(kernel, &self.weights, part);
        examples.chunks(PART).flat_map(of_part).collect()
    }

    /// The mean squared error.
    #[must_use]
    pub fn loss(&self, examples: &[&[T]], targets: &[T]) -> f64 {
        let errors = self.outputs(examples).into_iter().zip(targets);
        let sum: f64 = errors
            .map(|(output, target)| square((output - *target).wide()))
            .sum();
        sum / count(targets.len().max(1))
    }

    /// The mean squared error and its gradients by name, with nothing dropped.
    #[must_use]
    pub fn loss_and_gradients(&self, examples: &[&[T]], targets: &[T]) -> (f64, NamedWeights<T>) {
        let mut gradients = Vec::new();
        let loss = self.gradients(Kernel::default(), examples, targets, None, &mut gradients);
        (loss, self.tensors.named(&gradients))
    }

    /// One step of Adam from its start, with nothing dropped.
    #[must_use]
    pub fn after_first_step(&self, examples: &[&[T]], targets: &[T], learning_rate: f64) -> Self {
        let mut next = self.clone();
        let mut adam = self.adam(learning_rate);
        next.train(&mut adam, (examples, targets), None, &mut Vec::new());
        next
    }

    pub(super) fn adam(&self, learning_rate: f64) -> Adam<T> {
        Adam::new(self.weights.len(), learning_rate)
    }

    /// One step on a batch; gives its loss before the step. `gradients` is a buffer.
    pub(super) fn train(
        &mut self,
        adam: &mut Adam<T>,
        (examples, targets): (&[&[T]], &[T]),
        dropout: Option<&mut Chance<'_>>,
        gradients: &mut Vec<T>,
    ) -> f64 {
        let kernel = Kernel::default();
        let loss = self.gradients(kernel, examples, targets, dropout, gradients);
        adam.step(kernel, &mut self.weights, gradients);
        loss
    }

    fn gradients(
        &self,
        kernel: Kernel,
        examples: &[&[T]],
        targets: &[T],
        mut dropout: Option<&mut Chance<'_>>,
        gradients: &mut Vec<T>,
    ) -> f64 {
        gradients.clear();
        gradients.resize(self.weights.len(), T::default());
        let rows = count(targets.len().max(1));
        let mut loss = 0.0;
        for (examples, targets) in examples.chunks(PART).zip(targets.chunks(PART)) {
            let mut by_output = |outputs: &[T]| {
                let errors = outputs
                    .iter()
                    .zip(targets)
                    .map(|(output, target)| *output - *target);
                let errors: Vec<T> = errors.collect();
                loss += errors.iter().map(|error| square(error.wide())).sum::<f64>();
                errors
                    .into_iter()
                    .map(|error| T::of(2.0) * error / T::of(rows))
                    .collect()
            };
            let numbers = (self.weights.as_slice(), gradients.as_mut_slice());
            self.kind()
                .add_gradients(kernel, numbers, examples, &mut by_output, dropout.as_deref_mut());
        }
        loss / rows
    }

    fn kind(&self) -> &dyn Layers<T> {
        match &self.kind {
            Kind::GraphMlp(layers) => layers,
            Kind::Lstm(layers) => layers,
            Kind::Transformer(layers) => &**layers,
        }
    }
}

fn square(value: f64) -> f64 {
    value * value
}
