//! Two layers of perceptrons, one on a name's own features and one on its peers'.

use super::dense::{Dense, rectify, rectify_backward};
use super::layers::Layers;
use super::parameters::Tensors;
use crate::chance::Chance;
use crate::kernel::Kernel;
use crate::real::Real;

/// Two branches that are summed, and a head. An example is the own features followed by the peers'.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphMlp {
    base: [Dense; 2],
    peers: [Dense; 2],
    head: [Dense; 2],
}

impl GraphMlp {
    pub(super) fn new(tensors: &mut Tensors, base: usize, peers: usize, hidden: usize, head: usize) -> Self {
        let mut pair = |name: &str, inputs, middle, outputs| {
            [
                Dense::new(tensors, &format!("{name}.0"), inputs, middle),
                Dense::new(tensors, &format!("{name}.1"), middle, outputs),
            ]
        };
        Self {
            base: pair("base", base, hidden, hidden),
            peers: pair("peers", peers, hidden, hidden),
            head: pair("head", hidden, head, 1),
        }
    }

    /// Own features and peers' of all examples.
    fn split<T: Real>(&self, examples: &[&[T]]) -> [Vec<T>; 2] {
        let mut parts = [Vec::new(), Vec::new()];
        let [own, of_peers] = &mut parts;
        for example in examples {
            if let Some((base, peers)) = example.split_at_checked(self.base[0].inputs) {
                own.extend_from_slice(base);
                of_peers.extend_from_slice(peers);
            }
        }
        parts
    }
}

/// The values of two layers, each rectified but for the head's last.
struct Passed<T> {
    inputs: Vec<T>,
    middle: Vec<T>,
    outputs: Vec<T>,
}

fn forward<T: Real>(
    kernel: Kernel,
    [first, second]: &[Dense; 2],
    weights: &[T],
    inputs: Vec<T>,
) -> Passed<T> {
    let (mut middle, mut outputs) = (Vec::new(), Vec::new());
    first.apply(kernel, weights, &first.turned(weights), &inputs, &mut middle);
    rectify(&mut middle);
    second.apply(kernel, weights, &second.turned(weights), &middle, &mut outputs);
    Passed {
        inputs,
        middle,
        outputs,
    }
}

/// Adds the gradients of two layers; gives the derivatives by their inputs.
fn backward<T: Real>(
    kernel: Kernel,
    [first, second]: &[Dense; 2],
    (weights, gradients): (&[T], &mut [T]),
    passed: &Passed<T>,
    by_output: &[T],
) -> Vec<T> {
    let (mut by_middle, mut by_input, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    second.add_gradients(kernel, &passed.middle, by_output, gradients, &mut scratch);
    second.backward(kernel, weights, by_output, &mut by_middle);
    rectify_backward(&passed.middle, &mut by_middle);
    first.add_gradients(kernel, &passed.inputs, &by_middle, gradients, &mut scratch);
    first.backward(kernel, weights, &by_middle, &mut by_input);
    by_input
}

impl GraphMlp {
    fn pass<T: Real>(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> [Passed<T>; 3] {
        let [own, of_peers] = self.split(examples);
        let mut base = forward(kernel, &self.base, weights, own);
        let mut peers = forward(kernel, &self.peers, weights, of_peers);
        rectify(&mut base.outputs);
        rectify(&mut peers.outputs);
        let joined = base
            .outputs
            .iter()
            .zip(&peers.outputs)
            .map(|(own, peers)| *own + *peers);
        let head = forward(kernel, &self.head, weights, joined.collect());
        [base, peers, head]
    }
}

impl<T: Real> Layers<T> for GraphMlp {
    fn outputs(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> Vec<T> {
        let [_, _, head] = self.pass(kernel, weights, examples);
        head.outputs
    }

    fn add_gradients(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        examples: &[&[T]],
        by_output: &mut dyn FnMut(&[T]) -> Vec<T>,
        _: Option<&mut Chance<'_>>,
    ) {
        let [base, peers, head] = self.pass(kernel, weights, examples);
        let derivatives = by_output(&head.outputs);
        let joined = backward(
            kernel,
            &self.head,
            (weights, &mut *gradients),
            &head,
            &derivatives,
        );
        for (layers, passed) in [(&self.base, &base), (&self.peers, &peers)] {
            let mut derivatives = joined.clone();
            rectify_backward(&passed.outputs, &mut derivatives);
            backward(kernel, layers, (weights, &mut *gradients), passed, &derivatives);
        }
    }
}
