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
