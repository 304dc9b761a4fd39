//! A layer in which every output sees every input.

use super::parameters::{Start, TensorAt, Tensors};
use crate::kernel::{Kernel, transpose};
use crate::real::Real;

/// `y = W x + b` of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dense {
    /// A row for each output.
    pub(super) weight: TensorAt,
    pub(super) bias: TensorAt,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

impl Dense {
    pub(super) fn new(tensors: &mut Tensors, name: &str, inputs: usize, outputs: usize) -> Self {
        let start = Start::FanIn(inputs);
        Self {
            weight: tensors.add(format!("{name}.weight"), inputs * outputs, start),
            bias: tensors.add(format!("{name}.bias"), outputs, start),
            inputs,
            outputs,
        }
    }

    /// The weights with a row for each input, as [`Dense::apply`] takes them.
    pub(super) fn turned<T: Real>(&self, weights: &[T]) -> Vec<T> {
        let mut turned = Vec::with_capacity(self.inputs * self.outputs);
        transpose(self.weight.of(weights), self.inputs, &mut turned);
        turned
    }

    /// Writes the outputs of rows over `outputs`.
    pub(super) fn apply<T: Real>(
        &self,
        kernel: Kernel,
        weights: &[T],
        turned: &[T],
        rows: &[T],
        outputs: &mut Vec<T>,
    ) {
        outputs.clear();
        for _ in 0..rows.len().checked_div(self.inputs).unwrap_or(0) {
            outputs.extend_from_slice(self.bias.of(weights));
        }
        kernel.add_product(rows, turned, self.outputs, outputs);
    }

    /// Adds to the gradients of the weights what the derivatives by the outputs of rows give. `scratch` is overwritten.
    pub(super) fn add_gradients<T: Real>(
        &self,
        kernel: Kernel,
        rows: &[T],
        by_output: &[T],
        gradients: &mut [T],
        scratch: &mut Vec<T>,
    ) {
        transpose(by_output, self.outputs, scratch);
        kernel.add_product(scratch, rows, self.inputs, self.weight.of_mut(gradients));
        let bias = self.bias.of_mut(gradients);
        for row in by_output.chunks_exact(self.outputs) {
            for (sum, value) in bias.iter_mut().zip(row) {
                *sum += *value;
            }
        }
    }

    /// Writes the derivatives by the inputs of rows over `by_input`.
    pub(super) fn backward<T: Real>(
        &self,
        kernel: Kernel,
        weights: &[T],
        by_output: &[T],
        by_input: &mut Vec<T>,
    ) {
        by_input.clear();
        by_input.resize(
            by_output.len().checked_div(self.outputs).unwrap_or(0) * self.inputs,
            T::default(),
        );
        kernel.add_product(by_output, self.weight.of(weights), self.inputs, by_input);
    }
}

/// Sets values below 0 to 0.
pub(super) fn rectify<T: Real>(values: &mut [T]) {
    for value in values {
        if *value < T::default() {
            *value = T::default();
        }
    }
}

/// Sets derivatives to 0 where the rectified value is 0.
pub(super) fn rectify_backward<T: Real>(rectified: &[T], by_output: &mut [T]) {
    for (derivative, value) in by_output.iter_mut().zip(rectified) {
        if *value <= T::default() {
            *derivative = T::default();
        }
    }
}
