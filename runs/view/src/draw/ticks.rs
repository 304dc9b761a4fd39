//! Round values on an axis.

use super::number::real;
use std::ops::Range;

/// Round values inside a range from low to high, at most `most` of them: the multiples of the least of
/// ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... of which no more lie there. None for a range that is empty or has no end.
#[must_use]
pub fn ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let span = range.end - range.start;
    if most == 0 || !(span.is_finite() && 0.0 < span) {
        return Vec::new();
    }
    // A shorter step would always have more multiples in the range.
    let least = span / real(most + 1);
    let mut decade = 1.0;
    while least < decade {
        decade /= 10.0;
    }
    while decade * 10.0 <= least {
        decade *= 10.0;
    }
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0].map(|mantissa| mantissa * decade);
    let found = steps.into_iter().map(|step| multiples(range, step, most));
    found.into_iter().flatten().next().unwrap_or_default()
}

/// The multiples of a step in a range; nothing when they are more than `most`.
fn multiples(range: &Range<f64>, step: f64, most: usize) -> Option<Vec<f64>> {
    // A range that ends on a multiple, as far as numbers can say, has it.
    const ROUNDING: f64 = 1e-9;
    let first = (range.start / step - ROUNDING).ceil();
    let last = (range.end / step + ROUNDING).floor();
    // Adding 0 makes a negative zero a plain one.
    let values = (0..=most).map(|place| first + real(place));
    let values: Vec<f64> = values
        .take_while(|multiple| *multiple <= last)
        .map(|multiple| multiple * step + 0.0)
        .collect();
    (values.len() <= most).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        for (range, most, shown) in [
            (0.0..10.0, 4, vec![0.0, 5.0, 10.0]),
            (-1.0..1.0, 4, vec![-1.0, 0.0, 1.0]),
            (0.0..1.0, 5, vec![0.0, 0.5, 1.0]),
            (0.0..1.0, 6, vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (-0.034..0.061, 5, vec![-0.02, 0.0, 0.02, 0.04, 0.06]),
            (0.0..548.0, 4, vec![0.0, 200.0, 400.0]),
            (0.5..12.5, 12, (1..=12).map(f64::from).collect()),
            (3.1..3.9, 1, vec![3.5]),
        ] {
            let ticks = ticks(&range, most);
            let is_near = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
            assert!(
                ticks.len() == shown.len() && ticks.iter().zip(&shown).all(is_near),
                "{range:?}: {ticks:?}"
            );
            assert!(ticks.iter().all(|tick| tick.is_sign_positive() || *tick < 0.0));
        }
    }

    #[test]
    fn ticks_are_few_and_never_endless() {
        for exponent in -300..300 {
            let span: f64 = format!("3.7e{exponent}").parse().unwrap();
            for most in 1..13 {
                let ticks = ticks(&(-span..span), most);
                assert!(
                    !ticks.is_empty() && ticks.len() <= most,
                    "{span} {most}: {ticks:?}"
                );
                assert!(ticks.contains(&0.0), "{span} {most}: {ticks:?}");
            }
        }
        for range in [
            0.0..0.0,
            1.0..0.0,
            f64::NAN..1.0,
            0.0..f64::INFINITY,
            f64::MIN..f64::MAX,
        ] {
            assert!(ticks(&range, 5).is_empty());
        }
        assert!(ticks(&(0.0..1.0), 0).is_empty());
    }
}
