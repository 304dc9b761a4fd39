//! How trees are boosted.

use crate::error::LearnError;
use crate::real::count;

/// Settings of boosted trees, in the terms of `LightGBM`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostingSettings {
    /// Trees, one after another.
    pub trees: usize,
    /// The most leaves of a tree.
    pub leaves: usize,
    /// The most questions on the way to a leaf; `None`: as many as leaves allow.
    pub max_depth: Option<usize>,
    /// Share of a leaf's value that is added.
    pub learning_rate: f64,
    /// Share of the columns that a tree may ask about, drawn for each tree.
    pub column_share: f64,
    /// Penalty on the absolute value of a leaf.
    pub l1: f64,
    /// Penalty on the square of a leaf.
    pub l2: f64,
    /// The fewest rows of a leaf.
    pub min_rows: usize,
}

impl BoostingSettings {
    /// Those of the benchmark (docs/spec/leakage.md#models). Rows are not sampled: a share of rows without a
    /// frequency does nothing in `LightGBM` either.
    pub const BENCHMARK: Self = Self {
        trees: 150,
        leaves: 31,
        max_depth: Some(6),
        learning_rate: 0.05,
        column_share: 0.8,
        l1: 0.1,
        l2: 0.1,
        min_rows: 20,
    };

    pub(super) fn check(&self) -> Result<(), LearnError> {
        let invalid = |name, rule| Err(LearnError::Setting { name, rule });
        if self.leaves < 1 {
            return invalid("leaves", "at least 1");
        }
        if !(0.0 < self.learning_rate && self.learning_rate <= 1.0) {
            return invalid("learning_rate", "above 0 and at most 1");
        }
        if !(0.0 < self.column_share && self.column_share <= 1.0) {
            return invalid("column_share", "above 0 and at most 1");
        }
        let is_penalty = |value: f64| value.is_finite() && 0.0 <= value;
        if !(is_penalty(self.l1) && is_penalty(self.l2)) {
            return invalid("l1, l2", "finite numbers of at least 0");
        }
        Ok(())
    }

    /// How well one value fits the rows of a leaf: twice what it takes from the loss.
    pub(super) fn score(&self, sum: f64, rows: f64) -> f64 {
        let sum = self.soft(sum);
        sum * sum / (rows + self.l2)
    }

    /// The value of a leaf: the hessian of the squared error is 1 a row.
    pub(super) fn value(&self, sum: f64, rows: f64) -> f64 {
        -self.soft(sum) / (rows + self.l2) * self.learning_rate
    }

    /// Whether a leaf may have so many rows. Where `min_rows` allows a leaf of no row, its hessian does not.
    pub(super) fn may_be_leaf(&self, rows: f64) -> bool {
        const HESSIAN_MIN: f64 = 1e-3;
        count(self.min_rows).max(HESSIAN_MIN) <= rows
    }

    /// Whether a leaf at a depth may be cut.
    pub(super) fn may_split(&self, depth: usize, rows: usize) -> bool {
        self.max_depth.is_none_or(|most| depth < most) && self.min_rows.max(1) * 2 <= rows
    }

    fn soft(&self, sum: f64) -> f64 {
        (sum.abs() - self.l1).max(0.0).copysign(sum)
    }
}
