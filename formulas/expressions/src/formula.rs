//! The tree of a formula, and its canonical form.

use crate::number::FormulaNumber;
use crate::operator::FormulaOperator;
use std::fmt;

/// A formula as a tree. It prints as its canonical form, which parses to itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// A number.
    Number(FormulaNumber),
    /// A field by its name in lower case, without the dollar sign.
    Field(String),
    /// An operator on its arguments; windows and shares are numbers among them.
    Apply(FormulaOperator, Vec<Self>),
    /// A series of another instrument: by `ChangeInstrument` or `Mask`.
    Elsewhere(FormulaOperator, String, Box<Self>),
}

impl Formula {
    /// The parts directly below.
    #[must_use]
    pub fn parts(&self) -> &[Self] {
        match self {
            Self::Number(_) | Self::Field(_) => &[],
            Self::Apply(_, parts) => parts,
            Self::Elsewhere(_, _, inner) => std::slice::from_ref(inner),
        }
    }

    /// The number of operators, fields and numbers, windows among them.
    #[must_use]
    pub fn nodes(&self) -> usize {
        1 + self.parts().iter().map(Self::nodes).sum::<usize>()
    }

    /// The number of levels: 1 for a field.
    #[must_use]
    pub fn depth(&self) -> usize {
        1 + self.parts().iter().map(Self::depth).max().unwrap_or(0)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Field(name) => write!(formatter, "${name}"),
            Self::Apply(operator, parts) => {
                write!(formatter, "{operator}(")?;
                for (place, part) in parts.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(formatter, "{comma}{part}")?;
                }
                formatter.write_str(")")
            }
            Self::Elsewhere(FormulaOperator::Mask, code, inner) => {
                write!(formatter, "Mask({inner},{})", code.to_lowercase())
            }
            Self::Elsewhere(operator, code, inner) => {
                write!(formatter, "{operator}('{code}',{inner})")
            }
        }
    }
}
