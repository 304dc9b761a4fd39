//! The floats of the neural networks.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

/// A float in which a network computes: `f32` in use, `f64` where its derivatives are compared with others'.
///
/// Its functions give the same bits on every machine: those of `f64` are `libm`'s, those of `f32` are polynomials of our
/// own, which a compiler can widen.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + Neg<Output = Self>
    + sealed::Sealed
    + 'static
{
    /// The nearest value.
    fn of(value: f64) -> Self;
    /// The value as a double.
    fn wide(self) -> f64;
    /// The correctly rounded square root.
    #[must_use]
    fn root(self) -> Self;
    /// The exponential.
    #[must_use]
    fn exponential(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn hyperbolic_tangent(self) -> Self;
    /// `1 / (1 + e^-x)`.
    #[must_use]
    fn sigmoid(self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn wide(self) -> f64 {
        self
    }

    fn root(self) -> Self {
        self.sqrt()
    }

    fn exponential(self) -> Self {
        libm::exp(self)
    }

    fn hyperbolic_tangent(self) -> Self {
        libm::tanh(self)
    }

    fn sigmoid(self) -> Self {
        1.0 / (1.0 + libm::exp(-self))
    }
}

impl Real for f32 {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest is what is wanted"
    )]
    fn of(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn root(self) -> Self {
        self.sqrt()
    }

    /// `2^n e^r` with `n` the nearest whole number to `x / ln 2`, and the Taylor sum of `e^r` to the sixth power: within
    /// 2 units in the last place. Below -87 and above 88 the argument is clamped.
    #[inline(always)]
    fn exponential(self) -> Self {
        // Adding it leaves the nearest whole number in the last bits: 1.5 times 2^23.
        const MAGIC: f32 = 12_582_912.0;
        // ln 2 as a sum of a short number, whose products with whole numbers are exact, and the rest.
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        const BIAS: u32 = 127;
        let argument = self.clamp(-87.0, 88.0);
        let shifted = argument * std::f32::consts::LOG2_E + MAGIC;
        let whole = shifted - MAGIC;
        let rest = argument - whole * LN_2_HIGH - whole * LN_2_LOW;
        let mut sum = 1.0 / 720.0;
        for coefficient in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
            sum = sum * rest + coefficient;
        }
        let exponent = shifted.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(BIAS);
        sum * Self::from_bits(exponent << 23)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn hyperbolic_tangent(self) -> Self {
        2.0 / (1.0 + (-2.0 * self).exponential()) - 1.0
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn sigmoid(self) -> Self {
        1.0 / (1.0 + (-self).exponential())
    }
}

/// A count as a float; exact up to 2^32.
pub(crate) fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomials_follow_libm() {
        for step in -8700..=8800_i16 {
            let value = f32::from(step) / 100.0;
            let exact = libm::exp(f64::from(value));
            let found = f64::from(value.exponential());
            assert!(
                (found / exact - 1.0).abs() < 3e-7,
                "exp {value}: {found} for {exact}"
            );
            let tangent = f64::from(value.hyperbolic_tangent());
            assert!(
                (tangent - libm::tanh(f64::from(value))).abs() < 3e-7,
                "tanh {value}"
            );
            let sigmoid = f64::from(value.sigmoid());
            assert!((sigmoid - 1.0 / (1.0 + libm::exp(-f64::from(value)))).abs() < 2e-7);
        }
        assert!(1000.0_f32.exponential().is_finite() && 0.0 < (-1000.0_f32).exponential());
    }

    /// Pinned: other bits are another model.
    #[test]
    fn the_bits_of_the_exponential_are_pinned() {
        let bits = [-3.5_f32, 0.25, 1.0, 10.75].map(|value| value.exponential().to_bits());
        assert_eq!(bits, [1_022_845_057, 1_067_735_794, 1_076_754_516, 1_194_731_017]);
    }
}
