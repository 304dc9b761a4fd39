//! Agents that the data cannot tell apart.

use super::interval::Confidence;
use super::rank_interval::RankIntervals;

/// Two agents whose order is open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotSeparable {
    /// Column of the one that ranks better.
    pub better: usize,
    /// Column of the one that ranks worse.
    pub worse: usize,
    /// Probability that the better one is above the other, ties counted half to each.
    pub probability: f64,
}

/// Groups of agents that the data cannot separate.
#[derive(Debug, Clone, PartialEq)]
pub struct SeparableGroups {
    /// Columns in rank order, the longest runs within which no pair is separable. A run may overlap the next, as the
    /// letters of a compact display do: not being separable does not carry over from one pair to the next. An agent
    /// that is separable from both neighbours is a run of its own.
    pub runs: Vec<Vec<usize>>,
    /// All pairs that are not separable, in rank order.
    pub pairs: Vec<NotSeparable>,
}

/// Groups agents by their pairwise wins: a pair is not separable when the probability that one is above the other lies
/// strictly between the tails, usually 0.05 and 0.95 ([`Confidence::P90`]). Agents that are always tied have a
/// probability of a half.
///
/// Rank order is that of the ranks observed, then of the mean ranks, then of the columns.
#[must_use]
pub fn separable_groups(ranks: &RankIntervals, tails: Confidence) -> SeparableGroups {
    separable_groups_beside(ranks, tails, &|_, _| false)
}

/// As [`separable_groups`], where `is_open` names pairs, by column, that are not separable for another reason.
#[must_use]
pub fn separable_groups_beside(
    ranks: &RankIntervals,
    tails: Confidence,
    is_open: &dyn Fn(usize, usize) -> bool,
) -> SeparableGroups {
    let mut order: Vec<_> = ranks.agents().iter().enumerate().collect();
    order.sort_by(|(_, left), (_, right)| {
        let by_mean = left.mean_rank.total_cmp(&right.mean_rank);
        left.rank.cmp(&right.rank).then(by_mean)
    });
    let order: Vec<usize> = order.into_iter().map(|(column, _)| column).collect();
    let open = |better: usize, worse: usize| {
        let probability = probability_above(ranks, better, worse)?;
        let is_between = tails.lower() < probability && probability < tails.upper();
        (is_between || is_open(better, worse)).then_some(probability)
    };
    let mut pairs = Vec::new();
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut run_end = 0;
    for (start, better) in order.iter().copied().enumerate() {
        let behind = order.iter().copied().skip(start + 1);
        pairs.extend(behind.filter_map(|worse| {
            open(better, worse).map(|probability| NotSeparable {
                better,
                worse,
                probability,
            })
        }));
        let run = run_from(&order, start, &|better, worse| open(better, worse).is_some());
        // A run that ends where an earlier one did is part of it.
        if run_end < start + run.len() {
            run_end = start + run.len();
            runs.push(run);
        }
    }
    SeparableGroups { runs, pairs }
}

/// The longest run from `start` in which every pair is open.
fn run_from(order: &[usize], start: usize, open: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut run: Vec<usize> = Vec::new();
    for agent in order.iter().copied().skip(start) {
        if !run.iter().all(|member| open(*member, agent)) {
            break;
        }
        run.push(agent);
    }
    run
}

fn probability_above(ranks: &RankIntervals, better: usize, worse: usize) -> Option<f64> {
    let (wins, losses) = (
        ranks.win_probability(better, worse)?,
        ranks.win_probability(worse, better)?,
    );
    Some(f64::midpoint(1.0 - losses, wins))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DailyTable, ReplicateSums, SplitMix64, StationaryBootstrap, rank_intervals};
    use proptest::prelude::*;

    fn groups(columns: &[Vec<f64>]) -> SeparableGroups {
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let table = DailyTable::new("returns", &slices).unwrap();
        let draws = StationaryBootstrap::new(table.days(), 5.0, 400, 2).unwrap();
        let sums = ReplicateSums::of(&table, &draws).unwrap();
        separable_groups(&rank_intervals(&sums, Confidence::P95), Confidence::P90)
    }

    fn agent(seed: u64, above: f64) -> Vec<f64> {
        let mut generator = SplitMix64::new(seed);
        (0..100).map(|_| generator.uniform() - 0.5 + above).collect()
    }

    #[test]
    fn one_far_above_stands_alone() {
        let found = groups(&[agent(1, 0.0), agent(2, 1.0), agent(3, 0.0)]);
        assert_eq!(found.runs.len(), 2);
        assert_eq!(found.runs[0], [1]);
        assert_eq!(found.pairs.len(), 1);
    }

    #[test]
    fn runs_may_overlap() {
        // A standard error of a mean difference is 0.04: neighbours are 0.9 of them apart, the ends 1.8.
        let centred = |seed: u64, mean: f64| -> Vec<f64> {
            let values = agent(seed, 0.0);
            let own = values.iter().sum::<f64>() / 100.0;
            values.iter().map(|value| value - own + mean).collect()
        };
        let found = groups(&[centred(1, 0.0), centred(2, 0.035), centred(3, 0.07)]);
        assert_eq!(found.runs, [[2, 1], [1, 0]], "{found:?}");
        let pairs: Vec<_> = found.pairs.iter().map(|pair| (pair.better, pair.worse)).collect();
        assert_eq!(pairs, [(2, 1), (1, 0)]);
    }

    #[test]
    fn twins_are_not_separable() {
        let found = groups(&[agent(1, 0.0), agent(1, 0.0)]);
        assert_eq!(found.runs, [[0, 1]]);
        assert!((found.pairs[0].probability - 0.5).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn runs_cover_everybody_hold_open_pairs_and_contain_no_other_run(seed: u64, gap in 0.0..0.2_f64) {
            let above = |place: u8| gap * f64::from(place);
            let columns: Vec<Vec<f64>> = (0..5_u8).map(|place| agent(seed ^ u64::from(place), above(place))).collect();
            let found = groups(&columns);
            let open = |left: usize, right: usize| found.pairs.iter().any(|pair| {
                (pair.better, pair.worse) == (left, right) || (pair.better, pair.worse) == (right, left)
            });
            for column in 0..5 {
                prop_assert!(found.runs.iter().any(|run| run.contains(&column)));
            }
            for (place, run) in found.runs.iter().enumerate() {
                for (member, left) in run.iter().enumerate() {
                    prop_assert!(run.iter().skip(member + 1).all(|right| open(*left, *right)));
                }
                for (other_place, other) in found.runs.iter().enumerate() {
                    prop_assert!(place == other_place || !run.iter().all(|agent| other.contains(agent)));
                }
            }
        }
    }
}
