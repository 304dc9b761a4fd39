//! Draws of planted accounts, which tell how many are done.

use super::{PlantingOptions, SECTOR_DRAWS, SECTOR_SHARES};
use ktd_attribution::model::ExtraStyle;
use ktd_attribution::planting::{PlantedDesign, PlantedMarket, PlantingError, Recovered};
use ktd_io::parallel::{Ticks, in_parallel};

/// Draws in all: of planted accounts under each tail, of timers, of hidden styles, and of sectors where the market has them.
pub(super) fn draws_of(options: &PlantingOptions, tails: usize, has_sectors: bool) -> u64 {
    let sectors = if has_sectors { SECTOR_SHARES.len() } else { 0 };
    let count = |tables: usize| u64::try_from(tables).unwrap_or(u64::MAX);
    let (once, often) = (count(tails + ExtraStyle::ALL.len()), count(1 + sectors));
    let tables = once.saturating_add(often.saturating_mul(SECTOR_DRAWS));
    options.draws.saturating_mul(tables)
}

/// Draws under way.
pub(super) struct Drawing<'d> {
    pub(super) options: &'d PlantingOptions,
    pub(super) ticks: Ticks<'d>,
}

impl Drawing<'_> {
    pub(super) fn recover(
        &self,
        planted: &PlantedMarket,
        design: &PlantedDesign,
        draws: u64,
    ) -> Result<Vec<Vec<Recovered>>, PlantingError> {
        let PlantingOptions { seed, threads, .. } = self.options;
        let seeds: Vec<u64> = (0..draws).map(|draw| seed.wrapping_add(draw)).collect();
        let draws = in_parallel(&seeds, *threads, |seed| {
            let recovered = planted.recover(design, *seed);
            self.ticks.tick();
            recovered
        });
        draws.into_iter().collect()
    }
}
