//! A network of one of three kinds.

use super::adam::Adam;
use super::graph_mlp::GraphMlp;
use super::layers::Layers;
use super::lstm::Lstm;
use super::parameters::{NamedWeights, Tensors};
use super::shape::NetShape;
use super::transformer::Transformer;
use crate::chance::Chance;
use crate::error::LearnError;
use crate::kernel::Kernel;
use crate::real::{Real, count};

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
