//! Whole numbers and floats, each way checked; equality of floats where it is meant.

/// A count as a float.
#[expect(clippy::cast_precision_loss, reason = "series and counts are far below 2^53")]
pub(crate) const fn float(count: usize) -> f64 {
    count as f64
}

/// The whole number that a float is, up to a million.
pub(crate) fn whole(value: f64) -> Option<usize> {
    const MOST: f64 = 1_000_000.0;
    if !(0.0..=MOST).contains(&value) || value.fract() > 0.0 {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within range, as checked above"
    )]
    Some(value as usize)
}

/// The largest whole number not above a share of a count.
pub(crate) fn floor_of(value: f64) -> usize {
    whole(value.floor()).unwrap_or(0)
}

/// Whether two floats are the same number; missing is equal to nothing, and the two zeros are one.
pub(crate) const fn equal(left: f64, right: f64) -> bool {
    left <= right && right <= left
}

/// The value, or missing where it is not finite.
pub(crate) const fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

/// 1 for true, 0 for false.
pub(crate) const fn flag(is_true: bool) -> f64 {
    if is_true { 1.0 } else { 0.0 }
}

/// The number with twelve significant digits, and no more than 22 decimals: such a number is read from JSON to the bit, so
/// that a record that is read and written again is the same.
pub(crate) fn twelve_digits(value: f64) -> f64 {
    const LEAST: f64 = 1e-11;
    let text = if value.abs() < LEAST {
        format!("{value:.22}")
    } else {
        format!("{value:.11e}")
    };
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_numbers_come_back_from_json_to_the_bit() {
        let mut value = 1.234_567_890_123_456_7e-30_f64;
        while value < 1e30 {
            for signed in [value, -value] {
                let rounded = twelve_digits(signed);
                let read: f64 = serde_json::from_str(&serde_json::to_string(&rounded).unwrap()).unwrap();
                assert_eq!(read.to_bits(), rounded.to_bits(), "{signed:e}");
                assert!(
                    (rounded - signed).abs() <= 1e-11 * signed.abs() + 1e-22,
                    "{signed:e}"
                );
            }
            value *= 3.7;
        }
    }
}
