//! Means over families of tasks side by side, by turning the signs of whole families.
//!
//! Of two models that are equal, what one is better by in a family is as likely as what it is worse by. So the share of all turns
//! of signs whose difference reaches the observed one is a p-value, exact however answers of one family depend on each other. Every
//! turn holds for all models at once, so that the largest difference of all pairs has its p-value too, in steps (Westfall and
//! Young 1993; Romano and Wolf 2005): at nine families no p-value lies below 2 / 512, and Holm's would be 1 of a dozen models.

use crate::moments::count;
use crate::rank_sets::{pair_place, rank_range};
use crate::{Confidence, SplitMix64, StatsError};

/// Units of which every turn of signs is taken; of more, as many turns are drawn.
const COUNTED_UNITS: usize = 13;
/// Turns that are judged at most, the observed signs among them.
const TURNS: usize = 1 << (COUNTED_UNITS - 1);
/// What a sum may be off by, as a share of the largest value.
const ROUNDING: f64 = 1e-12;
/// How much of the largest value parts two equal differences: less than any two that differ, and more than rounding.
const TIE: f64 = 1e-6;

/// Two means side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlippedPair {
    /// Sum of the first less that of the second.
    pub difference: f64,
    /// Two-sided p-value of this pair by itself.
    pub p: f64,
    /// The same among all pairs: of equal models, any pair is at or below .05 in at most one of twenty tables.
    pub p_of_all: f64,
}

/// The rank of a sum, and the places that cannot be excluded, for all sums at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlippedRank {
    /// Rank of the sum, 1 the best; ties share it.
    pub rank: usize,
    /// Best rank of the set.
    pub lower: usize,
    /// Worst rank of the set.
    pub upper: usize,
}

/// Sums over the same units, such as right answers by family of tasks, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct FlippedSums {
    sums: Vec<f64>,
    turns: usize,
    /// Row by row, those behind the diagonal.
    pairs: Vec<FlippedPair>,
}

impl FlippedSums {
    /// Compares columns of values, one a model, over the same units; beyond thirteen units turns are drawn by `seed`.
    ///
    /// # Errors
    /// [`StatsError::NoColumns`] of none; [`StatsError::Length`] of columns over other units.
    pub fn of(columns: &[Vec<f64>], seed: u64) -> Result<Self, StatsError> {
        let units = columns.first().ok_or(StatsError::NoColumns)?.len();
        if let Some(other) = columns.iter().find(|column| column.len() != units) {
            return Err(StatsError::Length {
                left: units,
                right: other.len(),
            });
        }
        let pairs = UnitPairs::of(columns);
        let sums = columns.iter().map(|column| column.iter().sum()).collect();
        let observed = pairs.sizes(&vec![1.0; units]);
        let size = |place: usize| observed.get(place).copied().unwrap_or(0.0);
        let mut order: Vec<usize> = (0..observed.len()).collect();
        // From the smallest, so that the largest of those that are no larger is at hand.
        order.sort_by(|one, other| size(*one).total_cmp(&size(*other)));
        let (mut own, mut of_all) = (vec![0_usize; observed.len()], vec![0_usize; observed.len()]);
        let mut turns = 0_usize;
        for signs in sign_turns(units, seed) {
            turns += 1;
            let turned = pairs.sizes(&signs);
            let mut most = 0.0_f64;
            for place in &order {
                let value = turned.get(*place).copied().unwrap_or(0.0);
                most = most.max(value);
                let reached = size(*place) - pairs.rounding;
                for (counts, value) in [(&mut own, value), (&mut of_all, most)] {
                    if let Some(reaching) = counts.get_mut(*place) {
                        *reaching += usize::from(reached <= value);
                    }
                }
            }
        }
        let share = |counts: &[usize], place: usize| {
            let reaching = counts.get(place).copied().unwrap_or(turns);
            count(reaching) / count(turns.max(1))
        };
        let differences = pairs.differences(&vec![1.0; units]).into_iter().enumerate();
        let pair = |(place, difference)| FlippedPair {
            difference,
            p: share(&own, place),
            p_of_all: share(&of_all, place),
        };
        let mut pairs: Vec<FlippedPair> = differences.map(pair).collect();
        // A smaller difference is never surer than a larger one.
        let mut least = 0.0_f64;
        for place in order.iter().rev() {
            if let Some(pair) = pairs.get_mut(*place) {
                least = least.max(pair.p_of_all);
                pair.p_of_all = least;
            }
        }
        Ok(Self { sums, turns, pairs })
    }

    /// One column beside another; the difference is of the first less the second. `None` for one column or none that exists.
    #[must_use]
    pub fn pair(&self, one: usize, other: usize) -> Option<FlippedPair> {
        let pair = *self.pairs.get(pair_place(self.sums.len(), (one, other))?)?;
        let sign = if one < other { 1.0 } else { -1.0 };
        Some(FlippedPair {
            difference: sign * pair.difference,
            ..pair
        })
    }

    /// The least p-value of so many units: where it is above .05, nothing can be told apart.
    #[must_use]
    pub fn least_p(&self) -> f64 {
        1.0 / count(self.turns.max(1))
    }

    /// Ranks among some of the columns, in their order, with the sets that hold all true ranks at once.
    #[must_use]
    pub fn ranks(&self, among: &[usize], confidence: Confidence) -> Vec<FlippedRank> {
        let of = |own: &usize| {
            let others = among.iter().filter_map(|other| self.pair(*other, *own));
            let others: Vec<FlippedPair> = others.collect();
            let apart = others
                .iter()
                .filter(|pair| pair.p_of_all <= 2.0 * confidence.lower());
            let (lower, upper) = rank_range(among.len(), apart.map(|pair| pair.difference));
            FlippedRank {
                rank: 1 + others.iter().filter(|pair| 0.0 < pair.difference).count(),
                lower,
                upper,
            }
        };
        among.iter().map(of).collect()
    }
}

/// All pairs of columns, row by row behind the diagonal.
struct UnitPairs<'c> {
    columns: &'c [Vec<f64>],
    /// What each difference is multiplied by, 1 and next to nothing: of equal differences the steadier is the larger.
    steadiness: Vec<f64>,
    /// What a difference may be off by.
    rounding: f64,
}

impl<'c> UnitPairs<'c> {
    fn of(columns: &'c [Vec<f64>]) -> Self {
        let values = columns.iter().flatten();
        let largest = values.fold(0.0, |most: f64, value| most.max(value.abs()));
        let steadiness = |(one, other): (&Vec<f64>, &Vec<f64>)| {
            let differences = one.iter().zip(other).map(|(one, other)| one - other);
            let squares: f64 = differences.map(|value| value * value).sum();
            let is_steady = ROUNDING * largest < squares.sqrt();
            1.0 + if is_steady {
                TIE * largest / squares.sqrt()
            } else {
                0.0
            }
        };
        Self {
            columns,
            steadiness: pairs_of(columns).map(steadiness).collect(),
            rounding: ROUNDING * largest * count(columns.first().map_or(0, Vec::len)),
        }
    }

    /// The differences of sums under these signs.
    fn differences(&self, signs: &[f64]) -> Vec<f64> {
        let sum = |column: &Vec<f64>| column.iter().zip(signs).map(|(value, sign)| value * sign).sum();
        let sums: Vec<f64> = self.columns.iter().map(sum).collect();
        pairs_of(&sums).map(|(one, other)| one - other).collect()
    }

    /// How large they are.
    fn sizes(&self, signs: &[f64]) -> Vec<f64> {
        let differences = self.differences(signs).into_iter().zip(&self.steadiness);
        differences
            .map(|(value, steadiness)| value.abs() * steadiness)
            .collect()
    }
}

fn pairs_of<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    let rows = all.iter().enumerate();
    rows.flat_map(move |(place, one)| all.iter().skip(place + 1).map(move |other| (one, other)))
}

/// Signs of units, the observed ones first. Of both signs of one turn, which say the same, the one that leaves the last unit.
fn sign_turns(units: usize, seed: u64) -> impl Iterator<Item = Vec<f64>> {
    let free = units.saturating_sub(1);
    let turns = if units <= COUNTED_UNITS { 1 << free } else { TURNS };
    (0..turns).map(move |turn| {
        let mut generator = SplitMix64::of_replicate(seed, u32::try_from(turn).unwrap_or(u32::MAX));
        let is_turned = |unit: usize| match turn {
            0 => false,
            _ if COUNTED_UNITS < units => generator.next_u64() & 1 == 1,
            turn => unit < free && turn >> unit & 1 == 1,
        };
        let signs = (0..units).map(is_turned);
        signs
            .map(|is_turned| if is_turned { -1.0 } else { 1.0 })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_of_six_families_is_counted_and_all_pairs_are_one_family() {
        // The first is better by one in each of six families, the third is the second.
        let columns = [vec![2.0; 6], vec![1.0; 6], vec![1.0; 6]];
        let found = FlippedSums::of(&columns, 1).unwrap();
        let pair = found.pair(0, 1).unwrap();
        assert!((pair.difference - 6.0).abs() < 1e-12);
        assert!((pair.p - 2.0 / 64.0).abs() < 1e-12 && (pair.p_of_all - 2.0 / 64.0).abs() < 1e-12);
        let twins = found.pair(2, 1).unwrap();
        assert!((twins.p - 1.0).abs() < 1e-12 && (twins.p_of_all - 1.0).abs() < 1e-12);
        let ranks = found.ranks(&[2, 0, 1], Confidence::P95);
        let range = |rank: &FlippedRank| (rank.rank, rank.lower, rank.upper);
        assert_eq!(
            ranks.iter().map(range).collect::<Vec<_>>(),
            [(2, 2, 3), (1, 1, 1), (2, 2, 3)]
        );
        // Five families tell nothing apart: 2 of 32 turns are as far.
        let five = FlippedSums::of(&[vec![1.0; 5], vec![0.0; 5]], 1).unwrap();
        assert!((five.pair(1, 0).unwrap().p - 0.0625).abs() < 1e-12 && 0.05 < five.least_p());
        assert_eq!(range(&five.ranks(&[0, 1], Confidence::P95)[0]), (1, 1, 2));
    }

    #[test]
    fn a_difference_that_a_larger_one_of_others_may_reach_is_less_sure() {
        let columns = [
            vec![3.0, 1.0, 2.0, 2.0, 1.0, 3.0, 2.0],
            vec![1.0, 1.0, 0.0, 1.0, 1.0, 2.0, 0.0],
            vec![0.0, 2.0, 1.0, 0.0, 2.0, 0.0, 1.0],
        ];
        let found = FlippedSums::of(&columns, 1).unwrap();
        let places = [(0, 1), (0, 2), (1, 2)];
        let mut pairs: Vec<FlippedPair> = places
            .map(|(one, other)| found.pair(one, other).unwrap())
            .to_vec();
        pairs.sort_by(|one, other| other.difference.abs().total_cmp(&one.difference.abs()));
        assert!(pairs.iter().all(|pair| pair.p <= pair.p_of_all));
        assert!(pairs.is_sorted_by(|one, other| one.p_of_all <= other.p_of_all));
        // Each pair of two of them alone is the pair by itself.
        let two = FlippedSums::of(&columns[..2], 1).unwrap().pair(0, 1).unwrap();
        assert!((two.p - found.pair(0, 1).unwrap().p).abs() < 1e-12 && (two.p - two.p_of_all).abs() < 1e-12);
    }

    #[test]
    fn many_units_are_drawn_and_the_observed_signs_count() {
        let found = FlippedSums::of(&[vec![1.0; 40], vec![0.0; 40]], 7).unwrap();
        assert!((found.pair(0, 1).unwrap().p - 1.0 / count(TURNS)).abs() < 1e-12);
        assert_eq!(FlippedSums::of(&[], 1), Err(StatsError::NoColumns));
        assert!(FlippedSums::of(&[vec![1.0], vec![]], 1).is_err());
    }
}
