//! Conversions between numbers whose loss of precision is part of the language, or cannot happen.

/// An integer of the language as a float, rounded as numpy rounds it.
#[expect(
    clippy::cast_precision_loss,
    reason = "numpy rounds integers beyond 2^53 as well"
)]
pub(crate) const fn float_of(value: i64) -> f64 {
    value as f64
}

/// A count of rows as a float.
#[expect(clippy::cast_precision_loss, reason = "rows are far below 2^53")]
pub(crate) const fn count_of(rows: usize) -> f64 {
    rows as f64
}

/// A float rounded to float32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to float32 is the language's"
)]
pub(crate) const fn single_of(value: f64) -> f32 {
    value as f32
}

/// The largest integer not above a float that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a window: not negative, far below 2^53"
)]
pub(crate) const fn floor_of(value: f64) -> usize {
    value as usize
}
