//! The pinned generator of the agents that throw dice: `SplitMix64` (Steele, Lea and Flood 2014).

/// Dice whose throws depend on a seed and the bytes of the request, and on nothing else.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice for this request.
    pub(crate) fn new(seed: u64, request: &[u8]) -> Self {
        let digest = request.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // Mixed once, so that neighbouring seeds do not give neighbouring states.
        Self(Self(seed).throw() ^ digest)
    }

    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `sides`, 0 when there are none. The bias is below `sides` in 2^32.
    pub(crate) fn below(&mut self, sides: u32) -> u32 {
        let scaled = (self.throw() >> 32).wrapping_mul(u64::from(sides)) >> 32;
        u32::try_from(scaled).unwrap_or(0)
    }

    /// One of `items`.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let sides = u32::try_from(items.len()).unwrap_or(u32::MAX);
        items.get(usize::try_from(self.below(sides)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_pinned() {
        let mut dice = Dice(0);
        assert_eq!(dice.throw(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(dice.throw(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn throws_stay_on_the_sides_and_reach_all_of_them() {
        let mut dice = Dice::new(7, b"request");
        let mut counts = [0_u32; 6];
        for _ in 0..600 {
            counts[usize::try_from(dice.below(6)).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|count| (50..=150).contains(count)),
            "{counts:?}"
        );
        assert_eq!(dice.below(0), 0);
        assert_eq!(dice.pick::<u8>(&[]), None);
    }
}
