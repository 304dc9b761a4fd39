//! The standard normal distribution.
//!
//! Everything goes through `libm`. The crate `statrs` would give the quantile and Student's t as well, but its
//! logarithms are those of `num-traits`, which are the system's as soon as any crate of the build asks for
//! `num-traits/std`: equal inputs would have other bits on another machine.

use super::error::StatsError;

/// Probability that a standard normal variable is at most `z`.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Probability that a standard normal variable is at least as far from 0 as `z`.
#[must_use]
pub fn normal_two_sided_p(z: f64) -> f64 {
    libm::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The value that a standard normal variable stays below with the given probability.
///
/// Source: Wichura (1988), algorithm AS 241, routine PPND16: about 16 digits.
///
/// # Errors
/// [`StatsError::Share`] unless the probability lies strictly between 0 and 1.
pub fn normal_quantile(probability: f64) -> Result<f64, StatsError> {
    if !(0.0 < probability && probability < 1.0) {
        return Err(StatsError::Share {
            name: "the probability",
            value: probability,
            above: 0.0,
            below: 1.0,
        });
    }
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        let square = 0.425 * 0.425 - centred * centred;
        return Ok(centred * ratio(&CENTRE, square));
    }
    let tail = if centred < 0.0 {
        probability
    } else {
        1.0 - probability
    };
    let distance = (-libm::log(tail)).sqrt();
    let magnitude = if distance <= 5.0 {
        ratio(&TAIL, distance - 1.6)
    } else {
        ratio(&FAR_TAIL, distance - 5.0)
    };
    Ok(magnitude.copysign(centred))
}

/// Numerator and denominator of a rational approximation, highest power first.
type Rational = [[f64; 8]; 2];

fn ratio([numerator, denominator]: &Rational, at: f64) -> f64 {
    let horner = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, next| sum * at + next);
    horner(numerator) / horner(denominator)
}

/// For probabilities within 0.425 of a half.
const CENTRE: Rational = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];

/// For tails down to exp(-25).
const TAIL: Rational = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];

/// For what is beyond.
const FAR_TAIL: Rational = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        let cases = [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.841_344_746_068_542_9, 1.0),
            (0.3, -0.524_400_512_708_041),
            (0.95, 1.644_853_626_951_472_2),
            (0.9999, 3.719_016_485_455_709),
            (1e-20, -9.262_340_089_798_409),
            (1e-10, -6.361_340_902_404_056),
            (1e-100, -21.273_453_560_965_334),
        ];
        for (probability, expected) in cases {
            let quantile = normal_quantile(probability).unwrap();
            assert!((quantile - expected).abs() < 1e-13, "{probability}: {quantile}");
        }
        assert!((normal_two_sided_p(-1.959_963_984_540_054) - 0.05).abs() < 1e-15);
    }

    #[test]
    fn only_probabilities_inside_have_a_quantile() {
        for probability in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(normal_quantile(probability).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_quantile_undoes_the_distribution(probability in 1e-12..0.999_999_f64) {
            let back = normal_cdf(normal_quantile(probability).unwrap());
            prop_assert!((back - probability).abs() <= 1e-13 * probability.max(1e-3));
        }
    }
}
