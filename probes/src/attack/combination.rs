//! Weighs what all others found: a conditional logit over candidates, learned on other episodes.

use crate::kind::ProbeKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one training probe teaches: the costs that each reading gives to the truth and to others.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    pub(crate) kind: ProbeKind,
    pub(crate) truth: Vec<f64>,
    pub(crate) others: Vec<Vec<f64>>,
}

/// Weights of the readings that the combination learned from lessons, by kind of probe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedWeights(BTreeMap<ProbeKind, Vec<f64>>);

/// Weight of a reading before anything is learned: costs are twice a negative log-likelihood.
const UNTAUGHT: f64 = 0.5;
/// Pull towards that weight, so that a reading that never speaks keeps a harmless one.
const RIDGE: f64 = 1e-3;
const ROUNDS: usize = 400;

impl LearnedWeights {
    /// Learns from lessons. The same lessons in the same order give the same bits.
    #[must_use]
    pub fn learn(lessons: &[Lesson]) -> Self {
        let mut weights = BTreeMap::new();
        for kind in ProbeKind::ALL {
            let of_kind: Vec<&Lesson> = lessons.iter().filter(|lesson| lesson.kind == kind).collect();
            if let Some(first) = of_kind.first() {
                weights.insert(kind, fit(&of_kind, first.truth.len()));
            }
        }
        Self(weights)
    }

    pub(crate) fn of(&self, kind: ProbeKind, readings: usize) -> Vec<f64> {
        self.0
            .get(&kind)
            .cloned()
            .unwrap_or_else(|| vec![UNTAUGHT; readings])
    }
}

/// Gradient descent with a step that halves until the loss falls; weights stay at least 0.
fn fit(lessons: &[&Lesson], readings: usize) -> Vec<f64> {
    let mut weights = vec![UNTAUGHT; readings];
    let (mut loss, mut gradient) = loss(lessons, &weights);
    let mut step = 1.0;
    for _ in 0..ROUNDS {
        let moved: Vec<f64> = weights
            .iter()
            .zip(&gradient)
            .map(|(weight, slope)| (weight - step * slope).max(0.0))
            .collect();
        let (next_loss, next_gradient) = self::loss(lessons, &moved);
        if next_loss < loss {
            (weights, loss, gradient) = (moved, next_loss, next_gradient);
            step *= 1.5;
        } else {
            step *= 0.5;
        }
        if step < 1e-12 {
            break;
        }
    }
    weights
}

/// Mean negative log-likelihood of the truth among the candidates, and its slope.
fn loss(lessons: &[&Lesson], weights: &[f64]) -> (f64, Vec<f64>) {
    let mut total = 0.0;
    let mut slope = vec![0.0; weights.len()];
    for lesson in lessons {
        let cost = |costs: &[f64]| -> f64 {
            costs
                .iter()
                .zip(weights)
                .map(|(cost, weight)| cost * weight)
                .sum()
        };
        let truth = cost(&lesson.truth);
        let others: Vec<f64> = lesson.others.iter().map(|other| cost(other)).collect();
        let least = others.iter().copied().fold(truth, f64::min);
        let likelihood = |cost: f64| libm::exp(least - cost);
        let all: f64 = likelihood(truth) + others.iter().map(|cost| likelihood(*cost)).sum::<f64>();
        total += truth - least + libm::log(all);
        for (place, slope) in slope.iter_mut().enumerate() {
            let at = |costs: &[f64]| costs.get(place).copied().unwrap_or(0.0);
            let mut expected = at(&lesson.truth) * likelihood(truth) / all;
            for (costs, cost) in lesson.others.iter().zip(&others) {
                expected += at(costs) * likelihood(*cost) / all;
            }
            *slope += at(&lesson.truth) - expected;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "lessons are few")]
    let count = lessons.len() as f64;
    let mut loss = total / count;
    for (slope, weight) in slope.iter_mut().zip(weights) {
        loss += RIDGE * (weight - UNTAUGHT) * (weight - UNTAUGHT);
        *slope = *slope / count + 2.0 * RIDGE * (weight - UNTAUGHT);
    }
    (loss, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_misleads_loses_its_weight() {
        // The first reading puts the truth first, the second puts it last.
        let lesson = |shift: f64| Lesson {
            kind: ProbeKind::Day,
            truth: vec![0.0, 4.0 + shift],
            others: vec![vec![3.0, 0.0], vec![5.0, 1.0 + shift]],
        };
        let lessons: Vec<Lesson> = (0..20).map(|n| lesson(f64::from(n) / 10.0)).collect();
        let weights = LearnedWeights::learn(&lessons).of(ProbeKind::Day, 2);
        assert!(weights[0] > UNTAUGHT && weights[1] < 1e-9, "{weights:?}");
        assert_eq!(LearnedWeights::default().of(ProbeKind::Days, 2), [UNTAUGHT; 2]);
    }
}
