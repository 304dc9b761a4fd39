//! The middle of a sample.

/// A float as an integer of the same order, [`f64::total_cmp`]'s: integers compare in one step.
const fn key(value: f64) -> i64 {
    flipped(value.to_bits().cast_signed())
}

const fn value(key: i64) -> f64 {
    f64::from_bits(flipped(key).cast_unsigned())
}

/// All bits but the sign, turned over where the sign is set: the greater a negative number, the smaller its bits.
const fn flipped(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// The median; `None` of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut keys: Vec<i64> = values.iter().copied().map(key).collect();
    let even = keys.len().is_multiple_of(2);
    let middle = keys.len() / 2;
    let (below, upper, _) = keys.select_nth_unstable(middle);
    let upper = value(*upper);
    let lower = below.iter().copied().max().map(value);
    Some(if even { f64::midpoint(lower?, upper) } else { upper })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn selection_finds_what_sorting_finds(values in proptest::collection::vec(-1e3..1e3_f64, 1..200), coarse in 0_u8..2) {
            // Coarse values have many ties.
            let step = if coarse == 0 { 1e-9 } else { 300.0 };
            let values: Vec<f64> = values.iter().map(|value| (value / step).round() * step).collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let upper = sorted[values.len() / 2];
            let expected = if values.len().is_multiple_of(2) {
                f64::midpoint(sorted[values.len() / 2 - 1], upper)
            } else {
                upper
            };
            prop_assert_eq!(median(&values).map(f64::to_bits), Some(expected.to_bits()));
        }
    }

    #[test]
    fn keys_keep_the_order_and_the_number() {
        let ascending = [
            f64::NEG_INFINITY,
            -2.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            1e-300,
            3.0,
            f64::INFINITY,
        ];
        assert!(ascending.map(key).is_sorted());
        for number in ascending {
            assert_eq!(value(key(number)).to_bits(), number.to_bits());
        }
        assert_eq!(median(&[]), None);
    }
}
