//! The types of cells, and what an operator makes of them: numpy's rules, as far as the language needs them.

use crate::error::FormulaFault;
use crate::number::FormulaNumber;
use crate::operator::FormulaOperator;

/// The type of a series' cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellKind {
    /// 0 or 1, never missing.
    Boolean,
    /// An integer of 64 bits, never missing.
    Integer,
    /// float32.
    Single,
    /// float64.
    Double,
}

impl CellKind {
    /// Its name: `boolean`, `integer`, `float32`, `float64`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Single => "float32",
            Self::Double => "float64",
        }
    }

    /// The letter of the type: B, I, S or D.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Boolean => 'B',
            Self::Integer => 'I',
            Self::Single => 'S',
            Self::Double => 'D',
        }
    }

    /// What a shift or a window of another instrument makes of it: a float, since rows may be missing.
    pub(crate) const fn shifted(self) -> Self {
        match self {
            Self::Single => Self::Single,
            Self::Boolean | Self::Integer | Self::Double => Self::Double,
        }
    }
}

/// One side of an operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Series(CellKind),
    Number(FormulaNumber),
}

/// The type in which two sides meet; `None` for two numbers.
pub(crate) const fn common(left: Side, right: Side) -> Option<CellKind> {
    use CellKind::{Boolean, Double, Integer, Single};
    match (left, right) {
        (Side::Number(_), Side::Number(_)) => None,
        (Side::Series(kind), Side::Number(number)) | (Side::Number(number), Side::Series(kind)) => {
            Some(match (kind, number) {
                (Single, _) => Single,
                (Boolean | Integer, FormulaNumber::Integer(_)) => Integer,
                (Double, _) | (Boolean | Integer, FormulaNumber::Float(_)) => Double,
            })
        }
        (Side::Series(left), Side::Series(right)) => Some(match (left, right) {
            (Boolean, Boolean) => Boolean,
            (Integer, Integer | Boolean) | (Boolean, Integer) => Integer,
            (Single, Single | Boolean) | (Boolean, Single) => Single,
            (Double, _) | (_, Double) | (Integer, Single) | (Single, Integer) => Double,
        }),
    }
}

/// The type of an operator on two sides: the one in which it is computed, and the one of its result.
pub(crate) fn two_sided(
    operator: FormulaOperator,
    left: Side,
    right: Side,
) -> Result<(CellKind, CellKind), FormulaFault> {
    let is_boolean = |side: Side| side == Side::Series(CellKind::Boolean);
    let both_boolean = is_boolean(left) && is_boolean(right);
    let kind = common(left, right).ok_or(FormulaFault::NotASeries)?;
    if operator.is_comparison() {
        let computed = if kind == CellKind::Boolean {
            CellKind::Integer
        } else {
            kind
        };
        return Ok((computed, CellKind::Boolean));
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the arithmetic without a rule of its own"
    )]
    match operator {
        FormulaOperator::And | FormulaOperator::Or if !both_boolean => Err(FormulaFault::NotBoolean),
        FormulaOperator::Sub | FormulaOperator::Div if both_boolean => Err(FormulaFault::BooleanArithmetic),
        FormulaOperator::Power if is_boolean(left) || is_boolean(right) => {
            Err(FormulaFault::BooleanArithmetic)
        }
        FormulaOperator::Div if kind == CellKind::Integer => Ok((CellKind::Double, CellKind::Double)),
        FormulaOperator::Power if kind == CellKind::Integer => {
            let stays = matches!(right, Side::Number(FormulaNumber::Integer(exponent)) if 0 <= exponent);
            let kind = if stays {
                CellKind::Integer
            } else {
                CellKind::Double
            };
            Ok((kind, kind))
        }
        _ => Ok((kind, kind)),
    }
}

/// The type of a choice between two values.
pub(crate) fn choice(left: Side, right: Side) -> CellKind {
    common(left, right).unwrap_or({
        if matches!(
            (left, right),
            (
                Side::Number(FormulaNumber::Integer(_)),
                Side::Number(FormulaNumber::Integer(_))
            )
        ) {
            CellKind::Integer
        } else {
            CellKind::Double
        }
    })
}

/// The type of an operator on one series.
pub(crate) fn one_sided(operator: FormulaOperator, kind: CellKind) -> Result<CellKind, FormulaFault> {
    let is_boolean = kind == CellKind::Boolean;
    #[expect(clippy::wildcard_enum_match_arm, reason = "Abs keeps the type")]
    match operator {
        FormulaOperator::Sign => Ok(CellKind::Single),
        FormulaOperator::Log if is_boolean => Err(FormulaFault::BooleanArithmetic),
        FormulaOperator::Log => Ok(kind.shifted()),
        FormulaOperator::Not if !is_boolean => Err(FormulaFault::NotBoolean),
        _ => Ok(kind),
    }
}

/// The type of an operator with a window.
pub(crate) fn windowed(operator: FormulaOperator, kind: CellKind, rows: FormulaNumber) -> CellKind {
    #[expect(clippy::wildcard_enum_match_arm, reason = "windows answer in float64")]
    match operator {
        FormulaOperator::Ref if rows == FormulaNumber::Integer(0) => kind,
        FormulaOperator::Ref | FormulaOperator::Delta => kind.shifted(),
        _ => CellKind::Double,
    }
}
