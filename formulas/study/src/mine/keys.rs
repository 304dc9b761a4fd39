//! The tables of keys in the file of a search, each with its usual values.

use ktd_alphas::{FormulaGrowth, GeneticSettings, PoolTerms, Variation};
use serde::{Deserialize, Serialize};

/// How inputs are perturbed for the robustness of the formulas that are chosen.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MineNoise {
    /// Normal draws; 0 leaves robustness out.
    pub draws: usize,
    /// The deviation of a factor; none for that of the index's daily returns on train days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
}

impl Default for MineNoise {
    fn default() -> Self {
        Self {
            draws: 1,
            sigma: None,
        }
    }
}

/// How random formulas are grown.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GrowthKeys {
    /// Levels of operators above a field, at most.
    pub levels: usize,
    /// The probability of a field at each level above the last.
    pub leaf: f64,
    /// Among operators, the share of those on one series.
    pub unary: f64,
    /// Of those on two series.
    pub binary: f64,
    /// Of those on one series with a window.
    pub window: f64,
    /// Of those on two series with a window.
    pub pair: f64,
    /// Fields by name.
    pub fields: Vec<String>,
    /// Windows and lags in rows.
    pub windows: Vec<i64>,
}

impl Default for GrowthKeys {
    fn default() -> Self {
        let FormulaGrowth {
            levels,
            leaf,
            unary,
            binary,
            window,
            pair,
            fields,
            windows,
        } = FormulaGrowth::default();
        Self {
            levels,
            leaf,
            unary,
            binary,
            window,
            pair,
            fields,
            windows,
        }
    }
}

impl GrowthKeys {
    pub(crate) fn growth(&self) -> FormulaGrowth {
        FormulaGrowth {
            levels: self.levels,
            leaf: self.leaf,
            unary: self.unary,
            binary: self.binary,
            window: self.window,
            pair: self.pair,
            fields: self.fields.iter().map(|field| field.to_lowercase()).collect(),
            windows: self.windows.clone(),
        }
    }
}

/// Which formulas are left out, and what a node costs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterKeys {
    /// Nodes of a formula, at most.
    pub max_nodes: usize,
    /// The share of the universe's train cells on which a formula must be present.
    pub present: f64,
    /// The share of train days on which it may be constant.
    pub constant_days: f64,
    /// Taken off the fitness for each node.
    pub node_cost: f64,
}

impl Default for FilterKeys {
    fn default() -> Self {
        Self {
            max_nodes: 32,
            present: 0.8,
            constant_days: 0.1,
            node_cost: 0.001,
        }
    }
}

/// The keys of the search by random growth.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomKeys {
    /// Formulas that are evaluated.
    pub evaluations: usize,
}

impl Default for RandomKeys {
    fn default() -> Self {
        Self { evaluations: 10_000 }
    }
}

/// The keys of genetic programming.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneticKeys {
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
    /// The share of children by crossover.
    pub crossover: f64,
    /// By a new subtree.
    pub subtree: f64,
    /// By hoisting a part.
    pub hoist: f64,
    /// By another operator, field or window.
    pub point: f64,
    /// By a new operator above a part.
    pub insertion: f64,
}

impl Default for GeneticKeys {
    fn default() -> Self {
        let GeneticSettings {
            population,
            children,
            generations,
            tournament,
            niche,
            variation,
        } = GeneticSettings::default();
        Self {
            evaluations: 10_000,
            population,
            children,
            generations,
            tournament,
            niche,
            crossover: variation.crossover,
            subtree: variation.subtree,
            hoist: variation.hoist,
            point: variation.point,
            insertion: variation.insertion,
        }
    }
}

impl GeneticKeys {
    pub(crate) const fn settings(&self) -> GeneticSettings {
        GeneticSettings {
            population: self.population,
            children: self.children,
            generations: self.generations,
            tournament: self.tournament,
            niche: self.niche,
            variation: Variation {
                crossover: self.crossover,
                subtree: self.subtree,
                hoist: self.hoist,
                point: self.point,
                insertion: self.insertion,
            },
        }
    }
}

/// Which formulas become the pool.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectKeys {
    /// Formulas of the pool, at most.
    pub take: usize,
    /// What the size of the mean daily rank correlation of each two stays below.
    pub correlation: f64,
    /// The fittest formulas that are looked at, of which each that orders names unlike the fitter ones may join.
    pub hall: usize,
}

impl Default for SelectKeys {
    fn default() -> Self {
        Self {
            take: 20,
            correlation: 0.7,
            hall: 1_000,
        }
    }
}

impl SelectKeys {
    pub(crate) const fn terms(&self) -> PoolTerms {
        PoolTerms {
            take: self.take,
            correlation: self.correlation,
        }
    }
}
