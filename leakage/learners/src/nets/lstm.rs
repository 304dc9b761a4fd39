//! A recurrent network with gates.

use super::dense::Dense;
use super::layers::Layers;
use super::parameters::Tensors;
use crate::chance::Chance;
use crate::kernel::{Kernel, add_scaled};
use crate::real::Real;
use pulp::NullaryFnOnce;

/// One layer of long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers 2000) and a linear
/// reading of its last state. The gates of a row stand in the order input, forget, cell, output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lstm {
    input: Dense,
    recurrent: Dense,
    out: Dense,
}

/// States of all steps of a batch: those of a step lie behind each other, row by row.
struct Steps<T> {
    /// Inputs, `features` a row.
    inputs: Vec<T>,
    /// Gates after their functions, four times `hidden` a row.
    gates: Vec<T>,
    /// Cells, with those before the first step (all 0) in front.
    cells: Vec<T>,
    /// States, with those before the first step in front.
    states: Vec<T>,
}

impl Lstm {
    pub(super) fn new(tensors: &mut Tensors, features: usize, hidden: usize) -> Self {
        Self {
            input: Dense::new(tensors, "input", features, 4 * hidden),
            recurrent: Dense::new(tensors, "recurrent", hidden, 4 * hidden),
            out: Dense::new(tensors, "out", hidden, 1),
        }
    }

    const fn hidden(&self) -> usize {
        self.recurrent.inputs
    }

    fn run<T: Real>(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> Steps<T> {
        let (rows, hidden) = (examples.len(), self.hidden());
        let count = examples
            .first()
            .map_or(0, |first| first.len() / self.input.inputs.max(1));
        let mut steps = Steps {
            inputs: Vec::with_capacity(rows * count * self.input.inputs),
            gates: Vec::new(),
            cells: vec![T::default(); rows * hidden * (count + 1)],
            states: vec![T::default(); rows * hidden * (count + 1)],
        };
        for step in 0..count {
            for example in examples {
                let from = step * self.input.inputs;
                let row = example.get(from..from + self.input.inputs).unwrap_or(&[]);
                steps.inputs.extend_from_slice(row);
            }
        }
        let turned = self.input.turned(weights);
        self.input
            .apply(kernel, weights, &turned, &steps.inputs, &mut steps.gates);
        let turned = self.recurrent.turned(weights);
        let cells = rows * hidden;
        for step in 0..count {
            let at = step * cells;
            let gates = steps.gates.get_mut(4 * at..4 * (at + cells)).unwrap_or(&mut []);
            for gates in gates.chunks_exact_mut(4 * hidden) {
                add_scaled(gates, self.recurrent.bias.of(weights), T::of(1.0));
            }
            let (before, after) = steps.states.split_at_mut(at + cells);
            kernel.add_product(before.get(at..).unwrap_or(&[]), &turned, 4 * hidden, gates);
            let (cell_before, cell_after) = steps.cells.split_at_mut(at + cells);
            kernel.run(Remember {
                hidden,
                gates,
                before: cell_before.get(at..).unwrap_or(&[]),
                cells: cell_after.get_mut(..cells).unwrap_or(&mut []),
                states: after.get_mut(..cells).unwrap_or(&mut []),
            });
        }
        steps
    }

    /// The states after the last step.
    fn last<'a, T>(&self, steps: &'a Steps<T>, rows: usize) -> &'a [T] {
        let from = steps.states.len().saturating_sub(rows * self.hidden());
        steps.states.get(from..).unwrap_or(&[])
    }
}

/// One step of all rows: gates before their functions become gates, and the next cells and states.
struct Remember<'a, T> {
    hidden: usize,
    gates: &'a mut [T],
    before: &'a [T],
    cells: &'a mut [T],
    states: &'a mut [T],
}

impl<T: Real> NullaryFnOnce for Remember<'_, T> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let hidden = self.hidden;
        let outcomes = self
            .cells
            .chunks_exact_mut(hidden)
            .zip(self.states.chunks_exact_mut(hidden));
        let rows = self
            .gates
            .chunks_exact_mut(4 * hidden)
            .zip(self.before.chunks_exact(hidden));
        for ((gates, before), (cells, states)) in rows.zip(outcomes) {
            let (two, others) = gates.split_at_mut(2 * hidden);
            let (candidate, output) = others.split_at_mut(hidden);
            for gate in two.iter_mut() {
                *gate = gate.sigmoid();
            }
            for value in candidate.iter_mut() {
                *value = value.hyperbolic_tangent();
            }
            for gate in output.iter_mut() {
                *gate = gate.sigmoid();
            }
            let (input, forget) = two.split_at(hidden);
            let shares = forget.iter().zip(input).zip(&*candidate);
            for ((cell, before), ((forget, input), candidate)) in cells.iter_mut().zip(before).zip(shares) {
                *cell = *forget * *before + *input * *candidate;
            }
            for ((state, cell), output) in states.iter_mut().zip(&*cells).zip(&*output) {
                *state = *output * cell.hyperbolic_tangent();
            }
        }
    }
}

/// The derivatives of one step of all rows, backwards.
struct Recall<'a, T> {
    hidden: usize,
    gates: &'a [T],
    before: &'a [T],
    cells: &'a [T],
    by_state: &'a [T],
    /// By the cells after the step; becomes those before it.
    by_cell: &'a mut [T],
    /// By the gates before their functions.
    by_gates: &'a mut [T],
}

impl<T: Real> NullaryFnOnce for Recall<'_, T> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let hidden = self.hidden;
        let one = T::of(1.0);
        let cells = self
            .before
            .chunks_exact(hidden)
            .zip(self.cells.chunks_exact(hidden));
        let derivatives = self
            .by_state
            .chunks_exact(hidden)
            .zip(self.by_cell.chunks_exact_mut(hidden));
        let gates = self
            .gates
            .chunks_exact(4 * hidden)
            .zip(self.by_gates.chunks_exact_mut(4 * hidden));
        for ((gates, by_gates), ((before, cells), (by_state, by_cell))) in gates.zip(cells.zip(derivatives)) {
            let (input, others) = gates.split_at(hidden);
            let (forget, others) = others.split_at(hidden);
            let (candidate, output) = others.split_at(hidden);
            let (by_input, others) = by_gates.split_at_mut(hidden);
            let (by_forget, others) = others.split_at_mut(hidden);
            let (by_candidate, by_output) = others.split_at_mut(hidden);
            for (((by_cell, by_state), cell), (output, by_output)) in by_cell
                .iter_mut()
                .zip(by_state)
                .zip(cells)
                .zip(output.iter().zip(by_output))
            {
                let bent = cell.hyperbolic_tangent();
                *by_output = *by_state * bent * *output * (one - *output);
                *by_cell += *by_state * *output * (one - bent * bent);
            }
            for ((by_forget, forget), (before, by_cell)) in
                by_forget.iter_mut().zip(forget).zip(before.iter().zip(&*by_cell))
            {
                *by_forget = *by_cell * *before * *forget * (one - *forget);
            }
            for (((by_input, by_candidate), (input, candidate)), by_cell) in by_input
                .iter_mut()
                .zip(by_candidate)
                .zip(input.iter().zip(candidate))
                .zip(&*by_cell)
            {
                *by_input = *by_cell * *candidate * *input * (one - *input);
                *by_candidate = *by_cell * *input * (one - *candidate * *candidate);
            }
            for (by_cell, forget) in by_cell.iter_mut().zip(forget) {
                *by_cell *= *forget;
            }
        }
    }
}

impl<T: Real> Layers<T> for Lstm {
    fn outputs(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> Vec<T> {
        let steps = self.run(kernel, weights, examples);
        let mut outputs = Vec::new();
        let states = self.last(&steps, examples.len());
        self.out
            .apply(kernel, weights, &self.out.turned(weights), states, &mut outputs);
        outputs
    }

    fn add_gradients(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        examples: &[&[T]],
        by_output: &mut dyn FnMut(&[T]) -> Vec<T>,
        _: Option<&mut Chance<'_>>,
    ) {
        let steps = self.run(kernel, weights, examples);
        let hidden = self.hidden();
        let cells = examples.len() * hidden;
        let states = self.last(&steps, examples.len());
        let (mut outputs, mut scratch, mut by_state) = (Vec::new(), Vec::new(), Vec::new());
        self.out
            .apply(kernel, weights, &self.out.turned(weights), states, &mut outputs);
        let derivatives = by_output(&outputs);
        self.out
            .add_gradients(kernel, states, &derivatives, gradients, &mut scratch);
        self.out.backward(kernel, weights, &derivatives, &mut by_state);
        let mut by_cell = vec![T::default(); cells];
        let mut by_gates = vec![T::default(); steps.gates.len()];
        let count = steps.gates.len().checked_div(4 * cells).unwrap_or(0);
        for step in (0..count).rev() {
            let at = step * cells;
            let of_step = by_gates.get_mut(4 * at..4 * (at + cells)).unwrap_or(&mut []);
            kernel.run(Recall {
                hidden,
                gates: steps.gates.get(4 * at..4 * (at + cells)).unwrap_or(&[]),
                before: steps.cells.get(at..at + cells).unwrap_or(&[]),
                cells: steps.cells.get(at + cells..at + 2 * cells).unwrap_or(&[]),
                by_state: &by_state,
                by_cell: &mut by_cell,
                by_gates: of_step,
            });
            self.recurrent.backward(kernel, weights, of_step, &mut by_state);
        }
        let states_before = steps.states.get(..count * cells).unwrap_or(&[]);
        self.recurrent
            .add_gradients(kernel, states_before, &by_gates, gradients, &mut scratch);
        self.input
            .add_gradients(kernel, &steps.inputs, &by_gates, gradients, &mut scratch);
    }
}
