//! Randomised response: which bands of an episode are shown as they are, and what stands in place of the others.

use crate::key::MaskKey;
use crate::standing::Standing;
use ktd_env::factors::Factor;
use ktd_env::{KeyedStream, NameId};

/// Percent of the names and factors of an episode whose band is shown as it is. The others show a band drawn evenly
/// from the three, the true one among them.
pub const BAND_TRUTH_PERCENT: u64 = 50;

/// Trading days between two refresh days. The first is the as-of day of step 1.
pub const BAND_REFRESH_DAYS: usize = 20;

/// One keyed draw a name and factor, the same for the whole episode, so that asking again tells nothing more.
#[derive(Clone)]
pub(crate) struct BandNoise(Vec<Draw>);

#[derive(Debug, Clone, Copy)]
struct Draw {
    /// Evenly from 0 to 99: below [`BAND_TRUTH_PERCENT`] the true band is shown.
    lot: u64,
    /// What is shown otherwise.
    band: i8,
}

impl Draw {
    const fn is_true(self) -> bool {
        self.lot < BAND_TRUTH_PERCENT
    }
}

impl BandNoise {
    /// The draws of an episode, name by name and factor by factor.
    pub(crate) fn draw(key: &MaskKey, names: usize) -> Self {
        let mut stream = KeyedStream::new(key.for_bands());
        // Both numbers are always drawn, so that a cell's draw does not hang on the cells before it.
        let draws = (0..names * Factor::ALL.len()).map(|_| Draw {
            lot: stream.below(100),
            band: match stream.below(3) {
                0 => -1,
                1 => 0,
                _ => 1,
            },
        });
        Self(draws.collect())
    }

    /// The band shown. Without a standing the draw alone decides, so that a missing value looks like any other.
    pub(crate) fn shown(&self, name: NameId, factor: Factor, standing: Option<Standing>) -> i8 {
        let cell = name.index() * Factor::ALL.len() + factor.index();
        let Some(draw) = self.0.get(cell) else {
            return 0;
        };
        standing
            .filter(|_| draw.is_true())
            .map_or(draw.band, Standing::band)
    }
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
        let noise = BandNoise::draw(&MaskKey::from_bytes([9; 32]), 1);
        let drawn: Vec<_> = noise.0.iter().map(|draw| (draw.lot, draw.band)).collect();
        assert_eq!(
            drawn,
            [
                (50, 1),
                (89, -1),
                (62, 0),
                (36, 0),
                (0, 1),
                (55, 1),
                (50, -1),
                (11, -1),
                (29, 1)
            ]
        );
    }

    /// Over many keys the truth shows as often as the constant says: truth, or an even draw that hits it.
    #[test]
    fn the_truth_shows_as_often_as_it_should() {
        let keys = (0..400_u16).map(|number| {
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&number.to_le_bytes());
            BandNoise::draw(&MaskKey::from_bytes(bytes), 20)
        });
        let (mut draws, mut kept, mut by_band) = (0.0, 0.0, [0.0; 3]);
        for noise in keys {
            for draw in noise.0 {
                draws += 1.0;
                kept += f64::from(u8::from(draw.is_true()));
                by_band[usize::try_from(draw.band + 1).unwrap()] += 1.0;
            }
        }
        let near = |count: f64, chance: f64| {
            let deviation = (chance * (1.0 - chance) / draws).sqrt();
            assert!(
                (count / draws - chance).abs() < 5.0 * deviation,
                "{count} of {draws}"
            );
        };
        near(
            kept,
            f64::from(u32::try_from(BAND_TRUTH_PERCENT).unwrap()) / 100.0,
        );
        for count in by_band {
            near(count, 1.0 / 3.0);
        }
    }

    #[test]
    fn keys_draw_apart_and_not_as_the_aliases_do() {
        let drawn = |noise: &BandNoise| {
            noise
                .0
                .iter()
                .map(|draw| (draw.lot, draw.band))
                .collect::<Vec<_>>()
        };
        assert_eq!(drawn(&noise(1)), drawn(&noise(1)));
        assert_ne!(drawn(&noise(1)), drawn(&noise(2)));
        let key = MaskKey::from_bytes([1; 32]);
        assert_ne!(key.for_bands(), key.bytes());
    }
}
