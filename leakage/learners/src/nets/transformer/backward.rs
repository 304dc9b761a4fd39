//! The encoder layer's derivatives.

use super::{Passed, Transformer, drop_values};
use crate::kernel::{Kernel, add_scaled, dot, transpose};
use crate::nets::dense::rectify_backward;
use crate::real::Real;

/// Buffers of the way back.
#[derive(Default)]
pub(super) struct Back<T> {
    scratch: Vec<T>,
    by_wide: Vec<T>,
    by_normed: Vec<T>,
    by_narrow: Vec<T>,
    by_mixed: Vec<T>,
    by_values: Vec<T>,
    by_contexts: Vec<T>,
    by_scores: Vec<T>,
    by_asked: Vec<T>,
    by_query: Vec<T>,
    by_last: Vec<T>,
    by_days: Vec<T>,
}

impl Transformer {
    /// Adds the gradients of one example, given the derivative by its output.
    pub(super) fn back<T: Real>(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        (example, passed): (&[T], &Passed<T>),
        by_output: T,
        back: &mut Back<T>,
    ) {
        let [normed, later_normed] = &passed.normed;
        let [standard, later_standard] = &passed.standard;
        let [norm, later_norm] = &self.norms;
        let [inverse, later_inverse] = passed.inverse;
        self.out
            .add_gradients(kernel, later_normed, &[by_output], gradients, &mut back.scratch);
        self.out
            .backward(kernel, weights, &[by_output], &mut back.by_normed);
        later_norm.backward(
            weights,
            gradients,
            (later_standard, later_inverse),
            &mut back.by_normed,
        );
        back.by_narrow.clone_from(&back.by_normed);
        drop_values(&mut back.by_narrow, &passed.drops.narrow);
        self.narrow.add_gradients(
            kernel,
            &passed.wide,
            &back.by_narrow,
            gradients,
            &mut back.scratch,
        );
        self.narrow
            .backward(kernel, weights, &back.by_narrow, &mut back.by_wide);
        drop_values(&mut back.by_wide, &passed.drops.wide);
        rectify_backward(&passed.wide, &mut back.by_wide);
        self.wide
            .add_gradients(kernel, normed, &back.by_wide, gradients, &mut back.scratch);
        self.wide
            .backward(kernel, weights, &back.by_wide, &mut back.by_mixed);
        add_scaled(&mut back.by_mixed, &back.by_normed, T::of(1.0));
        norm.backward(weights, gradients, (standard, inverse), &mut back.by_mixed);
        back.by_last.clone_from(&back.by_mixed);
        drop_values(&mut back.by_mixed, &passed.drops.mixed);
        self.mix.add_gradients(
            kernel,
            &passed.values,
            &back.by_mixed,
            gradients,
            &mut back.scratch,
        );
        self.mix
            .backward(kernel, weights, &back.by_mixed, &mut back.by_values);
        self.back_to_days(kernel, (weights, &mut *gradients), passed, back);
        self.embed
            .add_gradients(kernel, example, &back.by_days, gradients, &mut back.scratch);
    }

    /// From the heads' values to the embedded days.
    fn back_to_days<T: Real>(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        passed: &Passed<T>,
        back: &mut Back<T>,
    ) {
        let (width, head) = (self.width, self.head_width());
        let days = passed.attention.len() / self.heads;
        self.back_through_values(kernel, (weights, &mut *gradients), passed, back);
        // By the scores: each head's derivatives by its shares, less their mean under the shares.
        drop_values(&mut back.by_scores, &passed.drops.attention);
        for (scores, shares) in back
            .by_scores
            .chunks_exact_mut(days)
            .zip(passed.attention.chunks_exact(days))
        {
            let mean = dot(scores, shares);
            for (score, share) in scores.iter_mut().zip(shares) {
                *score = *share * (*score - mean);
            }
        }
        back.by_asked.clear();
        back.by_asked.resize(self.heads * width, T::default());
        kernel.add_product(&back.by_scores, &passed.days, width, &mut back.by_asked);
        // The scores of a head sum to 0 whatever the keys' bias is, so that its gradient is 0.
        back.by_query.clear();
        for asked in &mut back.by_asked {
            *asked *= self.scale();
        }
        for (place, asked) in back.by_asked.chunks_exact(width).enumerate() {
            let rows = self
                .key
                .weight
                .of(weights)
                .chunks_exact(width)
                .skip(place * head)
                .take(head);
            back.by_query.extend(rows.map(|row| dot(row, asked)));
            let query = passed.query.iter().skip(place * head);
            let rows = self
                .key
                .weight
                .of_mut(gradients)
                .chunks_exact_mut(width)
                .skip(place * head);
            for (sums, query) in rows.take(head).zip(query) {
                add_scaled(sums, asked, *query);
            }
        }
        self.query
            .add_gradients(kernel, &passed.last, &back.by_query, gradients, &mut back.scratch);
        kernel.add_product(
            &back.by_query,
            self.query.weight.of(weights),
            width,
            &mut back.by_last,
        );
        // By the days: as parts of the contexts, as what the scores are of, and the last one as what asks.
        back.by_days.clear();
        back.by_days.resize(days * width, T::default());
        transpose(&passed.kept, days, &mut back.scratch);
        kernel.add_product(&back.scratch, &back.by_contexts, width, &mut back.by_days);
        transpose(&back.by_scores, days, &mut back.scratch);
        kernel.add_product(&back.scratch, &passed.asked, width, &mut back.by_days);
        let last_from = back.by_days.len().saturating_sub(width);
        add_scaled(
            back.by_days.get_mut(last_from..).unwrap_or(&mut []),
            &back.by_last,
            T::of(1.0),
        );
    }

    /// From the heads' values to their contexts, and to the derivatives by the shares kept.
    fn back_through_values<T: Real>(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        passed: &Passed<T>,
        back: &mut Back<T>,
    ) {
        let (width, head) = (self.width, self.head_width());
        let days = passed.attention.len() / self.heads;
        back.by_contexts.clear();
        back.by_contexts.resize(self.heads * width, T::default());
        back.by_scores.clear();
        let of_heads = back
            .by_contexts
            .chunks_exact_mut(width)
            .zip(passed.contexts.chunks_exact(width));
        let of_heads = of_heads.zip(
            back.by_values
                .chunks_exact(head)
                .zip(passed.kept.chunks_exact(days)),
        );
        for (place, ((by_context, context), (by_value, kept))) in of_heads.enumerate() {
            let from = place * head;
            let rows = self
                .value
                .weight
                .of_mut(gradients)
                .chunks_exact_mut(width)
                .skip(from);
            for (sums, derivative) in rows.zip(by_value) {
                add_scaled(sums, context, *derivative);
            }
            let sum = kept.iter().fold(T::default(), |sum, share| sum + *share);
            let biases = self.value.bias.of_mut(gradients).iter_mut().skip(from);
            for (bias, derivative) in biases.zip(by_value) {
                *bias += sum * *derivative;
            }
            let rows = self.value.weight.of(weights).chunks_exact(width).skip(from);
            for (row, derivative) in rows.zip(by_value) {
                add_scaled(by_context, row, *derivative);
            }
            let bias = self.value.bias.of(weights).get(from..from + head).unwrap_or(&[]);
            let by_sum = dot(bias, by_value);
            back.by_scores.extend(std::iter::repeat_n(by_sum, days));
        }
        kernel.add_product(&back.by_contexts, &passed.turned_days, days, &mut back.by_scores);
    }
}
