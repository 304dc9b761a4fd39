//! Layer 3: whether values are those of the definition, by the published rule and by the strict one.

use crate::casts::{equal, float, twelve_digits};
use crate::panel::spread;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The thresholds of both rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccuracyRules {
    /// The published rule: the least correlation.
    pub correlation: f64,
    /// The published rule: the largest normalised root mean square error.
    pub error: f64,
    /// The strict rule: the largest normalised root mean square error.
    pub strict_error: f64,
    /// The strict rule: the least share of rows from the warm-up on that are missing in both or in neither.
    pub mask_agreement: f64,
    /// Whether the form of a reply (a fence, a name, a missing docstring, several functions) is a part of layer 4.
    pub gates_format: bool,
}

impl AccuracyRules {
    /// The published thresholds, and ours for the strict rule.
    pub const DEFAULT: Self = Self {
        correlation: 0.999,
        error: 0.001,
        strict_error: 1e-6,
        mask_agreement: 0.99,
        gates_format: false,
    };
}

/// The fewest common rows, whatever the golden column has.
const LEAST_COMMON_ROWS: usize = 30;

/// How a column compares with the golden one: figures, from which every rule and threshold follows.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccuracyFigures {
    /// Rows where the golden column has a value.
    pub golden_rows: usize,
    /// Rows where the candidate has a value.
    pub candidate_rows: usize,
    /// Rows where both have a value.
    pub common_rows: usize,
    /// Whether all common values are equal.
    pub exact: bool,
    /// Pearson's correlation over common rows; `None` where one of the two is constant or the rows are too few.
    pub correlation: Option<f64>,
    /// Root mean square error over common rows, over the spread of the golden values; `None` where rows are too few.
    pub error: Option<f64>,
    /// The share of rows from the warm-up on that are missing in both or in neither; `None` without such a row.
    pub mask_agreement: Option<f64>,
    /// Rows before the warm-up where the candidate alone has a value.
    pub early_rows: usize,
}

impl AccuracyFigures {
    /// The figures of a candidate against the golden column of the same rows.
    #[must_use]
    pub fn of(candidate: &[f64], golden: &[f64], warm_up: usize) -> Self {
        let rows = || candidate.iter().copied().zip(golden.iter().copied());
        let there = |cell: &f64| !cell.is_nan();
        let common = || rows().filter(|(one, other)| there(one) && there(other));
        let golden_rows = golden.iter().filter(|cell| there(cell)).count();
        let common_rows = common().count();
        let early = rows()
            .take(warm_up)
            .filter(|(one, other)| there(one) && !there(other));
        let tail = rows().skip(warm_up);
        let agreeing = tail
            .clone()
            .filter(|(one, other)| there(one) == there(other))
            .count();
        let tail_rows = tail.count();
        let mut figures = Self {
            golden_rows,
            candidate_rows: candidate.iter().filter(|cell| there(cell)).count(),
            common_rows,
            exact: false,
            correlation: None,
            error: None,
            mask_agreement: (0 < tail_rows).then(|| float(agreeing) / float(tail_rows)),
            early_rows: early.count(),
        };
        if figures.has_enough_rows() {
            let (own, theirs): (Vec<f64>, Vec<f64>) = common().unzip();
            figures.exact = common().all(|(one, other)| equal(one, other));
            figures.compare(&own, &theirs);
        }
        figures
    }

    /// The same rounded to the twelve digits that records hold.
    pub(crate) fn rounded(self) -> Self {
        let rounded = |figure: Option<f64>| figure.filter(|value| value.is_finite()).map(twelve_digits);
        Self {
            correlation: rounded(self.correlation),
            error: rounded(self.error),
            mask_agreement: rounded(self.mask_agreement),
            ..self
        }
    }

    /// Whether enough rows are common: half of the golden ones, and no fewer than 30.
    fn has_enough_rows(&self) -> bool {
        0 < self.golden_rows && LEAST_COMMON_ROWS.max(self.golden_rows.div_ceil(2)) <= self.common_rows
    }

    fn compare(&mut self, own: &[f64], golden: &[f64]) {
        let squares = own
            .iter()
            .zip(golden)
            .map(|(one, other)| (one - other) * (one - other));
        let root = (squares.sum::<f64>() / float(own.len())).sqrt();
        if is_constant(golden) {
            let level = golden.first().copied().unwrap_or(0.0).abs().max(1.0);
            self.error = Some(root / level);
            return;
        }
        self.error = Some(root / spread(golden.iter().copied()));
        if !is_constant(own) {
            self.correlation = Some(correlation(own, golden));
        }
    }

    /// Whether the published rule accepts the column.
    #[must_use]
    pub fn is_published_right(&self, rules: &AccuracyRules) -> bool {
        if self.golden_rows == 0 {
            return self.candidate_rows == 0;
        }
        self.exact || self.has_small_error(rules) || self.has_high_correlation(rules)
    }

    /// Whether the strict rule accepts it.
    #[must_use]
    pub fn is_right(&self, rules: &AccuracyRules) -> bool {
        if self.golden_rows == 0 {
            return self.candidate_rows == 0;
        }
        self.error.is_some_and(|error| error <= rules.strict_error)
            && self
                .mask_agreement
                .is_some_and(|share| rules.mask_agreement <= share)
            && self.early_rows == 0
    }

    /// Whether the published rule accepts it by its correlation alone: the values are on another scale.
    #[must_use]
    pub fn is_scale_error(&self, rules: &AccuracyRules) -> bool {
        self.has_high_correlation(rules) && !self.has_small_error(rules) && !self.exact
    }

    fn has_small_error(&self, rules: &AccuracyRules) -> bool {
        self.error.is_some_and(|error| error <= rules.error)
    }

    fn has_high_correlation(&self, rules: &AccuracyRules) -> bool {
        self.correlation.is_some_and(|found| rules.correlation <= found)
    }
}

/// The first row where a candidate differs from the golden column, and how many of them do.
#[must_use]
pub fn differing_rows(candidate: &[f64], golden: &[f64], rules: &AccuracyRules) -> Option<DifferingRows> {
    let scale = spread(golden.iter().copied());
    let differs = |(own, theirs): (&f64, &f64)| match (own.is_nan(), theirs.is_nan()) {
        (true, true) => false,
        (false, false) => rules.strict_error * theirs.abs().max(scale) < (own - theirs).abs(),
        _ => true,
    };
    let marks: Vec<bool> = candidate.iter().zip(golden).map(differs).collect();
    let first = marks.iter().position(|differs| *differs)?;
    Some(DifferingRows {
        first,
        count: marks.iter().filter(|differs| **differs).count(),
        rows: marks.len(),
    })
}

/// Where a candidate differs from the golden column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferingRows {
    /// The first row that differs.
    pub first: usize,
    /// How many differ.
    pub count: usize,
    /// How many there are.
    pub rows: usize,
}

fn is_constant(cells: &[f64]) -> bool {
    let first = cells.first().copied().unwrap_or(f64::NAN);
    cells.iter().all(|cell| equal(*cell, first))
}

fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let mean = |cells: &[f64]| cells.iter().sum::<f64>() / float(cells.len());
    let (of_left, of_right) = (mean(left), mean(right));
    let (mut products, mut left_squares, mut right_squares) = (0.0, 0.0, 0.0);
    for (one, other) in left.iter().zip(right) {
        let (one, other) = (one - of_left, other - of_right);
        products += one * other;
        left_squares += one * one;
        right_squares += other * other;
    }
    products / (left_squares * right_squares).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &AccuracyRules = &AccuracyRules::DEFAULT;

    fn wave(rows: u32) -> Vec<f64> {
        (0..rows).map(|row| libm::sin(f64::from(row) * 0.7)).collect()
    }

    #[test]
    fn the_published_rule_takes_a_scaled_factor_and_the_strict_one_does_not() {
        let golden = wave(100);
        let scaled: Vec<f64> = golden.iter().map(|cell| 2.0 * cell + 1.0).collect();
        let figures = AccuracyFigures::of(&scaled, &golden, 0);
        assert!(figures.is_published_right(RULES) && figures.is_scale_error(RULES));
        assert!(!figures.is_right(RULES));
        let same = AccuracyFigures::of(&golden, &golden, 0);
        assert!(same.is_right(RULES) && same.is_published_right(RULES) && !same.is_scale_error(RULES));
    }

    #[test]
    fn a_filled_warm_up_is_not_right() {
        let mut golden = wave(100);
        golden[..20].fill(f64::NAN);
        let mut filled = golden.clone();
        filled[..20].fill(0.0);
        let figures = AccuracyFigures::of(&filled, &golden, 20);
        assert_eq!(figures.early_rows, 20);
        assert!(figures.is_published_right(RULES) && !figures.is_right(RULES));
    }

    #[test]
    fn constants_have_no_correlation_and_empty_columns_must_be_empty() {
        let constant = vec![1e-9; 100];
        let figures = AccuracyFigures::of(&vec![0.0; 100], &constant, 0);
        assert_eq!(figures.correlation, None);
        assert!(figures.is_right(RULES));
        let figures = AccuracyFigures::of(&constant, &wave(100), 0);
        assert_eq!(figures.correlation, None);
        assert!(!figures.is_published_right(RULES));
        let missing = vec![f64::NAN; 100];
        assert!(AccuracyFigures::of(&missing, &missing, 0).is_right(RULES));
        assert!(!AccuracyFigures::of(&constant, &missing, 0).is_published_right(RULES));
    }

    #[test]
    fn too_few_common_rows_decide_nothing() {
        let golden = wave(100);
        let mut short = golden.clone();
        short[49..].fill(f64::NAN);
        let figures = AccuracyFigures::of(&short, &golden, 0);
        assert_eq!((figures.common_rows, figures.error), (49, None));
        assert!(!figures.is_published_right(RULES));
        short[49] = golden[49];
        assert!(AccuracyFigures::of(&short, &golden, 0).is_published_right(RULES));
    }

    #[test]
    fn differing_rows_are_counted_from_the_first() {
        let golden = wave(50);
        let mut other = golden.clone();
        other[7] += 1.0;
        other[9] = f64::NAN;
        let found = differing_rows(&other, &golden, RULES).unwrap();
        assert_eq!((found.first, found.count, found.rows), (7, 2, 50));
        assert_eq!(differing_rows(&golden, &golden, RULES), None);
    }
}
