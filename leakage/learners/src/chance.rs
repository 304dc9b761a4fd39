//! Chance that the caller hands in.

/// A source of 64 random bits at a time, such as a keyed stream: it alone decides what a fit draws.
pub struct Chance<'a>(&'a mut dyn FnMut() -> u64);

impl std::fmt::Debug for Chance<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Chance")
    }
}

impl<'a> Chance<'a> {
    /// Draws by calls of a function.
    pub fn new(next: &'a mut dyn FnMut() -> u64) -> Self {
        Self(next)
    }

    /// A float in `[0, 1)` with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub(crate) fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
        ((self.0)() >> 11) as f64 * STEP
    }

    /// A place below `items` (Lemire's multiplication; its bias is below `items` in 2^64); 0 of none.
    fn below(&mut self, items: usize) -> usize {
        let product = u128::from((self.0)()) * u128::try_from(items).unwrap_or(0);
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Fisher and Yates from the last place down.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }

    /// `chosen` places below `items`, ascending, each at most once.
    pub(crate) fn sample(&mut self, items: usize, chosen: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..items).collect();
        let chosen = chosen.min(items);
        for place in 0..chosen {
            let other = place + self.below(items - place);
            places.swap(place, other);
        }
        places.truncate(chosen);
        places.sort_unstable();
        places
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `SplitMix64`, for tests.
    pub(crate) fn stream(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }
    }

    #[test]
    fn a_sample_is_of_distinct_places_and_a_shuffle_loses_none() {
        let mut next = stream(3);
        let mut chance = Chance::new(&mut next);
        let chosen = chance.sample(100, 20);
        assert!(chosen.len() == 20 && chosen.windows(2).all(|pair| pair[0] < pair[1]) && chosen[19] < 100);
        assert_eq!(chance.sample(3, 9), [0, 1, 2]);
        let mut items: Vec<usize> = (0..50).collect();
        chance.shuffle(&mut items);
        assert!(items.iter().enumerate().any(|(place, item)| place != *item));
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn every_place_is_drawn_about_as_often() {
        let mut next = stream(5);
        let mut chance = Chance::new(&mut next);
        let mut counts = [0; 5];
        for _ in 0..5000 {
            counts[chance.below(5)] += 1;
        }
        assert!(
            counts.iter().all(|count| (900..1100).contains(count)),
            "{counts:?}"
        );
        assert_eq!(chance.below(0), 0);
    }
}
