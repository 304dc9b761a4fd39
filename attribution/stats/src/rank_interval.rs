//! How sure a rank is.

use super::interval::Confidence;
use super::quantile::inverted_cdf_place;
use super::replicates::ReplicateSums;
use crate::moments::count;

/// One agent's rank. Ranks are competition ranks (1, 2, 2, 4); 1 is the highest sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInterval {
    /// The rank observed.
    pub rank: usize,
    /// Mean rank over the replicates.
    pub mean_rank: f64,
    /// Share of replicates in which the agent was first, alone or not.
    pub probability_best: f64,
    /// Lower end of the interval: the better rank.
    pub lower: usize,
    /// Upper end of the interval: the worse rank.
    pub upper: usize,
}

/// The ranks of all agents under shared draws.
#[derive(Debug, Clone, PartialEq)]
pub struct RankIntervals {
    agents: Vec<RankInterval>,
    /// Replicates in which the agent of the row was strictly above that of the column, row by row.
    wins: Vec<usize>,
    replicates: usize,
}

impl RankIntervals {
    /// The agents, by column.
    #[must_use]
    pub fn agents(&self) -> &[RankInterval] {
        &self.agents
    }

    /// Share of replicates in which one agent was strictly above another; `None` for columns that do not exist. The
    /// shares of both directions add up to less than 1 where the two were tied.
    #[must_use]
    pub fn win_probability(&self, agent: usize, other: usize) -> Option<f64> {
        let agents = self.agents.len();
        if agents <= agent || agents <= other {
            return None;
        }
        let wins = self.wins.get(agent * agents + other)?;
        Some(count(*wins) / count(self.replicates))
    }
}

/// Ranks agents by their sums: total log return, or total selection. The interval's ends are ranks that occurred, by
/// the inverted distribution function.
#[must_use]
pub fn rank_intervals(sums: &ReplicateSums, confidence: Confidence) -> RankIntervals {
    let (agents, replicates) = (sums.columns(), sums.replicates());
    let mut wins = vec![0_usize; agents * agents];
    // How often each agent had each rank, agent by agent.
    let mut times = vec![0_usize; agents * agents];
    for row in sums.rows() {
        let wins = wins.chunks_exact_mut(agents.max(1));
        let times = times.chunks_exact_mut(agents.max(1));
        for ((own, wins), times) in row.iter().zip(wins).zip(times) {
            let mut above = 0;
            for (other, win) in row.iter().zip(wins) {
                *win += usize::from(other < own);
                above += usize::from(own < other);
            }
            if let Some(times) = times.get_mut(above) {
                *times += 1;
            }
        }
    }
    let observed = sums.observed().iter();
    let rank = |own: &f64| 1 + sums.observed().iter().filter(|other| own < *other).count();
    let times = times.chunks_exact(agents.max(1));
    let agent = |(own, times): (&f64, &[usize])| summarise(rank(own), times, replicates, confidence);
    RankIntervals {
        agents: observed.zip(times).map(agent).collect(),
        wins,
        replicates,
    }
}

fn summarise(rank: usize, times: &[usize], replicates: usize, confidence: Confidence) -> RankInterval {
    let total: usize = times.iter().zip(1..).map(|(times, rank)| times * rank).sum();
    let rank_at = |place: usize| {
        let mut passed = 0;
        let reaches = times.iter().position(|times| {
            passed += times;
            place < passed
        });
        reaches.map_or(times.len(), |place| place + 1)
    };
    RankInterval {
        rank,
        mean_rank: count(total) / count(replicates),
        probability_best: count(times.first().copied().unwrap_or(0)) / count(replicates),
        lower: rank_at(inverted_cdf_place(replicates, confidence.lower())),
        upper: rank_at(inverted_cdf_place(replicates, confidence.upper())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DailyTable, StationaryBootstrap};
    use proptest::prelude::*;

    pub(crate) fn intervals(columns: &[&[f64]]) -> RankIntervals {
        let table = DailyTable::new("returns", columns).unwrap();
        let draws = StationaryBootstrap::new(table.days(), 3.0, 200, 4).unwrap();
        rank_intervals(&ReplicateSums::of(&table, &draws).unwrap(), Confidence::P95)
    }

    #[test]
    fn twins_are_tied_and_never_win() {
        let (low, high) = ([0.0, 0.01, -0.01, 0.0], [0.02, 0.03, 0.01, 0.02]);
        let found = intervals(&[&low, &high, &high, &low]);
        let ranks: Vec<usize> = found.agents().iter().map(|agent| agent.rank).collect();
        assert_eq!(ranks, [3, 1, 1, 3]);
        assert_eq!(found.win_probability(1, 2), Some(0.0));
        assert_eq!(found.win_probability(1, 0), Some(1.0));
        assert_eq!(found.win_probability(0, 4), None);
        let best = found.agents()[1];
        assert_eq!((best.lower, best.upper), (1, 1));
        assert!((best.probability_best - 1.0).abs() < 1e-15 && (best.mean_rank - 1.0).abs() < 1e-15);
    }

    #[test]
    fn one_agent_is_first_for_sure() {
        let alone = intervals(&[&[0.0, 0.1]]);
        assert_eq!((alone.agents()[0].rank, alone.agents()[0].upper), (1, 1));
    }

    proptest! {
        #[test]
        fn permuting_the_agents_permutes_the_result(
            cells in prop::collection::vec(-0.05..0.05_f64, 60), turn in 0..5_usize,
        ) {
            let columns: Vec<&[f64]> = cells.chunks_exact(12).collect();
            let mut turned = columns.clone();
            turned.rotate_left(turn);
            let (found, turned) = (intervals(&columns), intervals(&turned));
            for place in 0..5 {
                let from = (place + turn) % 5;
                prop_assert_eq!(turned.agents()[place], found.agents()[from]);
                for other in 0..5 {
                    prop_assert_eq!(
                        turned.win_probability(place, other),
                        found.win_probability(from, (other + turn) % 5)
                    );
                }
            }
            for agent in found.agents() {
                prop_assert!(1 <= agent.lower && agent.lower <= agent.upper && agent.upper <= 5);
                prop_assert!((0.0..=1.0).contains(&agent.probability_best));
            }
        }
    }
}
