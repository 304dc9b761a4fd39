//! How many of many series are not copies of each other.

use crate::moments::{count, is_rounding, mean};

/// Correlation from which two series count as one.
pub const LIKE_CORRELATION: f64 = 0.5;

/// The number of series that vary and are not alike: of those that correlate by [`LIKE_CORRELATION`] or more one counts. A series
/// that is like many is taken last, so that adding one never makes two others one.
#[must_use]
pub fn distinct_series(series: &[&[f64]]) -> usize {
    let standardised: Vec<Vec<f64>> = series.iter().filter_map(|values| standardise(values)).collect();
    let alike = |one: &[f64], other: &[f64]| {
        let product: f64 = one.iter().zip(other).map(|(own, other)| own * other).sum();
        one.len() == other.len() && LIKE_CORRELATION <= product
    };
    let like = |one: &Vec<f64>| -> Vec<usize> {
        let others = standardised.iter().enumerate();
        others
            .filter(|(_, other)| alike(one, other))
            .map(|(place, _)| place)
            .collect()
    };
    let neighbours: Vec<Vec<usize>> = standardised.iter().map(like).collect();
    let mut order: Vec<usize> = (0..neighbours.len()).collect();
    order.sort_by_key(|place| (neighbours.get(*place).map_or(0, Vec::len), *place));
    let mut is_taken = vec![false; neighbours.len()];
    for place in order {
        let near = neighbours.get(place).map_or(&[][..], Vec::as_slice);
        let is_free = near.iter().all(|other| is_taken.get(*other) != Some(&true));
        if let Some(taken) = is_taken.get_mut(place) {
            *taken = is_free;
        }
    }
    is_taken.into_iter().filter(|taken| *taken).count()
}

/// Deviations from the mean whose squares add up to 1; none of a series that does not vary.
fn standardise(values: &[f64]) -> Option<Vec<f64>> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / count(values.len())).sqrt();
    (!is_rounding(deviation, mean)).then(|| {
        values
            .iter()
            .map(|value| (value - mean) / squares.sqrt())
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn copies_and_idle_series_are_no_trials_and_a_bridge_joins_nobody() {
        let mut generator = SplitMix64::new(3);
        let mut noise = || -> Vec<f64> { (0..200).map(|_| generator.uniform() - 0.5).collect() };
        let (one, two, idle) = (noise(), noise(), vec![0.0; 200]);
        let copy: Vec<f64> = one.iter().map(|value| 3.0 * value + 0.1).collect();
        let bridge: Vec<f64> = one.iter().zip(&two).map(|(one, two)| one + two).collect();
        assert_eq!(distinct_series(&[&one, &copy, &idle, &copy]), 1);
        assert_eq!(distinct_series(&[&bridge, &one, &two]), 2);
        assert_eq!(distinct_series(&[]), 0);
    }
}
