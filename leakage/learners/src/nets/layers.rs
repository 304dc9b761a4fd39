//! What every kind of network computes.

use crate::chance::Chance;
use crate::kernel::Kernel;
use crate::real::Real;

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
