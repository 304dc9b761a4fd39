//! Pools whose truth is planted, and what a report concludes of them: how often its tests and intervals are wrong.

use crate::day_series::{DaySeries, sharpe_interval};
use crate::figure_row::FigureRow;
use crate::inference::{PoolTrials, pool_inference, series_ranks};
use crate::pool_comparison::robust_and_rest;
use ktd_env::KeyedStream;
use ktd_stats::moments::count;
use ktd_stats::{StatsError, TRADING_DAYS_PER_YEAR};

/// The annual Sharpe ratio of a skilled alpha.
pub const PLANTED_RATIO: f64 = 2.5;

/// Deviation of a day's return.
const DEVIATION: f64 = 0.01;

/// The share of variance that alphas of a shared factor have in common: below what makes two alike.
const SHARED: f64 = 0.3;

/// What the probability of a claim must reach.
const CLAIMED: f64 = 0.95;

/// What the returns of a planted pool are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedPool {
    /// Independent dice.
    Dice,
    /// Dice that share a factor.
    SharedDice,
    /// Dice but for so many skilled ones, at the beginning.
    Skilled(usize),
}

/// A kind of planted pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSizeDesign {
    /// Alphas of the pool.
    pub alphas: usize,
    /// Days.
    pub days: usize,
    /// Their returns.
    pub plant: PlantedPool,
}

/// What a report concludes of one pool.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent conclusions, no state")]
pub struct PoolConclusion {
    /// Whether the 95 % interval of the first alpha's ratio holds its true one.
    pub interval_holds: bool,
    /// Whether that of the highest ratio lies above 0.
    pub best_above: bool,
    /// Whether the p-value of the best against nothing is below .05.
    pub best_told: bool,
    /// Whether the highest deflated ratio is above .95, of as many trials as there are alphas.
    pub deflated_told: bool,
    /// Whether the first alpha's is.
    pub first_told: bool,
    /// Whether the means of the two halves of the alphas, as pools, are told apart.
    pub pools_told: bool,
    /// Whether robust alphas are told from the rest by their drawdowns at any threshold, all judged at once.
    pub robust_told: bool,
    /// The probability of overfitting; none of too few days or alphas.
    pub pbo: Option<f64>,
}

impl PoolSizeDesign {
    /// All designs, from few alphas and days to many.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for alphas in [5, 20, 100] {
            let of = |days, plant| Self { alphas, days, plant };
            all.extend([60, 120, 250, 500, 750].map(|days| of(days, PlantedPool::Dice)));
            all.push(of(250, PlantedPool::SharedDice));
            all.extend([1, 4].map(|skilled| of(500, PlantedPool::Skilled(skilled))));
        }
        all
    }

    /// Draws a pool and concludes of it as a report does.
    ///
    /// # Errors
    /// [`StatsError`] as [`pool_inference`]; a drawn pool has none.
    pub fn conclusion(&self, seed: u64, draw: u32) -> Result<PoolConclusion, StatsError> {
        let pool = self.pool(seed, draw);
        let series: Vec<&DaySeries> = pool.iter().collect();
        let days: Vec<usize> = (0..self.days).collect();
        let trials = PoolTrials {
            tried: Some(self.alphas),
            is_sign_learned: false,
        };
        let found = pool_inference(trials, &series, &days, seed.wrapping_add(u64::from(draw)))?;
        let told = |place: usize| {
            let deflated = found.deflated.get(place).and_then(|row| row.get("dsr"));
            deflated.is_some_and(|probability| CLAIMED < probability)
        };
        let interval = |place: usize| series.get(place).and_then(|series| sharpe_interval(series).ok());
        let truth = if self.is_skilled(0) { PLANTED_RATIO } else { 0.0 };
        let halves =
            [0, self.alphas / 2].map(|first| mean_series(pool.iter().skip(first).take(self.alphas / 2)));
        let ranks = series_ranks(&halves.each_ref(), &days, seed)?;
        Ok(PoolConclusion {
            interval_holds: interval(0).is_some_and(|held| held.lower <= truth && truth <= held.upper),
            best_above: found.row.get("best_sr_net_low").is_some_and(|low| 0.0 < low),
            best_told: found.row.get("spa_p").is_some_and(|p| p < 1.0 - CLAIMED),
            deflated_told: (0..self.alphas).any(told),
            first_told: told(0),
            pools_told: ranks.iter().any(|rank| rank.lower == rank.upper),
            robust_told: self.robust_told(seed, draw),
            pbo: found.row.get("pbo"),
        })
    }

    /// Robustness and drawdowns of their own, that have nothing to do with each other but in a pool with skill: there robust alphas lose less.
    fn robust_told(&self, seed: u64, draw: u32) -> bool {
        let mut stream = KeyedStream::for_purpose(seed, &format!("planted robustness {self:?} {draw}"));
        let slope = if self.is_skilled(0) { 1.0 } else { 0.0 };
        let rows: Vec<FigureRow> = (0..self.alphas)
            .map(|_| {
                let (robust, own) = (stream.normal(), stream.normal());
                let mut row = FigureRow::default();
                row.put("pfs", Ok((0.8 + 0.12 * robust).min(1.0)));
                row.put("mdd", Ok(0.2 * libm::exp(0.5 * (own - slope * robust))));
                row
            })
            .collect();
        let told = |name: &str, row: &FigureRow| row.get(name).is_some_and(|p| p <= 1.0 - CLAIMED);
        let compared = robust_and_rest(rows.iter());
        compared.iter().any(|found| {
            ["welch_p_all", "u_p_all"]
                .iter()
                .any(|name| told(name, &found.row))
        })
    }

    const fn is_skilled(&self, alpha: usize) -> bool {
        matches!(self.plant, PlantedPool::Skilled(skilled) if alpha < skilled)
    }

    fn pool(&self, seed: u64, draw: u32) -> Vec<DaySeries> {
        let mut stream = KeyedStream::for_purpose(seed, &format!("planted pool {self:?} {draw}"));
        let factor: Vec<f64> = (0..self.days).map(|_| stream.normal()).collect();
        let shared = if self.plant == PlantedPool::SharedDice {
            SHARED
        } else {
            0.0
        };
        let alpha = |alpha: usize| -> DaySeries {
            let ratio = if self.is_skilled(alpha) {
                PLANTED_RATIO
            } else {
                0.0
            };
            let mean = ratio / TRADING_DAYS_PER_YEAR.sqrt();
            let returns = factor.iter().map(|factor| {
                let own = shared.sqrt() * factor + (1.0 - shared).sqrt() * stream.normal();
                DEVIATION * (mean + own)
            });
            returns.enumerate().collect()
        };
        (0..self.alphas).map(alpha).collect()
    }
}

/// The mean of series over the same days.
fn mean_series<'s>(series: impl Iterator<Item = &'s DaySeries>) -> DaySeries {
    let mut sums = DaySeries::new();
    let mut number = 0;
    for own in series {
        number += 1;
        sums.resize(own.len().max(sums.len()), (0, 0.0));
        for (sum, (day, value)) in sums.iter_mut().zip(own) {
            *sum = (*day, sum.1 + value);
        }
    }
    sums.into_iter()
        .map(|(day, sum)| (day, sum / count(number.max(1))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PlantedPool, PoolConclusion, PoolSizeDesign};

    fn shares(alphas: usize, plant: PlantedPool) -> impl Fn(&dyn Fn(&PoolConclusion) -> bool) -> u32 {
        let design = PoolSizeDesign {
            alphas,
            days: 60,
            plant,
        };
        let found: Vec<PoolConclusion> = (0..400).map(|draw| design.conclusion(3, draw).unwrap()).collect();
        move |of| u32::try_from(found.iter().filter(|found| of(found)).count()).unwrap()
    }

    /// What is said of dice is wrong as often as is said: 400 pools, within the 99 % range of 5 % (11 to 33), and at most that often where
    /// it is a bound.
    #[test]
    fn dice_are_told_from_nothing_as_often_as_is_said() {
        for alphas in [5, 20] {
            let of = shares(alphas, PlantedPool::Dice);
            let counts = [of(&|found| found.best_told), of(&|found| !found.interval_holds)];
            assert!(
                counts.iter().all(|count| (11..=33).contains(count)),
                "{alphas}: {counts:?}"
            );
            let bounds = [
                of(&|found| found.best_above),
                of(&|found| found.deflated_told),
                of(&|found| found.pools_told),
                of(&|found| found.robust_told),
            ];
            assert!(bounds.iter().all(|count| *count <= 33), "{alphas}: {bounds:?}");
        }
    }
}
