//! Which days a replicate of the bootstrap draws.

use super::error::StatsError;
use super::split_mix::SplitMix64;
use crate::moments::count;

/// Mean block of a bootstrap: two trading weeks.
pub const DEFAULT_MEAN_BLOCK_DAYS: f64 = 10.0;

/// The stationary bootstrap (Politis and Romano 1994): blocks of consecutive days, their starts uniform and their
/// lengths geometric, with the end of the window joined to its start.
///
/// One draw is meant for all agents, so that they are compared on the same days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StationaryBootstrap {
    days: usize,
    mean_block_days: f64,
    replicates: u32,
    seed: u64,
}

impl StationaryBootstrap {
    /// Draws of `days` from `days`, in blocks of a mean length, as often as `replicates` (2,000 or more for intervals).
    ///
    /// # Errors
    /// [`StatsError::Bootstrap`] without days, with more than 2^32 - 1 of them, or without replicates;
    /// [`StatsError::MeanBlock`] unless the mean block is a number of 1 or more. A mean block of 1 draws single days.
    pub fn new(days: usize, mean_block_days: f64, replicates: u32, seed: u64) -> Result<Self, StatsError> {
        if days == 0 || u32::try_from(days).is_err() || replicates == 0 {
            return Err(StatsError::Bootstrap { days, replicates });
        }
        if !(mean_block_days.is_finite() && 1.0 <= mean_block_days) {
            return Err(StatsError::MeanBlock {
                value: mean_block_days,
            });
        }
        Ok(Self {
            days,
            mean_block_days,
            replicates,
            seed,
        })
    }

    /// How many replicates are drawn.
    #[must_use]
    pub const fn replicates(&self) -> u32 {
        self.replicates
    }

    /// The days of one replicate, 0-based and in the order drawn.
    #[must_use]
    pub fn draw(&self, replicate: u32) -> Draw {
        Draw {
            generator: SplitMix64::of_replicate(self.seed, replicate),
            days: self.days,
            days_float: count(self.days),
            new_block: 1.0 / self.mean_block_days,
            current: None,
            left: self.days,
        }
    }

    /// How often one replicate draws each day, written over `times`.
    pub fn multiplicities(&self, replicate: u32, times: &mut Vec<f64>) {
        times.clear();
        times.resize(self.days, 0.0);
        for day in self.draw(replicate) {
            if let Some(time) = times.get_mut(day) {
                *time += 1.0;
            }
        }
    }

    /// Whether the draws fit a table of so many days.
    ///
    /// # Errors
    /// [`StatsError::Drawn`] where they do not.
    pub const fn check_days(&self, days: usize) -> Result<(), StatsError> {
        if days == self.days {
            return Ok(());
        }
        Err(StatsError::Drawn {
            drawn: self.days,
            days,
        })
    }
}

/// The days of one replicate.
#[derive(Debug, Clone)]
pub struct Draw {
    generator: SplitMix64,
    days: usize,
    days_float: f64,
    new_block: f64,
    current: Option<usize>,
    left: usize,
}

impl Iterator for Draw {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let day = match self.current {
            Some(current) if self.new_block <= self.generator.uniform() => {
                let next = current + 1;
                if next == self.days { 0 } else { next }
            }
            _ => self.generator.below(self.days_float),
        };
        self.current = Some(day);
        Some(day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        assert!(StationaryBootstrap::new(0, 10.0, 1, 0).is_err());
        assert!(StationaryBootstrap::new(5, 10.0, 0, 0).is_err());
        for mean in [0.99, f64::NAN, f64::INFINITY] {
            let error = StationaryBootstrap::new(5, mean, 1, 0).unwrap_err();
            assert!(matches!(error, StatsError::MeanBlock { .. }) && !error.hint().is_empty());
        }
    }

    #[test]
    fn blocks_have_the_mean_length_asked_for() {
        let draws = StationaryBootstrap::new(500, 20.0, 400, 9).unwrap();
        let breaks = |replicate: u32| {
            let days: Vec<usize> = draws.draw(replicate).collect();
            let joined = |pair: &&[usize]| (pair[0] + 1) % 500 != pair[1];
            days.windows(2).filter(joined).count()
        };
        let all: usize = (0..400).map(breaks).sum();
        let mean = 400.0 * 500.0 / f64::from(u32::try_from(all).unwrap());
        assert!((mean - 20.0).abs() < 1.0, "{mean}");
    }

    proptest! {
        #[test]
        fn a_replicate_stands_alone_and_keeps_inside(
            days in 1..60_usize, mean in 1.0..30.0_f64, seed: u64, replicate in 0..50_u32,
        ) {
            let few = StationaryBootstrap::new(days, mean, 1, seed).unwrap();
            let many = StationaryBootstrap::new(days, mean, 50, seed).unwrap();
            let drawn: Vec<usize> = few.draw(replicate).collect();
            prop_assert_eq!(&drawn, &many.draw(replicate).collect::<Vec<_>>());
            prop_assert_eq!(drawn.len(), days);
            prop_assert!(drawn.iter().all(|day| *day < days));
            let mut times = Vec::new();
            few.multiplicities(replicate, &mut times);
            for (day, times) in times.iter().enumerate() {
                let drawn = drawn.iter().filter(|drawn| **drawn == day).count();
                prop_assert_eq!(times.to_bits(), count(drawn).to_bits());
            }
        }
    }
}
