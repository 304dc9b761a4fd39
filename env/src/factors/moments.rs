//! Sums over one window. Each is summed afresh in a fixed order, whatever the machine.

/// Partial sums kept side by side, so that additions do not wait for each other. Part of the result's bits.
pub(super) const LANES: usize = 4;

/// Exchange days in a year, by which daily volatility is annualised.
pub(super) const YEAR_DAYS: f64 = 252.0;

/// Centred sums of squares at or below this are rounding, not variation: returns move by a fen, at least
/// 1e-6.
const ROUNDING: f64 = 1e-18;

/// A number of values, as a divisor.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of days and names stay far below 2^53"
)]
pub(super) const fn count(values: usize) -> f64 {
    values as f64
}

/// A finite value, or the one NaN that stands for missing.
pub(super) const fn finite_or_missing(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

/// The lanes' sums in fixed order.
fn join(lanes: [f64; LANES]) -> f64 {
    let [first, second, third, fourth] = lanes;
    (first + second) + (third + fourth)
}

/// Sum of `term(value)`.
fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += term(*value);
        }
    }
    rest.iter().fold(join(lanes), |total, value| total + term(*value))
}

/// Sum of `term(left, right)` over pairs of two slices of one length.
fn sum_pairs(left: &[f64], right: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let (left_chunks, left_rest) = left.as_chunks::<LANES>();
    let (right_chunks, right_rest) = right.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (left, right) in left_chunks.iter().zip(right_chunks) {
        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
            *lane += term(*left, *right);
        }
    }
    let rest = left_rest.iter().zip(right_rest);
    rest.fold(join(lanes), |total, (left, right)| total + term(*left, *right))
}

/// Arithmetic mean; missing for no values.
pub(super) fn mean(values: &[f64]) -> f64 {
    finite_or_missing(sum(values, |value| value) / count(values.len()))
}

/// Sum of squared deviations from `mean`.
fn squared_deviations(values: &[f64], mean: f64) -> f64 {
    sum(values, |value| (value - mean) * (value - mean))
}

/// Sums of squared and of cubed deviations from `mean`, the former as [`squared_deviations`] has it.
fn squared_and_cubed_deviations(values: &[f64], mean: f64) -> (f64, f64) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let (mut squares, mut cubes) = ([0.0; LANES], [0.0; LANES]);
    for chunk in chunks {
        for ((square, cube), value) in squares.iter_mut().zip(&mut cubes).zip(chunk) {
            let deviation = value - mean;
            *square += deviation * deviation;
            *cube += deviation * deviation * deviation;
        }
    }
    rest.iter()
        .fold((join(squares), join(cubes)), |(squares, cubes), value| {
            let deviation = value - mean;
            (
                squares + deviation * deviation,
                cubes + deviation * deviation * deviation,
            )
        })
}

/// Sample standard deviation (n - 1); missing for fewer than two values.
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    standard_deviation_of(squared_deviations(values, mean(values)), values.len())
}

/// The same, from the sum of squared deviations of `n` values.
#[inline]
pub(super) fn standard_deviation_of(squares: f64, n: usize) -> f64 {
    if n < 2 {
        return f64::NAN;
    }
    finite_or_missing((squares / (count(n) - 1.0)).sqrt())
}

/// Sample standard deviation over the mean; missing unless the mean is positive.
pub(super) fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    variation_of(mean, squared_deviations(values, mean), values.len())
}

/// The same, from the mean and the sum of squared deviations of `n` values.
#[inline]
pub(super) fn variation_of(mean: f64, squares: f64, n: usize) -> f64 {
    if 0.0 < mean {
        finite_or_missing(standard_deviation_of(squares, n) / mean)
    } else {
        f64::NAN
    }
}

/// Negative coefficient of skewness (Chen, Hong and Stein 2001), the sample-corrected third moment with its
/// sign turned; missing for values that do not vary or are fewer than three.
pub(super) fn negative_skewness(values: &[f64]) -> f64 {
    let (squares, cubes) = squared_and_cubed_deviations(values, mean(values));
    skewness_of(squares, cubes, values.len())
}

/// The same, from the sums of squared and of cubed deviations of `n` values.
#[inline]
pub(super) fn skewness_of(squares: f64, cubes: f64, n: usize) -> f64 {
    if n < 3 || squares <= ROUNDING {
        return f64::NAN;
    }
    let n = count(n);
    let numerator = n * (n - 1.0) * (n - 1.0).sqrt() * cubes;
    finite_or_missing(-numerator / ((n - 1.0) * (n - 2.0) * squares * squares.sqrt()))
}

/// Pearson correlation of two slices of one length; missing when either does not vary.
pub(super) fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let (left_mean, right_mean) = (mean(left), mean(right));
    let left_squares = squared_deviations(left, left_mean);
    let right_squares = squared_deviations(right, right_mean);
    let products = sum_pairs(left, right, |left, right| {
        (left - left_mean) * (right - right_mean)
    });
    correlation_of(products, left_squares, right_squares)
}

/// The same, from the sums of products of deviations and of their squares.
#[inline]
pub(super) fn correlation_of(products: f64, left_squares: f64, right_squares: f64) -> f64 {
    // A comparison that NaN fails: no values, no correlation.
    if !(ROUNDING < left_squares && ROUNDING < right_squares) {
        return f64::NAN;
    }
    finite_or_missing(products / (left_squares * right_squares).sqrt())
}

/// The extreme by `better`, which holds between a contender and the champion; missing for no values.
fn extreme(values: &[f64], better: impl Fn(f64, f64) -> bool) -> f64 {
    let Some(first) = values.first() else {
        return f64::NAN;
    };
    let best = |champion: &mut f64, value: f64| {
        *champion = if better(value, *champion) {
            value
        } else {
            *champion
        };
    };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [*first; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            best(lane, *value);
        }
    }
    let mut champion = *first;
    for value in lanes.iter().chain(rest) {
        best(&mut champion, *value);
    }
    champion
}

/// Largest value; missing for no values.
pub(super) fn largest(values: &[f64]) -> f64 {
    extreme(values, |value, champion| champion < value)
}

/// Smallest value; missing for no values.
pub(super) fn smallest(values: &[f64]) -> f64 {
    extreme(values, |value, champion| value < champion)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: f64, expected: f64) {
        assert!(
            (actual - expected).abs() <= 1e-15 * expected.abs().max(1.0),
            "{actual} is not {expected}"
        );
    }

    #[test]
    fn small_samples_by_hand() {
        close(mean(&[1.0, 2.0, 6.0]), 3.0);
        close(standard_deviation(&[1.0, 2.0, 6.0]), 7.0_f64.sqrt());
        close(variation(&[1.0, 3.0]), 2.0_f64.sqrt() / 2.0);
        // Deviations -1, -1, 2: squares 6, cubes 6, so -(3 * 2^1.5 * 6) / (2 * 1 * 6^1.5) = -sqrt(3).
        close(negative_skewness(&[0.0, 0.0, 3.0]), -(3.0_f64.sqrt()));
        close(correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 1.0);
        close(correlation(&[1.0, 2.0, 3.0], &[1.0, 0.0, 1.0]), 0.0);
        close(correlation(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]), 0.8);
    }

    #[test]
    fn lanes_and_remainder_all_count() {
        let values: Vec<f64> = (1_u32..=19).map(f64::from).collect();
        close(mean(&values), 10.0);
        close(standard_deviation(&values), (570.0_f64 / 18.0).sqrt());
        for peak in 0..values.len() {
            let mut values = values.clone();
            values[peak] = 100.0;
            close(largest(&values), 100.0);
            values[peak] = -100.0;
            close(smallest(&values), -100.0);
        }
    }

    #[test]
    fn what_has_no_answer_is_missing() {
        assert!(mean(&[]).is_nan());
        assert!(standard_deviation(&[]).is_nan());
        assert!(standard_deviation(&[1.0]).is_nan());
        assert!(variation(&[0.0, 0.0]).is_nan());
        assert!(negative_skewness(&[0.0; 60]).is_nan());
        assert!(negative_skewness(&[0.1; 60]).is_nan());
        assert!(negative_skewness(&[1.0, 2.0]).is_nan());
        assert!(correlation(&[0.0; 3], &[1.0, 2.0, 3.0]).is_nan());
        assert!(correlation(&[1.0, 2.0, 3.0], &[7.0; 3]).is_nan());
        assert!(correlation(&[], &[]).is_nan());
        assert!(largest(&[]).is_nan());
        close(standard_deviation(&[0.0; 60]), 0.0);
    }
}
