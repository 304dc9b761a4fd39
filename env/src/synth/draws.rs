//! Draws and conversions that every layer of the synthetic market uses.

use crate::seed::KeyedStream;

/// The least sum of exponentials that a heavy-tailed draw divides by: keeps a draw finite.
const LEAST_MIXING: f64 = 1.0e-9;

/// An exponential draw of mean 1.
pub(super) fn exponential(stream: &mut KeyedStream) -> f64 {
    -libm::log(1.0 - stream.uniform())
}

/// Student's t with 4 degrees of freedom, scaled to variance 1.
///
/// A chi-square of 4 degrees is twice a sum of two exponentials, so normal / sqrt(sum) has variance 1.
pub(super) fn student_four(stream: &mut KeyedStream) -> f64 {
    let mixing = exponential(stream) + exponential(stream);
    stream.normal() / mixing.max(LEAST_MIXING).sqrt()
}

/// Student's t with 6 degrees of freedom, scaled to variance 1.
pub(super) fn student_six(stream: &mut KeyedStream) -> f64 {
    let mixing = exponential(stream) + exponential(stream) + exponential(stream);
    stream.normal() * (2.0 / mixing.max(LEAST_MIXING)).sqrt()
}

/// A draw from `low..high`; `low` when the range is empty.
pub(super) fn between(stream: &mut KeyedStream, low: usize, high: usize) -> usize {
    let width = u64::try_from(high.saturating_sub(low)).unwrap_or(0);
    low + usize::try_from(stream.below(width)).unwrap_or(0)
}

/// A draw from `low..high` on the line.
pub(super) fn uniform_between(stream: &mut KeyedStream, low: f64, high: f64) -> f64 {
    low + (high - low) * stream.uniform()
}

/// One of the items, or `None` when there are none.
pub(super) fn pick<T: Copy>(stream: &mut KeyedStream, items: &[T]) -> Option<T> {
    items.get(between(stream, 0, items.len())).copied()
}

/// A count as a float.
pub(super) fn count(items: usize) -> f64 {
    u32::try_from(items).map_or(f64::from(u32::MAX), f64::from)
}

/// The nearest whole number, held within ±2^53.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped before the cast; NaN turns into 0"
)]
pub(super) fn whole(value: f64) -> i64 {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    value.round().clamp(-LARGEST, LARGEST) as i64
}

/// A whole number of fen, shares or millionths as a float.
#[expect(
    clippy::cast_precision_loss,
    reason = "prices, shares and factors stay far below 2^53"
)]
pub(super) const fn float(value: i64) -> f64 {
    value as f64
}

/// Values less their mean over their standard deviation; all 0 when they do not differ.
pub(super) fn standardised(values: &[f64]) -> Vec<f64> {
    let items = count(values.len()).max(1.0);
    let mean = values.iter().sum::<f64>() / items;
    let variance = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum::<f64>()
        / items;
    let scale = if variance > 0.0 {
        1.0 / variance.sqrt()
    } else {
        0.0
    };
    values.iter().map(|value| (value - mean) * scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variance_and_tail(draw: impl Fn(&mut KeyedStream) -> f64) -> (f64, f64) {
        let mut stream = KeyedStream::for_purpose(5, "synth draws test");
        let draws: Vec<f64> = (0..200_000).map(|_| draw(&mut stream)).collect();
        let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / count(draws.len());
        let beyond = draws.iter().filter(|draw| draw.abs() > 4.0).count();
        (variance, count(beyond) / count(draws.len()))
    }

    #[test]
    fn heavy_tails_have_unit_variance() {
        // P(|x| > 4 sd): normal 6.3e-5, t6 2.7e-3, t4 4.8e-3.
        for (variance, tail) in [variance_and_tail(student_four), variance_and_tail(student_six)] {
            assert!((0.93..1.07).contains(&variance), "{variance}");
            assert!((0.001..0.006).contains(&tail), "{tail}");
        }
    }

    #[test]
    fn standardised_values_have_mean_0_and_variance_1() {
        let z = standardised(&[1.0, 2.0, 4.0, 9.0]);
        assert!(z.iter().sum::<f64>().abs() < 1e-12);
        assert!((z.iter().map(|z| z * z).sum::<f64>() - 4.0).abs() < 1e-12);
        assert_eq!(standardised(&[3.0, 3.0]), vec![0.0, 0.0]);
    }
}
