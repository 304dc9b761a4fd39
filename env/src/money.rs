//! Money and quantities: integers with their unit in the type.
//!
//! | operation | result |
//! |---|---|
//! | `Price::times(Shares)` | `Fen` |
//! | `Fen::plus`, `Fen::minus`, `Fen::total` | `Fen` |
//! | `Shares::plus`, `Shares::minus` | `Shares` |
//!
//! Each is exact or [`AmountTooLarge`]: no amount wraps round or stays at a largest one, so that what an account says is so.
//! No float decides a fill; [`Fen::to_yuan`] and [`Price::to_yuan`] are for display and for metrics.

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

/// The largest amount of fen or shares on either side of 0: 2^53, CNY 90 trillion, up to which a float is exact.
const AMOUNT_MAX: i64 = 1 << 53;

/// An amount of money or a count of shares beyond 2^53 on either side of 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an amount of the account passes 2^53 fen (CNY 90 trillion) or 2^53 shares, the most that is counted"
)]
pub struct AmountTooLarge;

impl AmountTooLarge {
    /// How to fix it.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        "choose a shorter window or less initial cash, and check the panel's prices and factors with `ktd data check`"
    }
}

fn in_range(amount: i128) -> Result<i64, AmountTooLarge> {
    i64::try_from(amount)
        .ok()
        .filter(|amount| (-AMOUNT_MAX..=AMOUNT_MAX).contains(amount))
        .ok_or(AmountTooLarge)
}

impl Fen {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// The amount in yuan, for display and metrics.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "accounts stay far below 2^53 fen")]
    pub fn to_yuan(self) -> f64 {
        self.0 as f64 / FEN_PER_YUAN
    }

    /// The sum of some amounts, 0 for none.
    ///
    /// # Errors
    /// [`AmountTooLarge`].
    pub fn total(amounts: impl IntoIterator<Item = Self>) -> Result<Self, AmountTooLarge> {
        amounts.into_iter().try_fold(Self::ZERO, Self::plus)
    }
}

impl Price {
    /// The value of some shares at this price.
    ///
    /// # Errors
    /// [`AmountTooLarge`].
    pub fn times(self, shares: Shares) -> Result<Fen, AmountTooLarge> {
        in_range(i128::from(self.0) * i128::from(shares.0)).map(Fen)
    }

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

macro_rules! additive {
    ($unit:ident) => {
        impl $unit {
            /// The sum.
            ///
            /// # Errors
            /// [`AmountTooLarge`].
            pub fn plus(self, other: Self) -> Result<Self, AmountTooLarge> {
                in_range(i128::from(self.0) + i128::from(other.0)).map(Self)
            }

            /// The difference.
            ///
            /// # Errors
            /// [`AmountTooLarge`].
            pub fn minus(self, other: Self) -> Result<Self, AmountTooLarge> {
                in_range(i128::from(self.0) - i128::from(other.0)).map(Self)
            }
        }
    };
}

additive!(Fen);
additive!(Shares);

/// `numerator / denominator` rounded half-up, numerator 0 at least and below 2^126, denominator 1 at least and below 2^125.
pub(crate) fn divide_half_up(numerator: i128, denominator: i128) -> Result<i64, AmountTooLarge> {
    divide_down(numerator * 2 + denominator, denominator * 2)
}

/// `numerator / denominator` rounded down, denominator 1 at least.
#[inline]
pub(crate) fn divide_down(numerator: i128, denominator: i128) -> Result<i64, AmountTooLarge> {
    // Amounts of one account fit the machine's own division, which is several times faster than the wide one.
    if let (Ok(numerator), Ok(denominator)) = (u64::try_from(numerator), u64::try_from(denominator)) {
        return in_range(i128::from(numerator / denominator.max(1)));
    }
    in_range(numerator.div_euclid(denominator.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_up_division() {
        assert_eq!(divide_half_up(5, 10), Ok(1));
        assert_eq!(divide_half_up(4, 10), Ok(0));
        assert_eq!(divide_half_up(15, 10), Ok(2));
        assert_eq!(divide_half_up(0, 7), Ok(0));
    }

    /// Around the last numerator that the machine's own division takes.
    #[test]
    fn narrow_and_wide_division_agree() {
        let edge = i128::from(u64::MAX);
        for numerator in [-7, 0, 6, 7, edge - 1, edge, edge + 1, edge * 9] {
            for denominator in [1, 7, 10_000, edge, edge + 1] {
                let expected = in_range(numerator.div_euclid(denominator));
                assert_eq!(
                    divide_down(numerator, denominator),
                    expected,
                    "{numerator} {denominator}"
                );
            }
        }
    }

    /// At the last amount that is counted and the first that is not, on both sides of 0.
    #[test]
    fn an_amount_is_exact_or_refused() {
        let most = Fen(AMOUNT_MAX);
        assert_eq!(Price(1000).times(Shares(300)), Ok(Fen(300_000)));
        assert_eq!(Price(1).times(Shares(AMOUNT_MAX)), Ok(most));
        assert_eq!(Price(i64::MAX).times(Shares(i64::MIN)), Err(AmountTooLarge));
        assert_eq!(most.minus(Fen(1)).and_then(|below| below.plus(Fen(1))), Ok(most));
        assert_eq!(most.plus(Fen(1)), Err(AmountTooLarge));
        assert_eq!(Fen(-AMOUNT_MAX).minus(Fen(1)), Err(AmountTooLarge));
        assert_eq!(Shares(i64::MAX).plus(Shares(i64::MAX)), Err(AmountTooLarge));
        assert_eq!(Fen::total([most, Fen(1), Fen(-1)]), Err(AmountTooLarge));
        assert_eq!(Fen::total([]), Ok(Fen::ZERO));
    }
}
