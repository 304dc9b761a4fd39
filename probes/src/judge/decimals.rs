//! Decimal places of written figures.

/// A figure as files have it. With so few digits every reader and writer of JSON agrees on it.
#[must_use]
pub(super) fn nine_decimals(value: f64) -> f64 {
    const SCALE: f64 = 1e9;
    (value * SCALE).round() / SCALE
}
