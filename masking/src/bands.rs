//! Noised bands: where a name stands in the cross-section, moved by chance before its third is shown.
//!
//! Chance moves the rank itself rather than replacing the band now and then: at the same worth to those who look at
//! many names it tells half as much of any one of them, because a wrong band is mostly a neighbouring one.

use crate::cross_section_rank::CrossSectionRank;
use crate::key::MaskKey;
use ktd_env::factors::Factor;
use ktd_env::{KeyedStream, NameId};

/// Standard deviation of what moves a rank, in standard deviations of the ranks themselves. Chosen so that the
/// bounds hold on the real panel even beside a stock that is known (docs/mask-certificate.md): that stock's bands would
/// tell the days. What is left of a rank is one part in the square root of 1 + 4^2, about a quarter.
pub const BAND_NOISE: f64 = 4.0;

/// Trading days between two refresh days. The first is the as-of day of step 1.
pub const BAND_REFRESH_DAYS: usize = 20;

/// How far from the middle the outer thirds begin, in standard deviations of moved ranks, which are nearly normal.
const CUT: f64 = 0.430_727;

/// One keyed draw a name and factor, the same for the whole episode, so that asking again tells nothing more.
#[derive(Clone)]
pub(crate) struct BandNoise {
    draws: Vec<Draw>,
    /// Where the outer bands begin.
    cut: f64,
}

#[derive(Debug, Clone, Copy)]
struct Draw {
    /// Moves the rank.
    by: f64,
    /// The rank, 0 to 1, that stands in place of a missing one.
    instead: f64,
}

impl BandNoise {
    /// The draws of an episode, name by name and factor by factor.
    pub(crate) fn draw(key: &MaskKey, names: usize) -> Self {
        let mut stream = KeyedStream::new(key.for_bands());
        // Both numbers are always drawn, so that a cell's draw does not hang on the cells before it.
        let draws = (0..names * Factor::ALL.len()).map(|_| Draw {
            by: BAND_NOISE * stream.normal(),
            instead: stream.uniform(),
        });
        Self {
            draws: draws.collect(),
            cut: band_cut(),
        }
    }

    /// The same cells with nothing that moves them, and a third of all names in each band.
    pub(crate) fn stilled(self) -> Self {
        let still = |draw: Draw| Draw { by: 0.0, ..draw };
        Self {
            draws: self.draws.into_iter().map(still).collect(),
            cut: score(2.0 / 3.0),
        }
    }

    /// The band shown: -1, 0 or 1. Without a rank a drawn one is moved, so that a missing value looks like any other.
    pub(crate) fn shown(&self, name: NameId, factor: Factor, rank: Option<CrossSectionRank>) -> i8 {
        let cell = name.index() * Factor::ALL.len() + factor.index();
        let Some(draw) = self.draws.get(cell) else {
            return 0;
        };
        let moved = score(rank.map_or(draw.instead, CrossSectionRank::share)) + draw.by;
        i8::from(self.cut < moved) - i8::from(moved < -self.cut)
    }
}

/// A share of the others that a name stands above, as a score with mean 0 and standard deviation 1 over all names.
#[must_use]
pub fn score(share: f64) -> f64 {
    12.0_f64.sqrt() * (share - 0.5)
}

/// Where the outer bands of moved scores begin, below and above 0.
#[must_use]
pub fn band_cut() -> f64 {
    CUT * (1.0 + BAND_NOISE * BAND_NOISE).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(key: u8) -> BandNoise {
        BandNoise::draw(&MaskKey::from_bytes([key; 32]), 1)
    }

    /// Pinned: a change here changes what every episode at this level shows.
    #[test]
    fn golden_draws() {
        let drawn: Vec<String> = noise(9)
            .draws
            .iter()
            .map(|draw| format!("{:.4} {:.4}", draw.by, draw.instead))
            .collect();
        assert_eq!(
            drawn,
            [
                "1.5829 0.4723",
                "4.6494 0.8657",
                "5.0978 0.4981",
                "0.0913 0.7723",
                "3.6524 0.8265",
                "-0.5797 0.7251",
                "5.3379 0.8121",
                "0.7597 0.6750",
                "-7.9569 0.3564"
            ]
        );
    }

    /// Over many keys each band is shown of about a third, and a high rank is shown high more often than low.
    #[test]
    fn bands_are_even_and_lean_to_the_truth() {
        let shown = |share: Option<(usize, usize)>, draws: &[Draw]| {
            let mut counts = [0.0; 3];
            for (place, draw) in draws.iter().enumerate() {
                let own = share.map_or((place % 300, 299), |share| share);
                let share =
                    CrossSectionRank::new(own.0, 0, own.1).map_or(draw.instead, CrossSectionRank::share);
                let moved = score(share) + draw.by;
                let band = usize::from(-band_cut() <= moved) + usize::from(band_cut() < moved);
                counts[band] += 1.0 / f64::from(u32::try_from(draws.len()).unwrap());
            }
            counts
        };
        let draws: Vec<Draw> = (0..400_u16)
            .flat_map(|number| {
                let mut bytes = [0; 32];
                bytes[..2].copy_from_slice(&number.to_le_bytes());
                BandNoise::draw(&MaskKey::from_bytes(bytes), 20).draws
            })
            .collect();
        for share in shown(None, &draws) {
            assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
        }
        let [low, middle, high] = shown(Some((299, 299)), &draws);
        assert!(
            low + 0.05 < middle && middle + 0.05 < high && 0.45 < high,
            "{low} {middle} {high}"
        );
    }

    #[test]
    fn stilled_bands_are_those_of_the_ranks() {
        let still = noise(9).stilled();
        let market = ktd_env::synth::generate(&ktd_env::synth::SynthConfig {
            seed: 1,
            names: 1,
            days: 20,
        });
        let (name, _) = market.unwrap().names().next().unwrap();
        for factor in Factor::ALL {
            for (below, band) in [(0, -1), (33, -1), (34, 0), (66, 0), (67, 1), (100, 1)] {
                let rank = CrossSectionRank::new(below, 0, 100);
                assert_eq!(still.shown(name, factor, rank), band, "{below}");
            }
        }
    }

    #[test]
    fn keys_draw_apart_and_not_as_the_aliases_do() {
        let drawn = |noise: &BandNoise| {
            noise
                .draws
                .iter()
                .map(|draw| draw.by.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(&noise(1)), drawn(&noise(1)));
        assert_ne!(drawn(&noise(1)), drawn(&noise(2)));
        let key = MaskKey::from_bytes([1; 32]);
        assert_ne!(key.for_bands(), key.bytes());
    }
}
