//! Daily series as they stand in a board: rounded to what a picture can show.

/// Parts of shares and of net asset values over the first that are kept: a millionth, or a hundredth of a basis point.
const SCALE: f64 = 1e6;

/// A daily series, rounded. Full precision would make up nine tenths of a board's bytes, and no figure of a board is computed from it;
/// a page that computes falls or rolling figures from it has to take movements of a millionth for rounding.
pub(super) fn rounded(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    // Adding 0 makes a negative zero a plain one.
    values
        .into_iter()
        .map(|value| (value * SCALE).round() / SCALE + 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn six_decimals_stand_and_no_negative_zero() {
        let shown: Vec<String> = rounded([1.0 / 3.0, -1e-9, 1.25, 2.0 / 3.0 + 1.0])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(shown, ["0.333333", "0", "1.25", "1.666667"]);
    }
}
