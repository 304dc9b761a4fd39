//! How many of many series are not copies of each other.

use crate::moments::{count, is_rounding, mean};

/// Correlation from which two series count as one.
pub const LIKE_CORRELATION: f64 = 0.5;

/// Correlation from which a series is another one in another unit.
const COPY_CORRELATION: f64 = 1.0 - 1e-9;

/// The number of series that vary and are not alike: of those that correlate by [`LIKE_CORRELATION`] or more one counts. A series
/// that is like many is taken last, so that adding one never makes two others one.
#[must_use]
pub fn distinct_series(series: &[&[f64]]) -> usize {
    let counted = series_representatives(series).into_iter().enumerate();
    counted.filter(|(place, of)| *of == Some(*place)).count()
}

/// The place of the series that counts for each, its own where that is itself; none of a series that does not vary, or has a value
/// that is no number. No two that count are alike, and copies of a series change nothing for the others.
#[must_use]
pub fn series_representatives(series: &[&[f64]]) -> Vec<Option<usize>> {
    let standardised: Vec<Option<Vec<f64>>> = series.iter().map(|values| standardise(values)).collect();
    let mut originals: Vec<Original<'_>> = Vec::new();
    // The place of each series' original among them.
    let mut original_of = Vec::with_capacity(series.len());
    for (place, values) in standardised.iter().enumerate() {
        let Some(values) = values else {
            original_of.push(None);
            continue;
        };
        let products: Vec<f64> = originals.iter().map(|known| known.correlation(values)).collect();
        if let Some(copied) = products.iter().position(|product| COPY_CORRELATION <= *product) {
            original_of.push(Some(copied));
            continue;
        }
        let own = originals.len();
        let mut like = Vec::new();
        for ((other, known), product) in originals.iter_mut().enumerate().zip(products) {
            if LIKE_CORRELATION <= product {
                known.like.push((own, product));
                like.push((other, product));
            }
        }
        originals.push(Original { place, values, like });
        original_of.push(Some(own));
    }
    let counts = counted(&originals);
    let representative = |own: usize| {
        let original = originals.get(own)?;
        if counts.get(own) == Some(&true) {
            return Some(original.place);
        }
        let near = original
            .like
            .iter()
            .filter(|(other, _)| counts.get(*other) == Some(&true));
        let nearest = near.reduce(|best, next| if best.1 < next.1 { next } else { best });
        nearest
            .and_then(|(other, _)| originals.get(*other))
            .map(|nearest| nearest.place)
    };
    original_of
        .into_iter()
        .map(|own| own.and_then(representative))
        .collect()
}

/// A series that is no copy of an earlier one.
struct Original<'s> {
    place: usize,
    values: &'s [f64],
    /// Originals that are like it, and how far.
    like: Vec<(usize, f64)>,
}

impl Original<'_> {
    fn correlation(&self, values: &[f64]) -> f64 {
        if self.values.len() != values.len() {
            return 0.0;
        }
        self.values
            .iter()
            .zip(values)
            .map(|(own, other)| own * other)
            .sum()
    }
}

/// Which of the originals count: those with the fewest alike first.
fn counted(originals: &[Original<'_>]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..originals.len()).collect();
    order.sort_by_key(|own| {
        (
            originals.get(*own).map_or(0, |original| original.like.len()),
            *own,
        )
    });
    let mut counts = vec![false; originals.len()];
    for own in order {
        let like = originals
            .get(own)
            .map_or(&[][..], |original| original.like.as_slice());
        let is_free = like.iter().all(|(other, _)| counts.get(*other) != Some(&true));
        if let Some(counts) = counts.get_mut(own) {
            *counts = is_free;
        }
    }
    counts
}

/// Deviations from the mean whose squares add up to 1; none of a series that does not vary.
fn standardise(values: &[f64]) -> Option<Vec<f64>> {
    let mean = mean(values).filter(|mean| mean.is_finite())?;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / count(values.len())).sqrt();
    (deviation.is_finite() && !is_rounding(deviation, mean)).then(|| {
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

    /// Whoever adds copies of one series moves no other one, however they hang together.
    #[test]
    fn copies_change_nothing_for_others() {
        let mut generator = SplitMix64::new(7);
        let mut noise = || -> Vec<f64> { (0..120).map(|_| generator.uniform() - 0.5).collect() };
        let parts: Vec<Vec<f64>> = (0..6).map(|_| noise()).collect();
        let mixed = (0..12).map(|place| {
            let (left, right) = (&parts[place % 6], &parts[(place * 5 + 1) % 6]);
            let own = noise();
            let sum = left.iter().zip(right).zip(own);
            sum.map(|((left, right), own)| left + right + own)
                .collect::<Vec<f64>>()
        });
        let mixed: Vec<Vec<f64>> = mixed.collect();
        let alone: Vec<&[f64]> = mixed.iter().map(Vec::as_slice).collect();
        let wanted = series_representatives(&alone);
        for copied in 0..mixed.len() {
            let copy: Vec<f64> = mixed[copied].iter().map(|value| 2.0 * value - 1.0).collect();
            let with: Vec<&[f64]> = alone.iter().copied().chain([&copy[..]; 5]).collect();
            let found = series_representatives(&with);
            assert_eq!(found[..mixed.len()], wanted);
            assert_eq!(found[mixed.len()..], [wanted[copied]; 5]);
        }
        assert!((2..12).contains(&distinct_series(&alone)));
    }

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
        let broken = vec![f64::INFINITY; 200];
        let stand = series_representatives(&[&bridge, &one, &idle, &two, &copy, &broken]);
        assert_eq!(stand[1..], [Some(1), None, Some(3), Some(1), None]);
        assert!(stand[0] == Some(1) || stand[0] == Some(3));
    }
}
