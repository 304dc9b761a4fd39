//! Replicates that draw windows as well as days and seeds.

use super::error::StatsError;
use super::replicates::ReplicateSums;
use super::seeded::SeededAgent;
use super::split_mix::SplitMix64;
use super::stationary::StationaryBootstrap;
use super::student_t::student_t_two_sided_p;
use super::table::DailyTable;
use super::unexplained::{Variances, mean, mean_of_drawn, sample_variance, shrink};
use crate::moments::{column_means, count};

/// One window's runs: the agents' daily values, and how its days are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledWindow {
    /// The agents, in the order that all windows share.
    pub agents: Vec<SeededAgent>,
    /// The draws of its days.
    pub draws: StationaryBootstrap,
}

/// Daily means of several agents pooled over windows, as observed and in each replicate of the hierarchical bootstrap.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledMeans {
    /// The mean over windows of each agent's daily mean: every window weighs the same, however long it is.
    pub sums: ReplicateSums,
    /// Daily means of each window, one an agent, in the order of the windows.
    pub windows: Vec<Vec<f64>>,
    /// Share of the variance of agents' differences over windows that their days and seeds do not explain: 0 where windows
    /// differ by no more than the noise of their days.
    pub between_share: f64,
}

/// Pools the windows of several agents, the same in each.
///
/// Each replicate draws as many windows as there are, with replacement and for all agents together; of each of them its
/// days, in blocks and for all agents together; and for each agent as many of its seeds as it has. What windows and seeds
/// are observed to differ by holds the noise of their days, and resampled days would count it again (Davison and Hinkley
/// 1997, section 3.8). So differences of seeds, of windows as a whole, and of agents within windows are each shrunk to
/// the share that the level below does not explain: the variance of a replicate is that of a mean of windows. What is left
/// of the windows' is widened as Student's t with one degree of freedom less than windows asks, for they are few.
///
/// # Errors
/// [`StatsError::NoColumns`] without a window or an agent; [`StatsError::Ragged`] for a window of other agents;
/// [`StatsError::Drawn`] for draws of other days; [`StatsError::Bootstrap`] without replicates.
pub fn pooled_means(
    windows: &[PooledWindow],
    (replicates, seed): (u32, u64),
) -> Result<PooledMeans, StatsError> {
    let first = windows.first().ok_or(StatsError::NoColumns)?;
    if first.agents.is_empty() {
        return Err(StatsError::NoColumns);
    }
    for (column, window) in windows.iter().enumerate() {
        if window.agents.len() != first.agents.len() {
            return Err(StatsError::Ragged {
                column,
                days: window.agents.len(),
                need_days: first.agents.len(),
            });
        }
    }
    let days = windows.iter().map(|window| window.draws.days()).sum();
    if replicates == 0 {
        return Err(StatsError::Bootstrap { days, replicates });
    }
    let pool = Pool::of(windows)?;
    let drawn = (0..replicates).flat_map(|replicate| pool.draw(seed, replicate));
    let drawn = drawn.collect();
    Ok(PooledMeans {
        sums: ReplicateSums::from_parts(days, pool.means, drawn),
        windows: pool.windows.into_iter().map(|window| window.means).collect(),
        between_share: pool.between_share,
    })
}

/// One window's daily means.
struct WindowMeans {
    /// As observed, one an agent.
    means: Vec<f64>,
    /// What is left of its difference from the mean of all windows.
    shrunk: Vec<f64>,
    /// Means over seeds on resampled days less what was observed, replicate by replicate.
    noise: Vec<Vec<f64>>,
    /// What is left of the difference of each seed from its agent's mean, agent by agent.
    seeds: Vec<Vec<f64>>,
}

struct Pool {
    windows: Vec<WindowMeans>,
    means: Vec<f64>,
    /// Of each agent.
    streams: Vec<u64>,
    between_share: f64,
}

impl Pool {
    fn of(windows: &[PooledWindow]) -> Result<Self, StatsError> {
        let mut of_seeds = Variances::default();
        let mut all = Vec::with_capacity(windows.len());
        for window in windows {
            all.push(WindowMeans::of(window, &mut of_seeds)?);
        }
        let seed_share = of_seeds.unexplained();
        for window in &mut all {
            window.shrink_seeds(seed_share);
        }
        let rows: Vec<Vec<f64>> = all.iter().map(|window| window.means.clone()).collect();
        let means = column_means(&rows);
        let between_share = shrink_windows(&mut all, &means);
        let streams = windows.iter().take(1).flat_map(|window| &window.agents);
        Ok(Self {
            windows: all,
            means,
            streams: streams.map(SeededAgent::stream).collect(),
            between_share,
        })
    }

    /// One replicate of each agent's mean.
    fn draw(&self, seed: u64, replicate: u32) -> Vec<f64> {
        let mut generator = SplitMix64::of_replicate(seed, replicate);
        let windows = count(self.windows.len());
        // A window that is drawn twice has other days each time.
        let drawn: Vec<(&WindowMeans, &Vec<f64>)> = (0..self.windows.len())
            .filter_map(|_| {
                let window = self.windows.get(generator.below(windows))?;
                let noise = window.noise.get(generator.below(count(window.noise.len())))?;
                Some((window, noise))
            })
            .collect();
        let agent = |(place, (mean, stream)): (usize, (&f64, &u64))| {
            let own = SplitMix64::new(*stream).next_u64();
            let mut generator = SplitMix64::of_replicate(seed ^ own, replicate);
            let at = |row: &[f64]| row.get(place).copied().unwrap_or(0.0);
            let of_window = |(window, noise): &(&WindowMeans, &Vec<f64>)| {
                let seeds = window.seeds.get(place).map_or(&[][..], Vec::as_slice);
                at(&window.shrunk) + at(noise) + mean_of_drawn(seeds, &mut generator)
            };
            mean + drawn.iter().map(of_window).sum::<f64>() / windows
        };
        let agents = self.means.iter().zip(&self.streams).enumerate();
        agents.map(agent).collect()
    }
}

impl WindowMeans {
    fn of(window: &PooledWindow, of_seeds: &mut Variances) -> Result<Self, StatsError> {
        let tables: Vec<&DailyTable> = window.agents.iter().map(SeededAgent::seeds).collect();
        let by_seed = ReplicateSums::of_each(&tables, &window.draws)?;
        let days = count(window.draws.days());
        let replicates = usize::try_from(window.draws.replicates()).unwrap_or(0);
        let mut noise: Vec<Vec<f64>> = vec![Vec::with_capacity(by_seed.len()); replicates];
        let (mut means, mut seeds) = (Vec::new(), Vec::new());
        for sums in &by_seed {
            let own = sums.observed().iter().map(|sum| sum / days).collect::<Vec<_>>();
            let whole = mean(&own);
            for (row, cells) in sums.rows().zip(&mut noise) {
                let cell = |(drawn, observed): (&f64, &f64)| drawn / days - observed;
                let drawn: Vec<f64> = row.iter().zip(&own).map(cell).collect();
                cells.push(mean(&drawn));
                of_seeds.explained += sample_variance(&drawn) / count(replicates);
            }
            of_seeds.observed += sample_variance(&own);
            means.push(whole);
            seeds.push(own.iter().map(|seed| seed - whole).collect());
        }
        Ok(Self {
            means,
            shrunk: Vec::new(),
            noise,
            seeds,
        })
    }

    /// Leaves of the seeds' differences what the days do not explain.
    fn shrink_seeds(&mut self, share: f64) {
        for seeds in &mut self.seeds {
            shrink(seeds, share);
        }
    }

    /// Variance of each agent's mean that days and seeds give: of the agents' mean, and of their differences from it.
    fn explained(&self) -> [f64; 2] {
        let agents = count(self.means.len());
        let mut explained = [0.0; 2];
        for row in &self.noise {
            let [common, contrast] = split(row);
            explained[0] += common / count(self.noise.len());
            explained[1] += contrast / count(self.noise.len());
        }
        // Seeds are drawn for each agent by itself.
        let of_seeds: f64 = self
            .seeds
            .iter()
            .map(|seeds| mean_square(seeds) / count(seeds.len()))
            .sum();
        explained[0] += of_seeds / (agents * agents);
        explained[1] += of_seeds * (1.0 - 1.0 / agents);
        explained
    }
}

/// Fills in what is left of the windows' differences from their mean, that of all agents and each agent's own apart: what
/// neither days nor seeds explain. Returns the share that is left of the agents' own.
fn shrink_windows(windows: &mut [WindowMeans], means: &[f64]) -> f64 {
    let (mut common, mut contrast) = (Variances::default(), Variances::default());
    let all = count(windows.len());
    let unbiased = all / (all - 1.0).max(1.0);
    for window in &mut *windows {
        window.shrunk = window
            .means
            .iter()
            .zip(means)
            .map(|(own, mean)| own - mean)
            .collect();
        let [observed, explained] = [split(&window.shrunk), window.explained()];
        common.observed += observed[0] * unbiased;
        contrast.observed += observed[1] * unbiased;
        common.explained += explained[0];
        contrast.explained += explained[1];
    }
    let [common, contrast] = [common, contrast].map(Variances::unexplained);
    let wider = few_windows_factor(windows.len());
    let scale = |share: f64| wider * (share * unbiased).sqrt();
    for window in windows {
        let mean = mean(&window.shrunk);
        for difference in &mut window.shrunk {
            let own = *difference - mean;
            *difference = scale(common).mul_add(mean, scale(contrast) * own);
        }
    }
    contrast
}

/// By what the drawn differences of so few windows are widened: a mean of `n` normal values with a deviation estimated from
/// them lies as far from its truth as Student's t with `n - 1` degrees of freedom says, and percentiles of a bootstrap do
/// not know it.
fn few_windows_factor(windows: usize) -> f64 {
    /// What lies outside of an interval of 95 %, and its normal quantile.
    const OUTSIDE: f64 = 0.05;
    const NORMAL: f64 = 1.959_963_984_540_054;
    /// Above Student's quantile of one degree of freedom, 12.7.
    const LARGEST: f64 = 16.0;
    /// Halvings after which the quantile is known to the last digits.
    const HALVINGS: u32 = 60;
    if windows < 2 {
        return 1.0;
    }
    let degrees = count(windows) - 1.0;
    let is_below = |t: f64| student_t_two_sided_p(t, degrees).is_ok_and(|p| OUTSIDE < p);
    let (mut low, mut high) = (NORMAL, LARGEST);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high / NORMAL
}

/// Squares of the agents' mean, and of their differences from it.
fn split(row: &[f64]) -> [f64; 2] {
    let mean = mean(row);
    let square = |cell: &f64| (cell - mean) * (cell - mean);
    [mean * mean, row.iter().map(square).sum()]
}

fn mean_square(row: &[f64]) -> f64 {
    row.iter().map(|cell| cell * cell).sum::<f64>() / count(row.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, normal_quantile, rank_intervals, sum_intervals};

    const WINDOWS: usize = 10;
    const DAYS: usize = 30;
    const SEEDS: usize = 2;

    /// What is true of a synthetic experiment: daily noise has a deviation of 1.
    #[derive(Debug, Clone, Copy)]
    struct Truth {
        /// What the first agent has above the others, a day.
        above: f64,
        /// Deviation of each agent's own effect of a window.
        own: f64,
        /// Deviation of the effect of a window that agents share.
        shared: f64,
        /// Deviation of the effect of a seed.
        seed: f64,
    }

    fn normal(generator: &mut SplitMix64) -> f64 {
        normal_quantile(generator.uniform().clamp(1e-12, 1.0 - 1e-12)).unwrap()
    }

    /// Three agents on some windows.
    fn experiment(truth: Truth, windows: usize, number: u64) -> PooledMeans {
        let mut generator = SplitMix64::new(number.wrapping_mul(7919) + 11);
        let windows: Vec<PooledWindow> = (0..windows)
            .map(|window| {
                let shared = truth.shared * normal(&mut generator);
                let agents: Vec<SeededAgent> = (0..3)
                    .map(|agent| {
                        let above = if agent == 0 { truth.above } else { 0.0 };
                        let effect = above + shared + truth.own * normal(&mut generator);
                        let seeds: Vec<Vec<f64>> = (0..SEEDS)
                            .map(|_| {
                                let effect = effect + truth.seed * normal(&mut generator);
                                (0..DAYS).map(|_| effect + normal(&mut generator)).collect()
                            })
                            .collect();
                        let columns: Vec<&[f64]> = seeds.iter().map(Vec::as_slice).collect();
                        SeededAgent::new(agent, DailyTable::new("selection", &columns).unwrap())
                    })
                    .collect();
                let seed = number * 100 + u64::try_from(window).unwrap();
                let draws = StationaryBootstrap::new(DAYS, 1.0, 60, seed).unwrap();
                PooledWindow { agents, draws }
            })
            .collect();
        pooled_means(&windows, (200, number)).unwrap()
    }

    /// Over many experiments: the share of intervals that hold the truth of the first agent, and the share in which it is
    /// separated from the second.
    fn shares(truth: Truth, windows: usize) -> (f64, f64) {
        const EXPERIMENTS: u32 = 300;
        let (mut covered, mut separated) = (0_u32, 0_u32);
        for number in 0..EXPERIMENTS {
            let pooled = experiment(truth, windows, u64::from(number));
            let interval = sum_intervals(&pooled.sums, Confidence::P95)[0].unwrap();
            covered += u32::from(interval.lower <= truth.above && truth.above <= interval.upper);
            let ranks = rank_intervals(&pooled.sums, Confidence::P95);
            let share = ranks.win_probability(0, 1).unwrap();
            separated += u32::from(!(0.05..=0.95).contains(&share));
        }
        let share = |times: u32| f64::from(times) / f64::from(EXPERIMENTS);
        (share(covered), share(separated))
    }

    #[test]
    fn without_a_difference_intervals_hold_and_one_pair_in_ten_is_separated() {
        let effects = [(0.0, 0.0, 0.0), (0.15, 0.0, 0.3), (0.3, 0.3, 0.0)];
        for (own, shared, seed) in effects {
            let above = 0.0;
            let truth = Truth {
                above,
                own,
                shared,
                seed,
            };
            let (covered, separated) = shares(truth, WINDOWS);
            assert!((0.89..=0.99).contains(&covered), "{truth:?}: {covered}");
            assert!((0.04..=0.17).contains(&separated), "{truth:?}: {separated}");
        }
    }

    /// Without Student's factor two windows would separate three pairs in ten, and their intervals hold two truths in three.
    #[test]
    fn few_windows_that_truly_differ_separate_no_more_pairs_than_many() {
        for (windows, own) in [(2, 0.3), (2, 1.0), (3, 1.0), (4, 1.0)] {
            let truth = Truth {
                above: 0.0,
                own,
                shared: 0.0,
                seed: 0.0,
            };
            let (covered, separated) = shares(truth, windows);
            assert!((0.89..=0.99).contains(&covered), "{windows} {own}: {covered}");
            assert!((0.04..=0.15).contains(&separated), "{windows} {own}: {separated}");
        }
    }

    #[test]
    fn students_factor_is_that_of_tables() {
        // Quantiles 0.975 with 1, 2, 4 and 9 degrees of freedom.
        for (windows, quantile) in [
            (2, 12.706_204_7),
            (3, 4.302_652_7),
            (5, 2.776_445_1),
            (10, 2.262_157_2),
        ] {
            let found = few_windows_factor(windows) * 1.959_963_984_5;
            assert!((found - quantile).abs() < 1e-6, "{windows}: {found}");
        }
        assert!((few_windows_factor(1) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_planted_difference_is_found() {
        // A standard error of a difference of two means is sqrt(2 / 600) = 0.058.
        let truth = Truth {
            above: 0.2,
            own: 0.0,
            shared: 0.3,
            seed: 0.0,
        };
        let (covered, separated) = shares(truth, WINDOWS);
        assert!((0.90..=0.98).contains(&covered), "{covered}");
        assert!(0.9 < separated, "{separated}");
    }

    #[test]
    fn windows_weigh_the_same_and_what_they_differ_by_is_known() {
        let window = |days: usize, level: f64| {
            let agent = |stream: u64, level: f64| {
                let table = DailyTable::new("selection", &[&vec![level; days]]).unwrap();
                SeededAgent::new(stream, table)
            };
            PooledWindow {
                agents: vec![agent(1, level), agent(2, 0.0)],
                draws: StationaryBootstrap::new(days, 3.0, 50, 1).unwrap(),
            }
        };
        let pooled = pooled_means(&[window(10, 0.01), window(90, 0.03)], (200, 1)).unwrap();
        assert_eq!(pooled.sums.days(), 100);
        assert!((pooled.sums.observed()[0] - 0.02).abs() < 1e-15);
        assert!((pooled.windows[0][0] - 0.01).abs() < 1e-15 && (pooled.windows[1][0] - 0.03).abs() < 1e-15);
        // Days have no noise here: all that windows differ by is theirs.
        assert!((pooled.between_share - 1.0).abs() < 1e-12);
        let alone = pooled_means(&[window(10, 0.01)], (20, 1)).unwrap();
        assert!(alone.sums.rows().all(|row| (row[0] - 0.01).abs() < 1e-15));
    }

    #[test]
    fn what_cannot_be_pooled_is_refused() {
        assert_eq!(pooled_means(&[], (10, 1)), Err(StatsError::NoColumns));
        let agent = |stream: u64| {
            let table = DailyTable::new("selection", &[&[0.1, 0.2]]).unwrap();
            SeededAgent::new(stream, table)
        };
        let window = |agents: u64, days: usize| PooledWindow {
            agents: (0..agents).map(agent).collect(),
            draws: StationaryBootstrap::new(days, 1.0, 5, 1).unwrap(),
        };
        let (one, two) = (window(1, 2), window(2, 2));
        assert_eq!(pooled_means(&[window(0, 2)], (10, 1)), Err(StatsError::NoColumns));
        let other_days = pooled_means(&[window(1, 3)], (10, 1));
        assert!(matches!(other_days, Err(StatsError::Drawn { .. })));
        let ragged = pooled_means(&[one.clone(), two], (10, 1));
        assert!(matches!(ragged, Err(StatsError::Ragged { column: 1, .. })));
        assert!(matches!(
            pooled_means(&[one], (0, 1)),
            Err(StatsError::Bootstrap { .. })
        ));
    }
}
