//! How many rows a formula reads before and after the row it is about.

use crate::formula::Formula;
use crate::number::FormulaNumber;
use crate::operator::{FormulaOperator, OperatorShape};
use std::fmt;

/// How many earlier rows a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowsBack {
    /// So many rows before.
    Rows(u64),
    /// All rows since the name's first.
    All,
}

impl RowsBack {
    fn plus(self, rows: u64) -> Self {
        match self {
            Self::Rows(before) => Self::Rows(before + rows),
            Self::All => Self::All,
        }
    }
}

impl fmt::Display for RowsBack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(formatter, "{rows}"),
            Self::All => formatter.write_str("all"),
        }
    }
}

/// How far a formula reads back and ahead, by its structure alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormulaReach {
    /// Rows before.
    pub back: RowsBack,
    /// Rows after: 0 in all but labels. A later lag gives none of them back.
    pub forward: u64,
}

impl FormulaReach {
    const HERE: Self = Self {
        back: RowsBack::Rows(0),
        forward: 0,
    };

    /// The reach of a formula.
    #[must_use]
    pub fn of(formula: &Formula) -> Self {
        let inner = formula
            .parts()
            .iter()
            .map(Self::of)
            .fold(Self::HERE, Self::joined);
        let Formula::Apply(operator, parts) = formula else {
            return inner;
        };
        let rows = match operator.shape() {
            OperatorShape::Window | OperatorShape::Quantile => parts.get(1),
            OperatorShape::Pair => parts.get(2),
            OperatorShape::One
            | OperatorShape::Two
            | OperatorShape::Choice
            | OperatorShape::CodeFirst
            | OperatorShape::CodeLast => return inner,
        };
        match rows {
            Some(Formula::Number(FormulaNumber::Integer(rows))) => inner.windowed(*operator, *rows),
            _ => Self {
                back: RowsBack::All,
                ..inner
            },
        }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            back: self.back.max(other.back),
            forward: self.forward.max(other.forward),
        }
    }

    fn windowed(self, operator: FormulaOperator, rows: i64) -> Self {
        let distance = rows.unsigned_abs();
        if rows < 0 {
            return Self {
                forward: self.forward + distance,
                ..self
            };
        }
        if rows == 0 || operator == FormulaOperator::EMA {
            return Self {
                back: RowsBack::All,
                ..self
            };
        }
        let rows = if operator.is_shift() {
            distance
        } else {
            distance - 1
        };
        Self {
            back: self.back.plus(rows),
            ..self
        }
    }
}
