//! Replicates that draw seeds as well as days.

use super::error::StatsError;
use super::replicates::ReplicateSums;
use super::split_mix::SplitMix64;
use super::stationary::StationaryBootstrap;
use super::table::DailyTable;
use super::unexplained::{Variances, mean, mean_of_drawn, sample_variance, shrink};
use crate::moments::count;

/// An agent that ran with several seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct SeededAgent {
    stream: u64,
    seeds: DailyTable,
}

impl SeededAgent {
    /// An agent whose runs are the columns of `seeds`.
    ///
    /// `stream` is the agent's own number, such as a hash of its name: its seeds are drawn by it, and not by the place
    /// it has in a list. Two agents of one number would draw the same seeds.
    #[must_use]
    pub const fn new(stream: u64, seeds: DailyTable) -> Self {
        Self { stream, seeds }
    }

    /// The agent's own number.
    pub(crate) const fn stream(&self) -> u64 {
        self.stream
    }

    /// The agent's runs, one column a seed.
    #[must_use]
    pub const fn seeds(&self) -> &DailyTable {
        &self.seeds
    }

    /// The generator by which one replicate draws its seeds.
    fn draws_of_seeds(&self, draws: &StationaryBootstrap, replicate: u32) -> SplitMix64 {
        let own = SplitMix64::new(self.stream).next_u64();
        SplitMix64::of_replicate(draws.seed() ^ own, replicate)
    }
}

/// The hierarchical bootstrap: each replicate draws days, shared by all agents and their seeds, and then for each agent as many
/// of its seeds as it has, with replacement. A column is the mean over the seeds of their sums.
///
/// What the sums of seeds are observed to differ by holds the noise of the days on which they traded otherwise, and resampled
/// days give that noise already: seeds drawn as they are would count it again, up to three times (Owen 2007). So what is
/// drawn of the seeds is shrunk to the share of their variance that days do not explain, over all agents, as
/// [`pooled_means`](crate::pooled_means) does. What seeds share of a day is in no difference of theirs, and is counted once
/// either way.
///
/// With one seed for each agent it is the plain bootstrap. Intervals are wider with more, by what seeds truly differ.
///
/// # Errors
/// [`StatsError::NoColumns`] without an agent; [`StatsError::Drawn`] for an agent with another number of days.
pub fn seeded_sums(agents: &[SeededAgent], draws: &StationaryBootstrap) -> Result<ReplicateSums, StatsError> {
    if agents.is_empty() {
        return Err(StatsError::NoColumns);
    }
    let tables: Vec<&DailyTable> = agents.iter().map(SeededAgent::seeds).collect();
    let by_seed = ReplicateSums::of_each(&tables, draws)?;
    let observed = by_seed.iter().map(|sums| mean(sums.observed())).collect();
    let differences = differences(&by_seed);
    let mut rows: Vec<_> = by_seed.iter().map(ReplicateSums::rows).collect();
    let mut drawn = Vec::new();
    for replicate in 0..draws.replicates() {
        for ((agent, rows), differences) in agents.iter().zip(&mut rows).zip(&differences) {
            let mut generator = agent.draws_of_seeds(draws, replicate);
            let days = mean(rows.next().unwrap_or_default());
            drawn.push(days + mean_of_drawn(differences, &mut generator));
        }
    }
    Ok(ReplicateSums::from_parts(draws.days(), observed, drawn))
}

/// Of each agent, what the sums of its seeds differ from their mean by, shrunk to the share that days do not explain.
fn differences(by_seed: &[ReplicateSums]) -> Vec<Vec<f64>> {
    let mut variances = Variances::default();
    let mut all = Vec::with_capacity(by_seed.len());
    for sums in by_seed {
        let observed = sums.observed();
        let noise = |row: &[f64]| {
            let noise: Vec<f64> = row.iter().zip(observed).map(|(drawn, own)| drawn - own).collect();
            sample_variance(&noise)
        };
        let explained: f64 = sums.rows().map(noise).sum();
        variances.observed += sample_variance(observed);
        variances.explained += explained / count(sums.replicates().max(1));
        let whole = mean(observed);
        all.push(observed.iter().map(|seed| seed - whole).collect::<Vec<f64>>());
    }
    for differences in &mut all {
        shrink(differences, variances.unexplained());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, normal_quantile, rank_intervals, sum_intervals};

    fn noise(seed: u64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..80).map(|_| 0.02 * (generator.uniform() - 0.5)).collect()
    }

    fn table(columns: &[&[f64]]) -> DailyTable {
        DailyTable::new("returns", columns).unwrap()
    }

    fn draws() -> StationaryBootstrap {
        StationaryBootstrap::new(80, 5.0, 400, 6).unwrap()
    }

    #[test]
    fn with_one_seed_it_is_the_plain_bootstrap() {
        let (one, two) = (noise(1), noise(2));
        let agents = [
            SeededAgent::new(1, table(&[&one])),
            SeededAgent::new(2, table(&[&two])),
        ];
        let plain = ReplicateSums::of(&table(&[&one, &two]), &draws()).unwrap();
        assert_eq!(seeded_sums(&agents, &draws()).unwrap(), plain);
    }

    #[test]
    fn seeds_that_differ_widen_the_interval() {
        let base = noise(1);
        let shifted = |by: f64| -> Vec<f64> { base.iter().map(|value| value + by).collect() };
        let (low, high) = (shifted(-0.01), shifted(0.01));
        let width = |seeds: &[&[f64]]| {
            let sums = seeded_sums(&[SeededAgent::new(3, table(seeds))], &draws()).unwrap();
            let interval = sum_intervals(&sums, Confidence::P95)[0].unwrap();
            interval.upper - interval.lower
        };
        assert!(2.0 * width(&[&base, &base]) < width(&[&low, &high]));
    }

    #[test]
    fn an_agent_draws_its_seeds_wherever_it_stands() {
        let seeds: Vec<Vec<f64>> = (0..6).map(noise).collect();
        let agent = |stream: u64, from: usize| {
            SeededAgent::new(stream, table(&[&seeds[from], &seeds[from + 1], &seeds[from + 2]]))
        };
        let ranks = |agents: &[SeededAgent]| {
            let sums = seeded_sums(agents, &draws()).unwrap();
            rank_intervals(&sums, Confidence::P95)
        };
        let (found, turned) = (
            ranks(&[agent(10, 0), agent(11, 3)]),
            ranks(&[agent(11, 3), agent(10, 0)]),
        );
        assert_eq!(found.agents()[0], turned.agents()[1]);
        assert_eq!(found.win_probability(0, 1), turned.win_probability(1, 0));
    }

    #[test]
    fn nobody_has_no_sums() {
        assert_eq!(seeded_sums(&[], &draws()), Err(StatsError::NoColumns));
        let short = SeededAgent::new(0, table(&[&[0.1]]));
        assert!(matches!(
            seeded_sums(&[short], &draws()),
            Err(StatsError::Drawn { .. })
        ));
    }

    /// Deviations of a synthetic experiment, a day: of the noise that all seeds of an agent share, of each seed's own, and
    /// of the effect of a seed on every day.
    #[derive(Debug, Clone, Copy)]
    struct Planted {
        shared: f64,
        own: f64,
        effect: f64,
    }

    fn normal(generator: &mut SplitMix64) -> f64 {
        normal_quantile(generator.uniform().clamp(1e-12, 1.0 - 1e-12)).unwrap()
    }

    /// Four agents with five seeds on 80 days; all truths are 0.
    fn planted(truth: Planted, number: u64) -> ReplicateSums {
        let mut generator = SplitMix64::new(number.wrapping_mul(7919) + 5);
        let agents: Vec<SeededAgent> = (0..4)
            .map(|agent| {
                let shared: Vec<f64> = (0..80).map(|_| truth.shared * normal(&mut generator)).collect();
                let seeds: Vec<Vec<f64>> = (0..5)
                    .map(|_| {
                        let effect = truth.effect * normal(&mut generator);
                        let own = shared
                            .iter()
                            .map(|day| day + effect + truth.own * normal(&mut generator));
                        own.collect()
                    })
                    .collect();
                let columns: Vec<&[f64]> = seeds.iter().map(Vec::as_slice).collect();
                SeededAgent::new(agent, table(&columns))
            })
            .collect();
        let draws = StationaryBootstrap::new(80, 1.0, 200, number).unwrap();
        seeded_sums(&agents, &draws).unwrap()
    }

    /// Over many experiments: the share of intervals that hold the truth, and the mean width of an interval over that of the
    /// sums' true deviation.
    fn coverage_and_width(truth: Planted) -> (f64, f64) {
        const EXPERIMENTS: u32 = 150;
        let (mut covered, mut width) = (0_u32, 0.0);
        for number in 0..EXPERIMENTS {
            for interval in sum_intervals(&planted(truth, u64::from(number)), Confidence::P95) {
                let interval = interval.unwrap();
                covered += u32::from(interval.lower <= 0.0 && 0.0 <= interval.upper);
                width += interval.upper - interval.lower;
            }
        }
        let [shared, own, effect] = [truth.shared, truth.own, truth.effect].map(|value| value * value);
        let variance = 80.0 * (shared + own / 5.0) + 6400.0 * effect / 5.0;
        let intervals = f64::from(4 * EXPERIMENTS);
        (
            f64::from(covered) / intervals,
            width / intervals / (3.92 * variance.sqrt()),
        )
    }

    #[test]
    fn the_noise_of_days_counts_once_whether_seeds_share_it_or_not() {
        // Drawn as they are, seeds that share no noise would give intervals 1.6 times too wide.
        for (shared, own) in [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
            let effect = 0.0;
            let truth = Planted { shared, own, effect };
            let (covered, width) = coverage_and_width(truth);
            assert!((0.92..=0.97).contains(&covered), "{truth:?}: {covered}");
            assert!((0.94..=1.06).contains(&width), "{truth:?}: {width}");
        }
    }

    #[test]
    fn what_seeds_truly_differ_by_is_counted() {
        // Five seeds are few: percentiles without Student's correction are a tenth too narrow.
        for (shared, effect) in [(0.5, 0.2), (0.0, 0.4)] {
            let own = 1.0;
            let truth = Planted { shared, own, effect };
            let (covered, width) = coverage_and_width(truth);
            assert!((0.86..=0.97).contains(&covered), "{truth:?}: {covered}");
            assert!((0.89..=1.06).contains(&width), "{truth:?}: {width}");
        }
    }
}
