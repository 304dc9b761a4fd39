//! Student's t distribution.

use super::error::StatsError;
use super::incomplete_beta::incomplete_beta;

/// Probability that a variable of Student's t distribution is at least as far from 0 as `t`.
///
/// It is the regularised incomplete beta function `I_x(df / 2, 1 / 2)` at `x = df / (df + t^2)`, by its continued
/// fraction. Why not from `statrs`: see the note at the head of the normal distribution.
///
/// # Errors
/// [`StatsError::Negative`] for degrees of freedom that are not a finite number above 0, [`StatsError::NotFinite`] for
/// a `t` that is NaN or infinite.
pub fn student_t_two_sided_p(t: f64, degrees_of_freedom: f64) -> Result<f64, StatsError> {
    if !(degrees_of_freedom.is_finite() && 0.0 < degrees_of_freedom) {
        return Err(StatsError::Negative {
            name: "the number of degrees of freedom",
            value: degrees_of_freedom,
        });
    }
    super::Sample::new("t", &[t])?;
    let ratio = t * (t / degrees_of_freedom);
    // Both are given, because the one near 1 has lost the digits of the other.
    let (share, rest) = (1.0 / (1.0 + ratio), ratio / (1.0 + ratio));
    if !ratio.is_finite() {
        return Ok(0.0);
    }
    Ok(incomplete_beta((degrees_of_freedom / 2.0, 0.5), share, rest).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_two_sided_p;
    use proptest::prelude::*;

    fn p(t: f64, degrees: f64) -> f64 {
        student_t_two_sided_p(t, degrees).unwrap()
    }

    #[test]
    fn values_of_scipy() {
        let cases = [
            (2.5, 7.0, 0.040_992_218_585_752_89),
            (1.96, 537.0, 0.050_512_522_750_213_71),
            (0.3, 3.5, 0.781_133_409_839_889_5),
            (12.0, 4.0, 0.000_276_428_548_502_973),
            (-4.2, 288.0, 3.562_479_980_780_213e-5),
        ];
        for (t, degrees, expected) in cases {
            let found = p(t, degrees);
            assert!(
                (found - expected).abs() < 1e-12 * expected.max(0.01),
                "{t} {degrees}: {found:e}"
            );
        }
    }

    #[test]
    fn what_is_no_t_is_refused() {
        assert!(student_t_two_sided_p(f64::NAN, 3.0).is_err());
        for degrees in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(student_t_two_sided_p(1.0, degrees).is_err());
        }
        assert!((p(0.0, 7.0) - 1.0).abs() < 1e-15);
        assert!(p(1e200, 7.0).abs() < 1e-300);
    }

    proptest! {
        #[test]
        fn the_closed_forms_of_few_degrees(t in -40.0..40.0_f64) {
            let one = 1.0 - 2.0 / std::f64::consts::PI * libm::atan(t.abs());
            prop_assert!((p(t, 1.0) - one).abs() < 1e-12);
            let two = 1.0 - t.abs() / (2.0 + t * t).sqrt();
            prop_assert!((p(t, 2.0) - two).abs() < 1e-12);
            let root = (4.0 + t * t).sqrt();
            let four = 1.0 - t.abs() / root * (1.0 + 2.0 / (root * root));
            prop_assert!((p(t, 4.0) - four).abs() < 1e-12);
        }

        #[test]
        fn many_degrees_are_normal(t in -6.0..6.0_f64) {
            prop_assert!((p(t, 1e9) - normal_two_sided_p(t)).abs() < 1e-6);
        }
    }
}
