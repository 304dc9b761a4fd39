//! The Python and `NumPy` arithmetic a port must not get wrong.
//!
//! Qlib's results hang on these: `//` is not `floor(a / b)`, `max` and `min` keep their first argument when a
//! `NaN` is involved, `isclose` is asymmetric, and slices accept negative bounds.

/// Relative tolerance of `numpy.isclose`.
const IS_CLOSE_RELATIVE: f64 = 1e-5;
/// Absolute tolerance of `numpy.isclose`.
const IS_CLOSE_ABSOLUTE: f64 = 1e-8;

/// Python's `dividend // divisor` on floats: floor division built on the exact remainder.
///
/// `divisor` must not be zero. Source: `float_floor_div` of `CPython`, which `NumPy` repeats.
pub(super) fn floor_div(dividend: f64, divisor: f64) -> f64 {
    let remainder = dividend % divisor;
    let mut quotient = (dividend - remainder) / divisor;
    if remainder.abs() > 0.0 && ((divisor < 0.0) != (remainder < 0.0)) {
        quotient -= 1.0;
    }
    if quotient.abs() > 0.0 {
        let floored = quotient.floor();
        // The subtraction above rounds: pull a quotient that fell just short back to the integer it stands for.
        if quotient - floored > 0.5 {
            floored + 1.0
        } else {
            floored
        }
    } else if quotient.is_nan() {
        quotient
    } else {
        0.0_f64.copysign(dividend / divisor)
    }
}

/// Python's `max(first, second)`: the first unless the second is greater, so a `NaN` in front stays.
pub(super) fn max(first: f64, second: f64) -> f64 {
    if first < second { second } else { first }
}

/// Python's `min(first, second)`: the first unless the second is less, so a `NaN` in front stays.
pub(super) fn min(first: f64, second: f64) -> f64 {
    if second < first { second } else { first }
}

/// `numpy.isclose(value, reference)` with its defaults. Not symmetric: the tolerance grows with `reference`.
pub(super) fn is_close(value: f64, reference: f64) -> bool {
    reference.is_finite()
        && (value - reference).abs() <= IS_CLOSE_ABSOLUTE + IS_CLOSE_RELATIVE * reference.abs()
}

/// Python's `items[:count]`: a negative count drops that many from the end.
pub(super) fn prefix<T>(items: &[T], count: i64) -> &[T] {
    let end = match usize::try_from(count) {
        Ok(count) => count.min(items.len()),
        Err(_) => items
            .len()
            .saturating_sub(usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    items.get(..end).unwrap_or(items)
}

/// Python's `items[-count:]`: because `-0` is `0`, a count of nought is the whole list.
pub(super) fn suffix<T>(items: &[T], count: usize) -> &[T] {
    let start = if count == 0 {
        0
    } else {
        items.len().saturating_sub(count)
    };
    items.get(start..).unwrap_or(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_division_follows_the_remainder_not_the_rounded_quotient() {
        // 1.0 / 0.1 rounds to 10.0, yet Python says 1.0 // 0.1 == 9.0.
        assert_eq!(floor_div(1.0, 0.1).to_bits(), 9.0_f64.to_bits());
        assert_eq!(floor_div(300.1, 100.0).to_bits(), 3.0_f64.to_bits());
        assert_eq!(floor_div(99.9 + 0.1, 100.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(floor_div(-4.9, 100.0).to_bits(), (-1.0_f64).to_bits());
        assert_eq!(floor_div(0.1, 100.0).to_bits(), 0.0_f64.to_bits());
        assert!(floor_div(f64::NAN, 100.0).is_nan());
        assert!(floor_div(f64::INFINITY, 100.0).is_nan());
    }

    #[test]
    fn max_and_min_keep_a_leading_nan() {
        assert!(max(f64::NAN, 5.0).is_nan());
        assert!(min(f64::NAN, 5.0).is_nan());
        assert_eq!(max(5.0, f64::NAN).to_bits(), 5.0_f64.to_bits());
        assert_eq!(min(5.0, 4.0).to_bits(), 4.0_f64.to_bits());
    }

    #[test]
    fn closeness_is_measured_against_the_second_argument() {
        // The gap of 10 fits 1e-5 * 1,000,001 + 1e-8 but not 1e-5 * 999,991 + 1e-8.
        assert!(is_close(999_991.0, 1_000_001.0));
        assert!(!is_close(1_000_001.0, 999_991.0));
        assert!(is_close(1e-8, 0.0));
        assert!(!is_close(f64::NAN, f64::NAN));
        assert!(!is_close(1.0, f64::INFINITY));
    }

    #[test]
    fn slices_count_from_the_end_when_negative() {
        let items = [1, 2, 3, 4, 5];
        assert_eq!(prefix(&items, 2), [1, 2]);
        assert_eq!(prefix(&items, 9), items);
        assert_eq!(prefix(&items, 0), [0; 0]);
        assert_eq!(prefix(&items, -2), [1, 2, 3]);
        assert_eq!(prefix(&items, -9), [0; 0]);
        assert_eq!(suffix(&items, 2), [4, 5]);
        assert_eq!(suffix(&items, 9), items);
        assert_eq!(suffix(&items, 0), items);
    }
}
