//! Money and quantities: integers with their unit in the type.
//!
//! | operation | result |
//! |---|---|
//! | `Price * Shares` | `Fen` |
//! | `Fen + Fen`, `Fen - Fen`, sum of `Fen` | `Fen` |
//! | `Shares + Shares`, `Shares - Shares` | `Shares` |
//!
//! No float decides a fill; [`Fen::to_yuan`] and [`Price::to_yuan`] are for display and for metrics.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// An amount of money in fen (CNY 0.01).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Fen(pub i64);

/// A price in fen a share, greater than 0 for a price that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Price(pub i64);

/// A whole number of shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Shares(pub i64);

const FEN_PER_YUAN: f64 = 100.0;

impl Fen {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// The amount in yuan, for display and metrics.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "accounts stay far below 2^53 fen")]
    pub fn to_yuan(self) -> f64 {
        self.0 as f64 / FEN_PER_YUAN
    }
}

impl Price {
    /// The price in yuan a share, for display and factors.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "prices stay far below 2^53 fen")]
    pub fn to_yuan(self) -> f64 {
        self.0 as f64 / FEN_PER_YUAN
    }
}

impl Shares {
    /// No shares.
    pub const ZERO: Self = Self(0);

    /// The count as a float, for ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "share counts stay far below 2^53")]
    pub const fn to_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Mul<Shares> for Price {
    type Output = Fen;
    fn mul(self, shares: Shares) -> Fen {
        Fen(self.0.saturating_mul(shares.0))
    }
}

macro_rules! additive {
    ($unit:ident) => {
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
        impl Neg for $unit {
            type Output = Self;
            fn neg(self) -> Self {
                Self(self.0.saturating_neg())
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self(0), Add::add)
            }
        }
    };
}

additive!(Fen);
additive!(Shares);

/// `numerator / denominator` rounded half-up, both positive or zero numerator; saturates.
pub(crate) fn divide_half_up(numerator: i128, denominator: i128) -> i64 {
    divide_down(
        numerator.saturating_mul(2).saturating_add(denominator),
        denominator.saturating_mul(2),
    )
}

/// `numerator / denominator` rounded down, denominator 1 at least; saturates upwards.
#[inline]
pub(crate) fn divide_down(numerator: i128, denominator: i128) -> i64 {
    // Amounts of one account fit the machine's own division, which is several times faster than the wide one.
    if let (Ok(numerator), Ok(denominator)) = (u64::try_from(numerator), u64::try_from(denominator)) {
        return i64::try_from(numerator / denominator.max(1)).unwrap_or(i64::MAX);
    }
    i64::try_from(numerator.div_euclid(denominator.max(1))).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_up_division() {
        assert_eq!(divide_half_up(5, 10), 1);
        assert_eq!(divide_half_up(4, 10), 0);
        assert_eq!(divide_half_up(15, 10), 2);
        assert_eq!(divide_half_up(0, 7), 0);
    }

    /// Around the last numerator that the machine's own division takes.
    #[test]
    fn narrow_and_wide_division_agree() {
        let edge = i128::from(u64::MAX);
        for numerator in [-7, 0, 6, 7, edge - 1, edge, edge + 1, edge * 9] {
            for denominator in [1, 7, 10_000, edge, edge + 1] {
                let expected = i64::try_from(numerator.div_euclid(denominator)).unwrap_or(i64::MAX);
                assert_eq!(
                    divide_down(numerator, denominator),
                    expected,
                    "{numerator} {denominator}"
                );
            }
        }
    }

    #[test]
    fn a_price_times_shares_is_money() {
        assert_eq!(Price(1000) * Shares(300), Fen(300_000));
    }
}
