//! The natural logarithm of float32 as numpy computes it, to the bit.
//!
//! numpy's is a rational approximation in float32 with fused multiply-adds, up to four spacings off the rounded truth.
//! A correctly rounded logarithm would be better and other: a correlation with a logarithm of volume, whose standard
//! deviation is a twentieth of its size, differs by more than float32 can hide.

use crate::casts::single_of;
use pulp::{Arch, NullaryFnOnce};

/// log(1 + x) for x from sqrt(1/2) - 1 to sqrt(2) - 1: numerator and denominator, highest power first (numpy, BSD-3).
const NUMERATOR: [f32; 6] = [2.589_979_2e-2, 0.380_883_77, 1.480_000_6, 2.112_677_6, 1.0, 0.0];
const DENOMINATOR: [f32; 6] = [
    5.875_095_4e-3,
    0.154_647_64,
    0.986_494_3,
    2.453_006,
    2.612_677_6,
    1.0,
];

/// Of a float64, the bits that float32 lacks, and their value half way between two float32.
const LOST_BITS: u64 = (1 << 29) - 1;
const HALF_WAY: u64 = 1 << 28;

/// a x b + c, rounded once. The product of two float32 is exact in float64; rounding the sum to float64 first errs only
/// where it then stands half way between two float32.
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let sum = f64::from(a) * f64::from(b) + f64::from(c);
    if sum.to_bits() & LOST_BITS == HALF_WAY {
        a.mul_add(b, c)
    } else {
        single_of(sum)
    }
}

/// A positive number as a mantissa from 1/2 to 1 and an exponent of two.
fn split(value: f32) -> (f32, i32) {
    if !value.is_normal() {
        return libm::frexpf(value);
    }
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> 23).unwrap_or(0) - 126;
    (f32::from_bits((bits & 0x007f_ffff) | 0x3f00_0000), exponent)
}

/// The natural logarithm.
pub(crate) fn log_of_single(value: f32) -> f32 {
    if value.is_nan() || value < 0.0 {
        return f32::NAN;
    }
    if value < f32::from_bits(1) {
        return f32::NEG_INFINITY;
    }
    if value.is_infinite() {
        return value;
    }
    let (mantissa, exponent) = split(value);
    of_parts(mantissa, exponent, fused)
}

/// The logarithm of a mantissa from 1/2 to 1 and an exponent of two; `fused` is a x b + c, rounded once.
#[inline(always)]
#[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
fn of_parts(mantissa: f32, exponent: i32, fused: impl Fn(f32, f32, f32) -> f32) -> f32 {
    let is_small = mantissa <= std::f32::consts::FRAC_1_SQRT_2;
    let (mantissa, exponent) = if is_small {
        (mantissa + mantissa, exponent - 1)
    } else {
        (mantissa, exponent)
    };
    let x = mantissa - 1.0;
    let polynomial = |[highest, rest @ ..]: [f32; 6]| {
        rest.into_iter()
            .fold(highest, |sum, coefficient| fused(sum, x, coefficient))
    };
    let quotient = polynomial(NUMERATOR) / polynomial(DENOMINATOR);
    fused(single_of(f64::from(exponent)), std::f32::consts::LN_2, quotient)
}

/// The logarithms of many numbers, to the same bits as one by one: in vectors where the processor fuses.
pub(crate) fn logs_of_singles(values: &[f32], out: &mut Vec<f32>) {
    let arch = Arch::new();
    if matches!(arch, Arch::Scalar) {
        out.extend(values.iter().map(|value| log_of_single(*value)));
        return;
    }
    let first = out.len();
    arch.dispatch(NormalLogs { values, out });
    for (log, value) in out.iter_mut().skip(first).zip(values) {
        if !(value.is_normal() && 0.0 < *value) {
            *log = log_of_single(*value);
        }
    }
}

/// Logarithms that are right of positive normal numbers, without a branch.
struct NormalLogs<'a> {
    values: &'a [f32],
    out: &'a mut Vec<f32>,
}

impl NullaryFnOnce for NormalLogs<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "code is widened where it is inlined")]
    fn call(self) {
        let log = |value: &f32| {
            let bits = value.to_bits();
            let exponent = (bits >> 23).cast_signed() - 126;
            let mantissa = f32::from_bits((bits & 0x007f_ffff) | 0x3f00_0000);
            of_parts(mantissa, exponent, f32::mul_add)
        };
        self.out.extend(self.values.iter().map(log));
    }
}

#[cfg(test)]
mod tests {
    use super::{DENOMINATOR, NUMERATOR, fused, log_of_single, logs_of_singles};

    /// The digits of numpy's source, and ours, which are as long as float32 needs.
    #[test]
    fn coefficients_are_numpys() {
        let numerator = [
            "2.589979117907922693523e-02",
            "3.808837741388407920751e-01",
            "1.480000633576506585156",
        ];
        let denominator = [
            "5.875095403124574342950e-03",
            "1.546476374983906719538e-01",
            "9.864942958519418960339e-01",
        ];
        for (digits, ours) in numerator
            .iter()
            .zip(NUMERATOR)
            .chain(denominator.iter().zip(DENOMINATOR))
        {
            assert_eq!(
                digits.parse::<f32>().unwrap().to_bits(),
                ours.to_bits(),
                "{digits}"
            );
        }
        let rounded = [
            ("2.112677543073053", NUMERATOR[3]),
            ("2.4530060717847364", DENOMINATOR[3]),
            ("2.612677543073109", DENOMINATOR[4]),
        ];
        for (digits, ours) in rounded {
            assert_eq!(
                digits.parse::<f32>().unwrap().to_bits(),
                ours.to_bits(),
                "{digits}"
            );
        }
    }

    #[test]
    fn a_sum_is_rounded_once() {
        let mut bits = 12_345_u32;
        let mut next = || {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits((bits >> 9) | 0x3f80_0000) - 1.5
        };
        for _ in 0..100_000 {
            let (a, b, c) = (next(), next(), next());
            assert_eq!(fused(a, b, c).to_bits(), a.mul_add(b, c).to_bits(), "{a} {b} {c}");
        }
        // half way in float64, not in truth
        let (a, b, c) = (1.0 + f32::EPSILON, f32::EPSILON * 0.5, 1.0);
        assert_eq!(fused(a, b, c).to_bits(), a.mul_add(b, c).to_bits());
    }

    /// Numbers of every kind, all exponents among them.
    #[test]
    fn many_logarithms_are_those_of_each() {
        let mut bits = 1_u32;
        let mut values = vec![
            0.0,
            -0.0,
            -1.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MIN_POSITIVE,
        ];
        values.extend((0..200_000).map(|_| {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(bits)
        }));
        values.extend((0..255_u32).map(|exponent| f32::from_bits(exponent << 23 | 0x0035_04f3)));
        values.push(f32::from_bits(1));
        let mut logs = vec![7.0];
        logs_of_singles(&values, &mut logs);
        assert_eq!(logs.len(), values.len() + 1);
        assert_eq!(logs[0].to_bits(), 7.0_f32.to_bits());
        for (value, log) in values.iter().zip(&logs[1..]) {
            let one = log_of_single(*value);
            assert!(
                log.to_bits() == one.to_bits() || (log.is_nan() && one.is_nan()),
                "{value:e}: {log:e}, not {one:e}"
            );
        }
    }

    #[test]
    fn logarithms_are_near_the_truth() {
        assert!(log_of_single(-1.0).is_nan() && log_of_single(f32::NAN).is_nan());
        for (of, log) in [
            (0.0, f32::NEG_INFINITY),
            (f32::INFINITY, f32::INFINITY),
            (1.0, 0.0),
        ] {
            assert_eq!(log_of_single(of).to_bits(), f32::to_bits(log), "{of}");
        }
        for value in [1e-45_f32, 1e-30, 0.3, 0.9999, 1.0001, 2.0, 12_345.67, 3e38] {
            let truth = libm::log(f64::from(value));
            assert!(
                (f64::from(log_of_single(value)) - truth).abs() <= 5e-7 * truth.abs(),
                "{value}"
            );
        }
    }
}
