//! A number as a mask shows it: what tools may decide on, and the only number of a market that becomes a payload.

use crate::payload::Payload;

/// Number that a [`crate::Mask`] has made fit to be shown. Nothing else makes one.
///
/// Whoever orders, bounds or selects by [`Self::value`] decides on what is shown, so that no list tells what is hidden.
/// Where a number is shown as it is, the value has all its digits and only the text is rounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaskedNumber {
    value: f64,
    decimals: u32,
}

impl MaskedNumber {
    /// The number to decide by.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.value
    }

    pub(crate) const fn new(value: f64, decimals: u32) -> Self {
        Self { value, decimals }
    }

    /// A number that already lies on a grid.
    pub(crate) const fn gridded(value: f64) -> Self {
        const FINEST_GRID: u32 = 9;
        Self::new(value, FINEST_GRID)
    }

    /// A fraction, shown with four decimals (0.0123 is 1.23 %).
    pub(crate) const fn fraction(value: f64) -> Self {
        Self::new(value, 4)
    }

    /// A z-score or another number of order one, shown with three decimals.
    pub(crate) const fn score(value: f64) -> Self {
        Self::new(value, 3)
    }

    /// A share of a count (0.35 is 35 %), shown with two decimals.
    pub(crate) const fn share(value: f64) -> Self {
        Self::new(value, 2)
    }

    /// A number whose size varies widely (a raw factor), shown with four significant digits.
    pub(crate) fn significant(value: f64) -> Self {
        const DIGITS: u32 = 4;
        const MOST_DECIMALS: u32 = 12;
        let (mut decimals, mut rest) = (DIGITS - 1, value.abs());
        while 0.0 < rest && rest < 1.0 && decimals < MOST_DECIMALS {
            rest *= 10.0;
            decimals += 1;
        }
        while 10.0 <= rest && rest.is_finite() && 0 < decimals {
            rest /= 10.0;
            decimals -= 1;
        }
        Self::new(value, decimals)
    }

    /// A number of order one whose small values do not matter (a return, a gap): four significant digits, and four
    /// decimals at most.
    pub(crate) fn compact(value: f64) -> Self {
        let Self { decimals, .. } = Self::significant(value);
        Self::new(value, decimals.min(4))
    }
}

impl From<MaskedNumber> for Payload {
    fn from(number: MaskedNumber) -> Self {
        Self::number(number.value, number.decimals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_and_never_negative_zero() {
        for (number, shown) in [
            (MaskedNumber::fraction(0.012_345), "0.0123"),
            (MaskedNumber::score(-1.234_56), "-1.235"),
            (MaskedNumber::fraction(-0.000_01), "0"),
            (MaskedNumber::fraction(f64::NAN), "null"),
            (MaskedNumber::fraction(f64::INFINITY), "null"),
            (MaskedNumber::significant(0.000_123_456), "0.0001235"),
            (MaskedNumber::significant(-12.345_6), "-12.35"),
            (MaskedNumber::significant(98_765.4), "98765"),
            (MaskedNumber::significant(0.0), "0"),
            (MaskedNumber::compact(0.000_387_1), "0.0004"),
            (MaskedNumber::compact(-0.112_34), "-0.1123"),
            (MaskedNumber::compact(87.623_4), "87.62"),
            (MaskedNumber::share(0.3056), "0.31"),
            (MaskedNumber::significant(f64::INFINITY), "null"),
            (MaskedNumber::gridded(0.035), "0.035"),
            (MaskedNumber::gridded(33.3), "33.3"),
        ] {
            assert_eq!(Payload::from(number).to_json(), shown);
        }
    }
}
