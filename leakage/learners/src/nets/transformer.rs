//! An encoder layer that reads the days before the last.

mod backward;

use super::dense::{Dense, rectify};
use super::layers::Layers;
use super::norm::Norm;
use super::parameters::Tensors;
use super::shape::NetShape;
use crate::chance::Chance;
use crate::kernel::{Kernel, add_scaled, dot, transpose};
use crate::real::{Real, count};
use backward::Back;
use pulp::NullaryFnOnce;

/// One encoder layer (Vaswani et al. 2017, normalised after each part) and a linear reading of the last day.
///
/// Only the last day's output is read, so that only its query is asked. A head's scores are `q' K x = (K' q)' x`, and its
/// values `sum of a V x = V (sum of a x)`: neither keys nor values of other days are ever made. The bias of the keys adds
/// the same to all scores of a head, which the softmax ignores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Transformer {
    features: usize,
    width: usize,
    heads: usize,
    dropout: f64,
    /// Sines and cosines of the places, row by row.
    places: Vec<f64>,
    embed: Dense,
    query: Dense,
    key: Dense,
    value: Dense,
    mix: Dense,
    wide: Dense,
    narrow: Dense,
    norms: [Norm; 2],
    out: Dense,
}

impl Transformer {
    /// The layers of a [`NetShape::Transformer`]; those of no other shape have a width.
    pub(super) fn new(tensors: &mut Tensors, shape: NetShape) -> Self {
        let (width, heads, inner, dropout) = match shape {
            NetShape::Transformer {
                embed,
                heads,
                wide,
                dropout,
                ..
            } => (embed, heads, wide, dropout),
            NetShape::GraphMlp { .. } | NetShape::Lstm { .. } => (1, 1, 1, 0.0),
        };
        let features = shape.width();
        Self {
            features,
            width,
            heads,
            dropout,
            places: places(shape.lookback(), width),
            embed: Dense::new(tensors, "embed", features, width),
            query: Dense::new(tensors, "query", width, width),
            key: Dense::new(tensors, "key", width, width),
            value: Dense::new(tensors, "value", width, width),
            mix: Dense::new(tensors, "mix", width, width),
            wide: Dense::new(tensors, "wide", width, inner),
            narrow: Dense::new(tensors, "narrow", inner, width),
            norms: [
                Norm::new(tensors, "norm1", width),
                Norm::new(tensors, "norm2", width),
            ],
            out: Dense::new(tensors, "out", width, 1),
        }
    }

    const fn head_width(&self) -> usize {
        self.width / self.heads
    }
}

/// Sines at even places of a row and cosines at odd ones, of `day / 10000^(place / width)`.
fn places(lookback: usize, width: usize) -> Vec<f64> {
    let mut places = Vec::with_capacity(lookback * width);
    for day in 0..lookback {
        for place in 0..width {
            let even = place - place % 2;
            let angle = count(day) / libm::pow(10_000.0, count(even) / count(width));
            places.push(if place == even {
                libm::sin(angle)
            } else {
                libm::cos(angle)
            });
        }
    }
    places
}

/// Weights with a row for each input, made once for many examples, and the places in the network's float.
struct Turned<T> {
    places: Vec<T>,
    embed: Vec<T>,
    query: Vec<T>,
    mix: Vec<T>,
    wide: Vec<T>,
    narrow: Vec<T>,
    out: Vec<T>,
}

/// All that one example's way leaves behind. `Vec`s are kept between examples.
#[derive(Default)]
struct Passed<T> {
    /// Embedded days, row by row, and the same turned: a row for each place of the embedding.
    days: Vec<T>,
    turned_days: Vec<T>,
    last: Vec<T>,
    query: Vec<T>,
    /// For each head what its scores weigh a day's embedding by.
    asked: Vec<T>,
    /// Attention of each head before and after dropping.
    attention: Vec<T>,
    kept: Vec<T>,
    /// For each head the days' weighted sum.
    contexts: Vec<T>,
    values: Vec<T>,
    mixed: Vec<T>,
    wide: Vec<T>,
    narrow: Vec<T>,
    standard: [Vec<T>; 2],
    normed: [Vec<T>; 2],
    inverse: [T; 2],
    output: Vec<T>,
    drops: Drops<T>,
}

/// What each dropped value is multiplied by: 0, or one over the share kept; empty where nothing is dropped.
#[derive(Default)]
struct Drops<T> {
    attention: Vec<T>,
    mixed: Vec<T>,
    wide: Vec<T>,
    narrow: Vec<T>,
}

impl<T: Real> Drops<T> {
    fn draw(&mut self, net: &Transformer, days: usize, mut chance: Option<&mut Chance<'_>>) {
        let keep = 1.0 - net.dropout;
        let mut fill = |factors: &mut Vec<T>, number: usize| {
            factors.clear();
            if let Some(chance) = chance.as_deref_mut().filter(|_| 0.0 < net.dropout) {
                let mut factor = || {
                    if chance.uniform() < keep {
                        T::of(1.0 / keep)
                    } else {
                        T::default()
                    }
                };
                factors.extend((0..number).map(|_| factor()));
            }
        };
        fill(&mut self.attention, net.heads * days);
        fill(&mut self.mixed, net.width);
        fill(&mut self.wide, net.wide.outputs);
        fill(&mut self.narrow, net.width);
    }
}

fn drop_values<T: Real>(values: &mut [T], factors: &[T]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= *factor;
    }
}

/// Scores of each head become shares.
struct Softmax<'a, T> {
    scores: &'a mut [T],
    days: usize,
}

impl<T: Real> NullaryFnOnce for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for scores in self.scores.chunks_exact_mut(self.days) {
            let first = scores.first().copied().unwrap_or_default();
            let largest = scores
                .iter()
                .fold(first, |most, score| if most < *score { *score } else { most });
            for score in scores.iter_mut() {
                *score = (*score - largest).exponential();
            }
            let sum = scores.iter().fold(T::default(), |sum, score| sum + *score);
            let inverse = T::of(1.0) / sum;
            for score in scores.iter_mut() {
                *score *= inverse;
            }
        }
    }
}

impl Transformer {
    fn turn<T: Real>(&self, weights: &[T]) -> Turned<T> {
        Turned {
            places: self.places.iter().map(|place| T::of(*place)).collect(),
            embed: self.embed.turned(weights),
            query: self.query.turned(weights),
            mix: self.mix.turned(weights),
            wide: self.wide.turned(weights),
            narrow: self.narrow.turned(weights),
            out: self.out.turned(weights),
        }
    }

    /// One over the root of a head's width.
    fn scale<T: Real>(&self) -> T {
        T::of(1.0 / count(self.head_width()).sqrt())
    }

    fn pass<T: Real>(
        &self,
        kernel: Kernel,
        weights: &[T],
        turned: &Turned<T>,
        example: &[T],
        passed: &mut Passed<T>,
    ) {
        let days = example.len() / self.features;
        self.embed
            .apply(kernel, weights, &turned.embed, example, &mut passed.days);
        add_scaled(&mut passed.days, &turned.places, T::of(1.0));
        transpose(&passed.days, self.width, &mut passed.turned_days);
        passed.last.clear();
        let last_from = passed.days.len().saturating_sub(self.width);
        passed
            .last
            .extend_from_slice(passed.days.get(last_from..).unwrap_or(&[]));
        self.attend(kernel, weights, turned, days, passed);
        self.mix
            .apply(kernel, weights, &turned.mix, &passed.values, &mut passed.mixed);
        drop_values(&mut passed.mixed, &passed.drops.mixed);
        add_scaled(&mut passed.mixed, &passed.last, T::of(1.0));
        let [standard, later_standard] = &mut passed.standard;
        let [normed, later_normed] = &mut passed.normed;
        let [norm, later_norm] = &self.norms;
        let inverse = norm.apply(weights, &passed.mixed, standard, normed);
        self.wide
            .apply(kernel, weights, &turned.wide, normed, &mut passed.wide);
        rectify(&mut passed.wide);
        drop_values(&mut passed.wide, &passed.drops.wide);
        self.narrow
            .apply(kernel, weights, &turned.narrow, &passed.wide, &mut passed.narrow);
        drop_values(&mut passed.narrow, &passed.drops.narrow);
        add_scaled(&mut passed.narrow, normed, T::of(1.0));
        let later_inverse = later_norm.apply(weights, &passed.narrow, later_standard, later_normed);
        passed.inverse = [inverse, later_inverse];
        self.out
            .apply(kernel, weights, &turned.out, later_normed, &mut passed.output);
    }

    /// What the heads gather for the last day.
    fn attend<T: Real>(
        &self,
        kernel: Kernel,
        weights: &[T],
        turned: &Turned<T>,
        days: usize,
        passed: &mut Passed<T>,
    ) {
        let (width, head) = (self.width, self.head_width());
        self.query
            .apply(kernel, weights, &turned.query, &passed.last, &mut passed.query);
        passed.asked.clear();
        passed.asked.resize(self.heads * width, T::default());
        let of_heads = passed
            .query
            .chunks_exact(head)
            .zip(self.key.weight.of(weights).chunks_exact(head * width));
        for (asked, (query, keys)) in passed.asked.chunks_exact_mut(width).zip(of_heads) {
            kernel.add_product(query, keys, width, asked);
        }
        for asked in &mut passed.asked {
            *asked *= self.scale();
        }
        passed.attention.clear();
        passed.attention.resize(self.heads * days, T::default());
        kernel.add_product(&passed.asked, &passed.turned_days, days, &mut passed.attention);
        kernel.run(Softmax {
            scores: &mut passed.attention,
            days,
        });
        passed.kept.clone_from(&passed.attention);
        drop_values(&mut passed.kept, &passed.drops.attention);
        passed.contexts.clear();
        passed.contexts.resize(self.heads * width, T::default());
        kernel.add_product(&passed.kept, &passed.days, width, &mut passed.contexts);
        passed.values.clear();
        let biases = self.value.bias.of(weights).chunks_exact(head);
        let of_heads = passed
            .contexts
            .chunks_exact(width)
            .zip(passed.kept.chunks_exact(days))
            .zip(biases);
        for (place, ((context, kept), bias)) in of_heads.enumerate() {
            let sum = kept.iter().fold(T::default(), |sum, share| sum + *share);
            let rows = self
                .value
                .weight
                .of(weights)
                .chunks_exact(width)
                .skip(place * head);
            passed
                .values
                .extend(rows.zip(bias).map(|(row, bias)| dot(row, context) + *bias * sum));
        }
    }
}

impl<T: Real> Layers<T> for Transformer {
    fn outputs(&self, kernel: Kernel, weights: &[T], examples: &[&[T]]) -> Vec<T> {
        let turned = self.turn(weights);
        let mut passed = Passed::default();
        let mut outputs = Vec::with_capacity(examples.len());
        for example in examples {
            self.pass(kernel, weights, &turned, example, &mut passed);
            outputs.append(&mut passed.output);
        }
        outputs
    }

    fn add_gradients(
        &self,
        kernel: Kernel,
        (weights, gradients): (&[T], &mut [T]),
        examples: &[&[T]],
        by_output: &mut dyn FnMut(&[T]) -> Vec<T>,
        mut dropout: Option<&mut Chance<'_>>,
    ) {
        let turned = self.turn(weights);
        let mut back = Back::default();
        let (mut all, mut outputs) = (Vec::with_capacity(examples.len()), Vec::new());
        for example in examples {
            let mut passed = Passed::default();
            let days = example.len() / self.features;
            passed.drops.draw(self, days, dropout.as_deref_mut());
            self.pass(kernel, weights, &turned, example, &mut passed);
            outputs.extend_from_slice(&passed.output);
            all.push(passed);
        }
        let derivatives = by_output(&outputs);
        for ((example, passed), derivative) in examples.iter().zip(&all).zip(derivatives) {
            let numbers = (weights, &mut *gradients);
            self.back(kernel, numbers, (example, passed), derivative, &mut back);
        }
    }
}
