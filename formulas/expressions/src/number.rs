//! Numbers of the language: Python's integers and floats, within 64 bits.

use crate::casts::float_of;
use std::fmt;

/// A number in a formula: an integer stays an integer, as in Python.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FormulaNumber {
    /// An integer of 64 bits.
    Integer(i64),
    /// A finite float.
    Float(f64),
}

impl FormulaNumber {
    /// The number as a float.
    #[must_use]
    pub fn float(self) -> f64 {
        match self {
            Self::Integer(value) => float_of(value),
            Self::Float(value) => value,
        }
    }

    fn finite(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Float(value))
    }

    /// Either the integer operation on two integers, or the float operation on anything.
    fn mixed(
        self,
        other: Self,
        integers: impl Fn(i64, i64) -> Option<i64>,
        floats: impl Fn(f64, f64) -> f64,
    ) -> Option<Self> {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => integers(left, right).map(Self::Integer),
            (left, right) => Self::finite(floats(left.float(), right.float())),
        }
    }

    /// The sum, unless it leaves the range.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.mixed(other, i64::checked_add, |left, right| left + right)
    }

    /// The difference, unless it leaves the range.
    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.mixed(other, i64::checked_sub, |left, right| left - right)
    }

    /// The product, unless it leaves the range.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        self.mixed(other, i64::checked_mul, |left, right| left * right)
    }

    /// The quotient, always a float.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        Self::finite(self.float() / other.float())
    }

    /// The number with its sign turned.
    pub(crate) fn negated(self) -> Option<Self> {
        match self {
            Self::Integer(value) => value.checked_neg().map(Self::Integer),
            Self::Float(value) => Some(Self::Float(-value)),
        }
    }

    /// The power. Python would compute huge ones for ever; here they are out of range at once.
    pub(crate) fn to_the(self, exponent: Self) -> Option<Self> {
        match (self, exponent) {
            (Self::Integer(base), Self::Integer(exponent)) if 0 <= exponent => {
                // Only 0, 1 and -1 have such powers within the range, and those of -1 depend on the exponent's last bit alone.
                let last = u32::MAX - 1 + u32::from(exponent % 2 == 1);
                let exponent = u32::try_from(exponent).unwrap_or(last);
                base.checked_pow(exponent).map(Self::Integer)
            }
            (base, exponent) => Self::finite(libm::pow(base.float(), exponent.float())),
        }
    }
}

/// As Python's `repr` writes it: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
impl fmt::Display for FormulaNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match *self {
            Self::Integer(value) => return write!(formatter, "{value}"),
            Self::Float(value) => value,
        };
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if (-4..16).contains(&exponent) {
            return write!(formatter, "{value:?}");
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(formatter, "{digits}e{sign}{:02}", exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::FormulaNumber::{Float, Integer};

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (value, text) in [
            (1e-12, "1e-12"),
            (0.1, "0.1"),
            (1e22, "1e+22"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (123_456_789.123, "123456789.123"),
            (5.0, "5.0"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1.5e-7, "1.5e-07"),
            (-0.0, "-0.0"),
            (1.0 / 3.0, "0.3333333333333333"),
            (-1.25e300, "-1.25e+300"),
        ] {
            assert_eq!(Float(value).to_string(), text);
        }
    }

    #[test]
    fn integers_leave_their_range_instead_of_wrapping() {
        assert_eq!(Integer(i64::MAX).plus(Integer(1)), None);
        assert_eq!(Integer(9).to_the(Integer(387_420_489)), None);
        assert_eq!(Integer(1).to_the(Integer(i64::MAX)), Some(Integer(1)));
        assert_eq!(Integer(-1).to_the(Integer(1 << 32)), Some(Integer(1)));
        assert_eq!(Integer(-1).to_the(Integer((1 << 32) + 1)), Some(Integer(-1)));
        assert_eq!(Integer(2).to_the(Integer(-1)), Some(Float(0.5)));
        assert_eq!(Integer(1).over(Integer(0)), None);
        assert_eq!(Integer(4).over(Integer(2)), Some(Float(2.0)));
    }
}
