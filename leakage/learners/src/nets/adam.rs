//! Steps down the gradient.

use crate::kernel::Kernel;
use crate::real::Real;
use pulp::NullaryFnOnce;

const FIRST_DECAY: f64 = 0.9;
const SECOND_DECAY: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Adam (Kingma and Ba 2015), with its own decays of .9 and .999.
#[derive(Debug, Clone)]
pub(super) struct Adam<T> {
    learning_rate: f64,
    first: Vec<T>,
    second: Vec<T>,
    /// The decays to the power of the steps so far.
    powers: [f64; 2],
}

impl<T: Real> Adam<T> {
    pub(super) fn new(weights: usize, learning_rate: f64) -> Self {
        Self {
            learning_rate,
            first: vec![T::default(); weights],
            second: vec![T::default(); weights],
            powers: [1.0; 2],
        }
    }

    /// One step.
    pub(super) fn step(&mut self, kernel: Kernel, weights: &mut [T], gradients: &[T]) {
        let [first, second] = &mut self.powers;
        *first *= FIRST_DECAY;
        *second *= SECOND_DECAY;
        kernel.run(Step {
            rate: T::of(self.learning_rate),
            corrections: [T::of(1.0 - *first), T::of(1.0 - *second)],
            adam: (&mut self.first, &mut self.second),
            weights,
            gradients,
        });
    }
}

struct Step<'a, T> {
    rate: T,
    corrections: [T; 2],
    adam: (&'a mut [T], &'a mut [T]),
    weights: &'a mut [T],
    gradients: &'a [T],
}

impl<T: Real> NullaryFnOnce for Step<'_, T> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let [b1, b2] = [T::of(FIRST_DECAY), T::of(SECOND_DECAY)];
        let [rest1, rest2] = [T::of(1.0 - FIRST_DECAY), T::of(1.0 - SECOND_DECAY)];
        let [correction1, correction2] = self.corrections;
        let epsilon = T::of(EPSILON);
        let moments = self.adam.0.iter_mut().zip(self.adam.1);
        for ((weight, gradient), (first, second)) in self.weights.iter_mut().zip(self.gradients).zip(moments)
        {
            *first = b1 * *first + rest1 * *gradient;
            *second = b2 * *second + rest2 * *gradient * *gradient;
            let root = (*second / correction2).root() + epsilon;
            *weight = *weight - self.rate * (*first / correction1) / root;
        }
    }
}
