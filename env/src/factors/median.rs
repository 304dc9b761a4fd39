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

/// Buffers for medians, kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Medians {
    keys: Vec<i64>,
    /// The keys near the middle.
    near: Vec<i64>,
}

/// Fewest values of which a few tell where the middle is.
const FEWEST: usize = 128;
/// How many are looked at, evenly spread, and which of them in their order enclose the middle nine times in ten.
const SAMPLE: usize = 15;
const ENCLOSING: (usize, usize) = (4, 10);

impl Medians {
    /// The median; `None` of nothing.
    pub(super) fn median(&mut self, values: impl Iterator<Item = f64>) -> Option<f64> {
        self.keys.clear();
        self.keys.extend(values.map(key));
        let middle = self.keys.len() / 2;
        let even = self.keys.len().is_multiple_of(2);
        let (lower, upper) = self.narrowed(middle).or_else(|| select(&mut self.keys, middle))?;
        Some(if even {
            f64::midpoint(value(lower), value(upper))
        } else {
            value(upper)
        })
    }

    /// What [`select`] says of all keys, from those that lie between two of a sample; `None` where those do not enclose
    /// the middle.
    fn narrowed(&mut self, middle: usize) -> Option<(i64, i64)> {
        if self.keys.len() < FEWEST {
            return None;
        }
        let step = self.keys.len() / SAMPLE;
        let mut sample = [0; SAMPLE];
        for (cell, key) in sample.iter_mut().zip(self.keys.iter().step_by(step)) {
            *cell = *key;
        }
        sample.sort_unstable();
        let (low, high) = (*sample.get(ENCLOSING.0)?, *sample.get(ENCLOSING.1)?);
        self.near.resize(self.keys.len(), 0);
        let (mut below, mut near) = (0, 0);
        for key in &self.keys {
            // Written over by the next one where it does not count: no branch to be guessed.
            if let Some(cell) = self.near.get_mut(near) {
                *cell = *key;
            }
            near += usize::from((low..=high).contains(key));
            below += usize::from(*key < low);
        }
        // Both middle ones of an even number.
        let rank = middle.checked_sub(below).filter(|rank| 0 < *rank)?;
        select(self.near.get_mut(..near)?, rank)
    }
}

/// The key of a rank and the one before it, or the same twice for the lowest; `None` where there are fewer.
fn select(keys: &mut [i64], rank: usize) -> Option<(i64, i64)> {
    if keys.len() <= rank {
        return None;
    }
    let (below, key, _) = keys.select_nth_unstable(rank);
    Some((below.iter().copied().max().unwrap_or(*key), *key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn selection_finds_what_sorting_finds(values in proptest::collection::vec(-1e3..1e3_f64, 1..400), coarse in 0_u8..2) {
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
            let found = Medians::default().median(values.into_iter());
            prop_assert_eq!(found.map(f64::to_bits), Some(expected.to_bits()));
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
        assert_eq!(Medians::default().median([].into_iter()), None);
    }
}
