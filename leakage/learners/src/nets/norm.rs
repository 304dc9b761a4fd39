//! A layer that gives each row mean 0 and deviation 1.

use super::parameters::{Start, TensorAt, Tensors};
use crate::kernel::dot;
use crate::real::{Real, count};

/// Added to the variance.
const EPSILON: f64 = 1e-5;

/// Layer normalisation (Ba, Kiros and Hinton 2016) with a scale and a shift for each place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Norm {
    weight: TensorAt,
    bias: TensorAt,
}

impl Norm {
    pub(super) fn new(tensors: &mut Tensors, name: &str, width: usize) -> Self {
        Self {
            weight: tensors.add(format!("{name}.weight"), width, Start::One),
            bias: tensors.add(format!("{name}.bias"), width, Start::Zero),
        }
    }

    /// Writes the output of a row over `output` and the row's standardised values over `standard`; gives one over the
    /// deviation.
    pub(super) fn apply<T: Real>(
        &self,
        weights: &[T],
        row: &[T],
        standard: &mut Vec<T>,
        output: &mut Vec<T>,
    ) -> T {
        let width = T::of(count(row.len()));
        let mean = row.iter().fold(T::default(), |sum, value| sum + *value) / width;
        standard.clear();
        standard.extend(row.iter().map(|value| *value - mean));
        let inverse = T::of(1.0) / (dot(standard, standard) / width + T::of(EPSILON)).root();
        for value in standard.iter_mut() {
            *value *= inverse;
        }
        output.clear();
        let affine = self.weight.of(weights).iter().zip(self.bias.of(weights));
        output.extend(
            standard
                .iter()
                .zip(affine)
                .map(|(value, (weight, bias))| *value * *weight + *bias),
        );
        inverse
    }

    /// Turns the derivatives by the output into those by the input, in place.
    pub(super) fn backward<T: Real>(
        &self,
        weights: &[T],
        gradients: &mut [T],
        (standard, inverse): (&[T], T),
        derivatives: &mut [T],
    ) {
        for ((sum, derivative), value) in self
            .weight
            .of_mut(gradients)
            .iter_mut()
            .zip(&*derivatives)
            .zip(standard)
        {
            *sum += *derivative * *value;
        }
        for (sum, derivative) in self.bias.of_mut(gradients).iter_mut().zip(&*derivatives) {
            *sum += *derivative;
        }
        for (derivative, weight) in derivatives.iter_mut().zip(self.weight.of(weights)) {
            *derivative *= *weight;
        }
        let width = T::of(count(standard.len()));
        let mean = derivatives.iter().fold(T::default(), |sum, value| sum + *value) / width;
        let along = dot(derivatives, standard) / width;
        for (derivative, value) in derivatives.iter_mut().zip(standard) {
            *derivative = inverse * (*derivative - mean - *value * along);
        }
    }
}
