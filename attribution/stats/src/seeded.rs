//! Replicates that draw seeds as well as days.

use super::error::StatsError;
use super::replicates::ReplicateSums;
use super::split_mix::SplitMix64;
use super::stationary::StationaryBootstrap;
use super::table::DailyTable;
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

    /// How often one replicate draws each seed, written over `times`.
    fn multiplicities(&self, draws: &StationaryBootstrap, replicate: u32, times: &mut Vec<f64>) {
        let seeds = self.seeds.columns();
        times.clear();
        times.resize(seeds, 0.0);
        let own = SplitMix64::new(self.stream).next_u64();
        let mut generator = SplitMix64::of_replicate(draws.seed() ^ own, replicate);
        for _ in 0..seeds {
            let drawn = generator.below(count(seeds));
            if let Some(time) = times.get_mut(drawn) {
                *time += 1.0;
            }
        }
    }
}

/// The hierarchical bootstrap: each replicate draws days, shared by all agents, and then for each agent as many of its
/// seeds as it has, with replacement. A column is the mean over the seeds drawn of their sums.
///
/// With one seed for each agent it is the plain bootstrap. Intervals are wider with more, by what seeds differ.
///
/// # Errors
/// [`StatsError::NoColumns`] without an agent; [`StatsError::Drawn`] for an agent with another number of days.
pub fn seeded_sums(agents: &[SeededAgent], draws: &StationaryBootstrap) -> Result<ReplicateSums, StatsError> {
    if agents.is_empty() {
        return Err(StatsError::NoColumns);
    }
    let tables: Vec<&DailyTable> = agents.iter().map(SeededAgent::seeds).collect();
    let by_seed = ReplicateSums::of_each(&tables, draws)?;
    let mean = |sums: &[f64]| sums.iter().sum::<f64>() / count(sums.len());
    let observed = by_seed.iter().map(|sums| mean(sums.observed())).collect();
    let mut rows: Vec<_> = by_seed.iter().map(ReplicateSums::rows).collect();
    let (mut drawn, mut times) = (Vec::new(), Vec::new());
    for replicate in 0..draws.replicates() {
        for (agent, rows) in agents.iter().zip(&mut rows) {
            agent.multiplicities(draws, replicate, &mut times);
            let sums = rows.next().unwrap_or_default();
            let total: f64 = sums.iter().zip(&times).map(|(sum, times)| sum * times).sum();
            drawn.push(total / count(sums.len()));
        }
    }
    Ok(ReplicateSums::from_parts(draws.days(), observed, drawn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, rank_intervals, sum_intervals};

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
}
