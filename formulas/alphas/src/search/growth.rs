//! Random formulas: what a search begins with, and what it must beat.

use ktd_env::KeyedStream;
use ktd_expressions::{Formula, FormulaNumber, FormulaOperator};
use serde::{Deserialize, Serialize};

pub(super) const UNARY: [FormulaOperator; 3] =
    [FormulaOperator::Abs, FormulaOperator::Sign, FormulaOperator::Log];
pub(super) const BINARY: [FormulaOperator; 6] = [
    FormulaOperator::Add,
    FormulaOperator::Sub,
    FormulaOperator::Mul,
    FormulaOperator::Div,
    FormulaOperator::Greater,
    FormulaOperator::Less,
];
pub(super) const WINDOWED: [FormulaOperator; 20] = [
    FormulaOperator::Ref,
    FormulaOperator::Delta,
    FormulaOperator::Mean,
    FormulaOperator::Sum,
    FormulaOperator::Std,
    FormulaOperator::Var,
    FormulaOperator::Skew,
    FormulaOperator::Kurt,
    FormulaOperator::Max,
    FormulaOperator::Min,
    FormulaOperator::Med,
    FormulaOperator::Mad,
    FormulaOperator::IdxMax,
    FormulaOperator::IdxMin,
    FormulaOperator::Rank,
    FormulaOperator::Slope,
    FormulaOperator::Rsquare,
    FormulaOperator::Resi,
    FormulaOperator::WMA,
    FormulaOperator::EMA,
];
pub(super) const PAIRED: [FormulaOperator; 2] = [FormulaOperator::Corr, FormulaOperator::Cov];

/// How random formulas are grown: from the top down, a field or an operator at each level.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FormulaGrowth {
    /// Levels of operators above a field, at most.
    pub levels: usize,
    /// The probability of a field at each level above the last.
    pub leaf: f64,
    /// Among operators, the share of those on one series.
    pub unary: f64,
    /// The share of those on two series.
    pub binary: f64,
    /// The share of those on one series with a window.
    pub window: f64,
    /// The share of those on two series with a window.
    pub pair: f64,
    /// Fields by name, in lower case.
    pub fields: Vec<String>,
    /// Windows and lags in rows.
    pub windows: Vec<i64>,
}

impl Default for FormulaGrowth {
    fn default() -> Self {
        let fields = ["open", "high", "low", "close", "volume", "vwap"];
        Self {
            levels: 4,
            leaf: 0.2,
            unary: 0.15,
            binary: 0.35,
            window: 0.43,
            pair: 0.07,
            fields: fields.map(str::to_owned).to_vec(),
            windows: vec![5, 10, 20, 30, 60],
        }
    }
}

impl FormulaGrowth {
    /// Draws a formula.
    #[must_use]
    pub fn formula(&self, stream: &mut KeyedStream) -> Formula {
        self.grown(stream, 0)
    }

    /// Draws a part for a formula that has others: of at most half the levels.
    pub(super) fn part(&self, stream: &mut KeyedStream) -> Formula {
        self.grown(stream, self.levels - self.levels / 2)
    }

    /// An operator above a part; its other series is small, and stands on either side.
    pub(super) fn above(&self, part: &Formula, stream: &mut KeyedStream) -> Formula {
        let side = place_below(stream, 2);
        let mut above = self.operator(stream, &mut |stream, place| {
            if place == 0 {
                part.clone()
            } else {
                self.grown(stream, self.levels.saturating_sub(1))
            }
        });
        if let Formula::Apply(operator, parts) = &mut above
            && side == 1
            && BINARY.contains(operator)
        {
            parts.reverse();
        }
        above
    }

    fn grown(&self, stream: &mut KeyedStream, level: usize) -> Formula {
        if self.levels <= level || stream.uniform() < self.leaf {
            return self.field(stream);
        }
        self.operator(stream, &mut |stream, _| self.grown(stream, level + 1))
    }

    /// An operator, its series drawn by their place: from left to right.
    fn operator(
        &self,
        stream: &mut KeyedStream,
        series: &mut dyn FnMut(&mut KeyedStream, usize) -> Formula,
    ) -> Formula {
        let kind = stream.uniform() * (self.unary + self.binary + self.window + self.pair);
        if kind < self.unary {
            let operator = picked(stream, &UNARY).unwrap_or(FormulaOperator::Abs);
            return Formula::Apply(operator, vec![series(stream, 0)]);
        }
        if kind < self.unary + self.binary {
            let operator = picked(stream, &BINARY).unwrap_or(FormulaOperator::Sub);
            let left = series(stream, 0);
            return Formula::Apply(operator, vec![left, series(stream, 1)]);
        }
        if kind < self.unary + self.binary + self.window {
            let operator = picked(stream, &WINDOWED).unwrap_or(FormulaOperator::Mean);
            let inner = series(stream, 0);
            return Formula::Apply(operator, vec![inner, self.rows(stream)]);
        }
        let operator = picked(stream, &PAIRED).unwrap_or(FormulaOperator::Corr);
        let left = series(stream, 0);
        let right = series(stream, 1);
        Formula::Apply(operator, vec![left, right, self.rows(stream)])
    }

    pub(super) fn field(&self, stream: &mut KeyedStream) -> Formula {
        let place = place_below(stream, self.fields.len());
        Formula::Field(self.fields.get(place).cloned().unwrap_or_default())
    }

    pub(super) fn rows(&self, stream: &mut KeyedStream) -> Formula {
        let rows = picked(stream, &self.windows).unwrap_or(1);
        Formula::Number(FormulaNumber::Integer(rows))
    }
}

/// A place from 0 to one below a bound.
pub(super) fn place_below(stream: &mut KeyedStream, bound: usize) -> usize {
    let place = stream.below(u64::try_from(bound).unwrap_or(u64::MAX));
    usize::try_from(place).unwrap_or(0)
}

pub(super) fn picked<T: Copy>(stream: &mut KeyedStream, of: &[T]) -> Option<T> {
    of.get(place_below(stream, of.len())).copied()
}

#[cfg(test)]
mod tests {
    use super::FormulaGrowth;
    use ktd_env::KeyedStream;
    use ktd_expressions::{FormulaFault, FormulaRole, check_formula};
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_decides_its_formulas() {
        let drawn = |seed| -> Vec<String> {
            let mut stream = KeyedStream::for_purpose(seed, "random formulas");
            (0..50)
                .map(|_| FormulaGrowth::default().formula(&mut stream).to_string())
                .collect()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn draws_are_formulas_of_many_shapes() {
        let mut stream = KeyedStream::for_purpose(7, "random formulas");
        let mut operators = BTreeSet::new();
        let mut kept = 0;
        for _ in 0..2_000 {
            let text = FormulaGrowth::default().formula(&mut stream).to_string();
            match check_formula(&text, &FormulaGrowth::default().fields, FormulaRole::Alpha) {
                Ok(checked) => {
                    assert_eq!(checked.canonical(), text);
                    kept += 1;
                }
                Err(error) => assert_eq!(error.fault, FormulaFault::TooLarge, "{text}: {error}"),
            }
            operators.extend(
                text.split(['(', ','])
                    .filter(|part| part.starts_with(char::is_uppercase))
                    .map(str::to_owned),
            );
        }
        assert!(1_990 < kept, "{kept}");
        assert_eq!(operators.len(), 31, "{operators:?}");
    }
}
