//! The numbers that a network learns.

use crate::chance::Chance;
use crate::error::LearnError;
use crate::real::{Real, count};

/// Weights by name, each row-major: for a layer `x.weight` with a row for each output, and `x.bias`.
pub type NamedWeights<T> = Vec<(String, Vec<T>)>;

/// How a tensor begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Uniform within one over the root of this many inputs.
    FanIn(usize),
    /// All ones.
    One,
    /// All zeros.
    Zero,
}

/// One tensor among the numbers of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tensor {
    name: String,
    from: usize,
    to: usize,
    start: Start,
}

/// The tensors of a network, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tensors(Vec<Tensor>);

impl Tensors {
    /// Adds a tensor; gives its place.
    pub(super) fn add(&mut self, name: String, values: usize, start: Start) -> TensorAt {
        let from = self.len();
        let to = from + values;
        let tensor = Tensor {
            name,
            from,
            to,
            start,
        };
        self.0.push(tensor);
        TensorAt { from, to }
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.0.last().map_or(0, |tensor| tensor.to)
    }

    /// Draws the first weights, in order.
    pub(super) fn draw<T: Real>(&self, chance: &mut Chance<'_>) -> Vec<T> {
        let mut values = Vec::with_capacity(self.len());
        for tensor in &self.0 {
            let mut draw = || match tensor.start {
                Start::FanIn(inputs) => T::of((2.0 * chance.uniform() - 1.0) / count(inputs).sqrt()),
                Start::One => T::of(1.0),
                Start::Zero => T::of(0.0),
            };
            values.extend((tensor.from..tensor.to).map(|_| draw()));
        }
        values
    }

    /// Numbers by name.
    pub(super) fn named<T: Real>(&self, values: &[T]) -> NamedWeights<T> {
        let of = |tensor: &Tensor| values.get(tensor.from..tensor.to).unwrap_or(&[]).to_vec();
        self.0
            .iter()
            .map(|tensor| (tensor.name.clone(), of(tensor)))
            .collect()
    }

    /// The numbers of a list with every name once.
    pub(super) fn take<T: Real>(&self, named: &NamedWeights<T>) -> Result<Vec<T>, LearnError> {
        let mut values = vec![T::default(); self.len()];
        let mut taken = vec![false; self.0.len()];
        for (place, (name, given)) in named.iter().enumerate() {
            let found = self
                .0
                .iter()
                .zip(&mut taken)
                .find(|(tensor, taken)| tensor.name == *name && !**taken);
            let (tensor, taken) = found.ok_or(LearnError::Weight { place })?;
            let own = values.get_mut(tensor.from..tensor.to).unwrap_or(&mut []);
            if own.len() != given.len() {
                return Err(LearnError::Weight { place });
            }
            own.copy_from_slice(given);
            *taken = true;
        }
        if taken.contains(&false) {
            return Err(LearnError::Weight { place: named.len() });
        }
        Ok(values)
    }
}

/// Where a tensor lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TensorAt {
    from: usize,
    to: usize,
}

impl TensorAt {
    /// Its numbers.
    pub(super) fn of<T>(self, values: &[T]) -> &[T] {
        values.get(self.from..self.to).unwrap_or(&[])
    }

    /// Its numbers, to be changed.
    pub(super) fn of_mut<T>(self, values: &mut [T]) -> &mut [T] {
        values.get_mut(self.from..self.to).unwrap_or(&mut [])
    }
}
