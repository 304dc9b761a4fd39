//! The settings of genetic programming.

use serde::{Deserialize, Serialize};

/// How a genetic search goes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneticSettings {
    /// Formulas that are evaluated, at most; those of a repeated canonical form count once.
    pub evaluations: usize,
    /// Formulas of the first generation, and those that live on after each, at most.
    pub population: usize,
    /// New formulas of each later generation.
    pub children: usize,
    /// Generations, the random first one among them.
    pub generations: usize,
    /// Formulas of which the fittest becomes a parent.
    pub tournament: usize,
    /// How far the train figures of formulas that live on lie apart, as a share of the largest one.
    pub niche: f64,
    /// The share of children in which a part of one parent is replaced by a part of another.
    pub crossover: f64,
    /// Of those in which a part is replaced by a new one.
    pub subtree: f64,
    /// Of those in which a part is replaced by a part of itself.
    pub hoist: f64,
    /// Of those in which one operator, field or window is replaced by another of its kind.
    pub point: f64,
    /// Of those in which a new operator is set above a part.
    pub insertion: f64,
}

impl Default for GeneticSettings {
    fn default() -> Self {
        Self {
            evaluations: 10_000,
            population: 60,
            children: 30,
            generations: 333,
            tournament: 4,
            niche: 0.015,
            crossover: 0.4,
            subtree: 0.0,
            hoist: 0.05,
            point: 0.25,
            insertion: 0.3,
        }
    }
}

impl GeneticSettings {
    /// Formulas that all generations evaluate together, at most.
    #[must_use]
    pub const fn most(&self) -> usize {
        let later = self.children.saturating_mul(self.generations.saturating_sub(1));
        let all = self.population.saturating_add(later);
        if all < self.evaluations {
            all
        } else {
            self.evaluations
        }
    }
}
