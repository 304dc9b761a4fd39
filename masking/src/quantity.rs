//! Scale-free quantities: the only numbers that become payloads without passing a mask.
//!
//! Prices, share counts, volumes, index levels and money tell which stock they belong to, so they convert only
//! through the methods of [`crate::Mask`].

/// How many of something (candidates, days, orders).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(u32);

impl Count {
    /// The number of items in a collection.
    #[must_use]
    pub fn of(count: usize) -> Self {
        Self(u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

/// A place in an order, 1 for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u32);

impl Rank {
    /// The rank of the item at a 0-based position.
    #[must_use]
    pub fn of_position(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX - 1).saturating_add(1))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

/// A dimensionless number (return, weight, z-score, share of something), shown with a fixed number of decimals.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Ratio {
    value: f64,
    decimals: u32,
}

impl Ratio {
    /// A fraction, shown with four decimals (0.0123 is 1.23 %).
    #[must_use]
    pub const fn fraction(value: f64) -> Self {
        Self { value, decimals: 4 }
    }

    /// A z-score or another number of order one, shown with three decimals.
    #[must_use]
    pub const fn score(value: f64) -> Self {
        Self { value, decimals: 3 }
    }

    /// A number whose size varies widely (a raw factor), shown with four significant digits.
    #[must_use]
    pub fn significant(value: f64) -> Self {
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
        Self { value, decimals }
    }

    /// A number of order one whose small values do not matter (a return, a gap): four significant digits, and four
    /// decimals at most.
    #[must_use]
    pub fn compact(value: f64) -> Self {
        let Self { decimals, .. } = Self::significant(value);
        Self {
            value,
            decimals: decimals.min(4),
        }
    }

    /// A share of a count (0.35 is 35 %), shown with two decimals.
    #[must_use]
    pub const fn share(value: f64) -> Self {
        Self { value, decimals: 2 }
    }

    /// A portfolio weight, shown with six decimals, which is what an order may carry.
    #[must_use]
    pub const fn weight(value: f64) -> Self {
        Self { value, decimals: 6 }
    }

    pub(crate) const fn get(self) -> f64 {
        self.value
    }

    pub(crate) const fn decimals(self) -> u32 {
        self.decimals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;

    #[test]
    fn ratios_are_rounded_and_never_negative_zero() {
        for (ratio, shown) in [
            (Ratio::fraction(0.012_345), "0.0123"),
            (Ratio::score(-1.234_56), "-1.235"),
            (Ratio::weight(0.123_456_78), "0.123457"),
            (Ratio::fraction(-0.000_01), "0"),
            (Ratio::fraction(f64::NAN), "null"),
            (Ratio::fraction(f64::INFINITY), "null"),
            (Ratio::significant(0.000_123_456), "0.0001235"),
            (Ratio::significant(-12.345_6), "-12.35"),
            (Ratio::significant(98_765.4), "98765"),
            (Ratio::significant(0.0), "0"),
            (Ratio::compact(0.000_387_1), "0.0004"),
            (Ratio::compact(-0.112_34), "-0.1123"),
            (Ratio::compact(87.623_4), "87.62"),
            (Ratio::share(0.3056), "0.31"),
            (Ratio::significant(f64::INFINITY), "null"),
        ] {
            assert_eq!(Payload::from(ratio).to_json(), shown);
        }
    }

    #[test]
    fn counts_and_ranks_saturate() {
        assert_eq!(Payload::from(Count::of(7)).to_json(), "7");
        assert_eq!(Payload::from(Rank::of_position(0)).to_json(), "1");
        assert_eq!(
            Payload::from(Count::of(usize::MAX)).to_json(),
            u32::MAX.to_string()
        );
    }
}
