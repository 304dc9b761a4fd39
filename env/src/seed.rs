//! The one generator of chance: a keyed ChaCha20 stream with our own bounded draw and shuffle.
//!
//! `rand_chacha` pins the stream; bounded draws and Fisher–Yates are written here because those of `rand` may
//! change between minor versions, and an alias map or a synthetic market must not.

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A deterministic stream of random numbers under a 32-byte key.
#[derive(Debug, Clone)]
pub struct KeyedStream(ChaCha20Rng);

impl KeyedStream {
    /// The stream of a key.
    #[must_use]
    pub fn new(key: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(key))
    }

    /// The stream of a public seed and a purpose; different purposes give unrelated streams.
    #[must_use]
    pub fn for_purpose(seed: u64, purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("ktd seed 1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        Self::new(*hasher.finalize().as_bytes())
    }

    /// The stream of a secret key for a purpose, which nobody repeats without the key.
    #[must_use]
    pub fn of_key(key: &[u8; 32], purpose: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("ktd secret 1");
        hasher.update(key);
        hasher.update(purpose.as_bytes());
        Self::new(*hasher.finalize().as_bytes())
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A draw from `0..bound`, without bias; 0 when `bound` is 0.
    ///
    /// Rejection sampling on 64-bit draws: a draw in the short last stretch is thrown away.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // The largest multiple of `bound` that fits, minus one: draws above it are rejected.
        let limit = u64::MAX - (u64::MAX % bound + 1) % bound;
        loop {
            let draw = self.next_u64();
            if draw <= limit {
                return draw % bound;
            }
        }
    }

    /// A float in `[0, 1)` with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a float exactly")]
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
        (self.next_u64() >> 11) as f64 * STEP
    }

    /// A standard normal draw (Box–Muller, one value a call so that call order alone decides the stream).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.uniform())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Fisher–Yates from the last place down.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.shuffle_while(items, |_, _| true);
    }

    /// The same for as long as whoever is told each place with what it holds from then on, the last first, wants to know more.
    pub fn shuffle_while<T>(&mut self, items: &mut [T], mut goes_on: impl FnMut(usize, &T) -> bool) {
        for last in (0..items.len()).rev() {
            if 0 < last {
                let bound = u64::try_from(last).unwrap_or(u64::MAX).saturating_add(1);
                let chosen = usize::try_from(self.below(bound)).unwrap_or(last);
                items.swap(last, chosen);
            }
            if items.get(last).is_some_and(|item| !goes_on(last, item)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: a change here changes every alias map and synthetic market ever made.
    #[test]
    fn golden_vectors() {
        let mut stream = KeyedStream::new([7; 32]);
        let draws: Vec<u64> = (0..3).map(|_| stream.next_u64()).collect();
        let mut items: Vec<u32> = (0..10).collect();
        KeyedStream::new([7; 32]).shuffle(&mut items);
        let bounded: Vec<u64> = (0..8).map(|_| stream.below(6)).collect();
        // An implementation of RFC 8439's block function in another language gives the same.
        assert_eq!(
            draws,
            [
                4_753_173_749_397_848_308,
                8_104_706_558_872_646_932,
                6_317_272_734_290_246_028
            ]
        );
        assert_eq!(items, [6, 9, 7, 3, 0, 5, 2, 4, 1, 8]);
        assert_eq!(bounded, [4, 5, 1, 3, 0, 1, 4, 2]);
    }

    #[test]
    fn bounded_draws_cover_the_range_evenly() {
        let mut stream = KeyedStream::for_purpose(1, "test");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(stream.below(7)).unwrap()] += 1;
        }
        assert!(
            counts.iter().all(|&count| (9_500..10_500).contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..1000).collect();
        KeyedStream::for_purpose(2, "test").shuffle(&mut items);
        let mut sorted = items.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
        assert_ne!(items, sorted);
    }
}
