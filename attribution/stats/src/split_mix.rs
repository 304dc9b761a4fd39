//! The generator of the bootstrap.

use crate::normal_quantile;

/// `SplitMix64` (Steele, Lea and Flood 2014): a counter and a mixing function.
///
/// It is here, and not the keyed stream of the market, because the golden set of the statistics is drawn by it and
/// because a bootstrap makes millions of draws.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The generator of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of one replicate, 0-based: its draws do not depend on those of other replicates.
    #[must_use]
    pub fn of_replicate(seed: u64, replicate: u32) -> Self {
        const SPREAD: u64 = 0xD1B5_4A32_D192_ED03;
        Self(seed ^ (u64::from(replicate) + 1).wrapping_mul(SPREAD))
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A float in `[0, 1)` with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// A draw of the standard normal distribution: the quantile of a uniform draw. Of the least and the largest there is none: they
    /// count as 1e-15 from the end.
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.uniform().clamp(1e-15, 1.0 - 1e-15)).unwrap_or(0.0)
    }

    /// A place below `items`, given as a float that is a whole number: the uniform draw times it, cut off. The bias
    /// is below 2^-53 of `items`.
    pub fn below(&mut self, items: f64) -> usize {
        whole(self.uniform() * items)
    }
}

/// The whole part of a float as a place; 0 of a negative one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cutting off is what is wanted, and the cast saturates at both ends"
)]
pub(crate) const fn whole(value: f64) -> usize {
    value as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_stream_of_seed_1234567() {
        let mut generator = SplitMix64::new(1_234_567);
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for expected in published {
            assert_eq!(generator.next_u64(), expected);
        }
    }

    #[test]
    fn a_place_is_below_its_bound() {
        let mut generator = SplitMix64::of_replicate(7, 0);
        assert!((0..1000).all(|_| generator.below(3.0) < 3));
        assert_eq!(whole(-0.5), 0);
    }
}
