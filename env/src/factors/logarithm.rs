//! Natural logarithms of whole columns.
//!
//! The steps are those of [`libm::log`], one for one, so that a column's logarithms have its bits; but none of them is a
//! branch, so that several numbers are taken at once. Numbers that those steps are not made for (not above 0, not
//! finite, or below the smallest normal one) are left to `libm`.

use pulp::{Arch, NullaryFnOnce};

/// Replaces each number by its natural logarithm, [`libm::log`]'s bits.
pub(super) fn take_logarithms(values: &mut [f64]) {
    let mut logarithms = vec![0.0; values.len()];
    Arch::new().dispatch(Logarithms {
        values,
        into: &mut logarithms,
    });
    for (value, logarithm) in values.iter_mut().zip(logarithms) {
        *value = if value.is_normal() && 0.0 < *value {
            logarithm
        } else {
            libm::log(*value)
        };
    }
}

struct Logarithms<'a> {
    values: &'a [f64],
    into: &'a mut [f64],
}

impl NullaryFnOnce for Logarithms<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        for (logarithm, value) in self.into.iter_mut().zip(self.values) {
            *logarithm = of_normal(*value);
        }
    }
}

/// High word of sqrt(1/2), in its place.
const ROOT_OF_HALF: u64 = 0x3fe6_a09e_0000_0000;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
/// 2^52, whose last bits count ones.
const COUNTER: u64 = 0x4330_0000_0000_0000;
/// 2^52 and the bias of an exponent.
const COUNTER_AND_BIAS: f64 = 4_503_599_627_370_496.0 + 1023.0;
/// The natural logarithm of 2 in two parts, the first with zeros at its end, so that its multiples are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// The logarithm of a positive normal number: of 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), by a polynomial in
/// s = f / (2 + f). Constants and order of steps are those of `e_log.c` (FreeBSD, Sun Microsystems 1993), as in `libm`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn of_normal(value: f64) -> f64 {
    let bits = value.to_bits().wrapping_add(ONE - ROOT_OF_HALF);
    let power = f64::from_bits(COUNTER | (bits >> 52)) - COUNTER_AND_BIAS;
    let fraction = f64::from_bits((bits & FRACTION) + ROOT_OF_HALF) - 1.0;
    let half_square = 0.5 * fraction * fraction;
    let s = fraction / (2.0 + fraction);
    let z = s * s;
    let w = z * z;
    let even = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let odd = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    let rest = odd + even;
    s * (half_square + rest) + power * LN2_LOW - half_square + fraction + power * LN2_HIGH
}

/// The polynomial's coefficients, `LG1` to `LG7`.
const LG: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5593),
    f64::from_bits(0x3fd9_9999_9997_fa04),
    f64::from_bits(0x3fd2_4924_9422_9359),
    f64::from_bits(0x3fcc_71c5_1d8e_78af),
    f64::from_bits(0x3fc7_4664_96cb_03de),
    f64::from_bits(0x3fc3_9a09_d078_c69f),
    f64::from_bits(0x3fc2_f112_df3e_5244),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(values: &[f64]) {
        let mut logarithms = values.to_vec();
        take_logarithms(&mut logarithms);
        for (logarithm, value) in logarithms.into_iter().zip(values) {
            let expected = libm::log(*value);
            let same = logarithm.to_bits() == expected.to_bits() || (logarithm.is_nan() && expected.is_nan());
            assert!(same, "{value:e}: {logarithm:e}, not {expected:e}");
        }
    }

    #[test]
    fn a_column_has_the_bits_of_each_alone() {
        // Ratios near 1, amounts, and every power of two.
        check(
            &(0..200_000_u32)
                .map(|step| 0.8 + f64::from(step) * 2e-6)
                .collect::<Vec<_>>(),
        );
        check(
            &(1..100_000_u32)
                .map(|step| f64::from(step) * 12_345.678_9)
                .collect::<Vec<_>>(),
        );
        check(
            &(0..2047_u64)
                .map(|exponent| f64::from_bits(exponent << 52))
                .collect::<Vec<_>>(),
        );
        check(&[
            0.0,
            -0.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
        ]);
    }

    proptest! {
        #[test]
        fn any_bits(bits in proptest::collection::vec(any::<u64>(), 1..60)) {
            check(&bits.into_iter().map(f64::from_bits).collect::<Vec<_>>());
        }
    }
}
