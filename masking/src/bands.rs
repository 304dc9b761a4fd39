//! Noised bands: where a name stands in the cross-section, moved by chance before its third is told.
//!
//! Chance moves the standing itself rather than replacing the band now and then: at the same worth to those who look at
//! many names it tells half as much of any one of them, because a wrong band is mostly a neighbouring one.

use crate::key::MaskKey;
use crate::standing::Standing;
use ktd_env::factors::Factor;
use ktd_env::{KeyedStream, NameId};

/// Standard deviation of what moves a standing, in standard deviations of the standings themselves. Chosen so that the
/// bounds hold on the real panel even beside a stock that is known (docs/mask-certificate.md): that stock's bands would
/// tell the days. What is left of a standing is one part in the square root of 1 + 4^2, about a quarter.
pub const BAND_NOISE: f64 = 4.0;

/// Trading days between two refresh days. The first is the as-of day of step 1.
pub const BAND_REFRESH_DAYS: usize = 20;

/// How far from the middle the outer thirds begin, in standard deviations of moved standings, which are nearly normal.
const CUT: f64 = 0.430_727;

/// One keyed draw a name and factor, the same for the whole episode, so that asking again tells nothing more.
#[derive(Clone)]
pub(crate) struct BandNoise(Vec<Draw>);

#[derive(Debug, Clone, Copy)]
struct Draw {
    /// Moves the standing.
    by: f64,
    /// The standing, 0 to 1, that stands in place of a missing one.
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
        Self(draws.collect())
    }

    /// The band shown: -1, 0 or 1. Without a standing a drawn one is moved, so that a missing value looks like any other.
    pub(crate) fn shown(&self, name: NameId, factor: Factor, standing: Option<Standing>) -> i8 {
        let cell = name.index() * Factor::ALL.len() + factor.index();
        let Some(draw) = self.0.get(cell) else {
            return 0;
        };
        let moved = score(standing.map_or(draw.instead, Standing::share)) + draw.by;
        i8::from(band_cut() < moved) - i8::from(moved < -band_cut())
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
            .0
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

    /// Over many keys each band is shown of about a third, and a high standing is shown high more often than low.
    #[test]
    fn bands_are_even_and_lean_to_the_truth() {
        let shown = |share: Option<(usize, usize)>, draws: &[Draw]| {
            let mut counts = [0.0; 3];
            for (place, draw) in draws.iter().enumerate() {
                let own = share.map_or((place % 300, 299), |share| share);
                let share = Standing::new(own.0, 0, own.1).map_or(draw.instead, Standing::share);
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
                BandNoise::draw(&MaskKey::from_bytes(bytes), 20).0
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
    fn keys_draw_apart_and_not_as_the_aliases_do() {
        let drawn = |noise: &BandNoise| noise.0.iter().map(|draw| draw.by.to_bits()).collect::<Vec<_>>();
        assert_eq!(drawn(&noise(1)), drawn(&noise(1)));
        assert_ne!(drawn(&noise(1)), drawn(&noise(2)));
        let key = MaskKey::from_bytes([1; 32]);
        assert_ne!(key.for_bands(), key.bytes());
    }
}
