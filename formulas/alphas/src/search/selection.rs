//! Which formulas of a search become its pool.

use crate::day_table::{DayTable, MemberTable};
use crate::robustness::rank_robustness;

/// What a pool may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolTerms {
    /// Formulas, at most.
    pub take: usize,
    /// What the size of the correlation of each two formulas stays below.
    pub correlation: f64,
}

/// Chooses greedily: the highest score first, then each whose correlation with all that were chosen is small enough; of equal
/// scores the earlier one. Returns places, in the order of choice. A formula without a score, or whose correlation with a
/// chosen one is undefined, is left out.
pub fn select_pool(
    scores: &[Option<f64>],
    terms: PoolTerms,
    mut correlation: impl FnMut(usize, usize) -> Option<f64>,
) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = scores
        .iter()
        .zip(0..)
        .filter_map(|(score, place)| Some(((*score)?, place)))
        .collect();
    order.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    let mut chosen: Vec<usize> = Vec::new();
    for (_, place) in order {
        if terms.take <= chosen.len() {
            break;
        }
        let differs =
            |other: &usize| correlation(*other, place).is_some_and(|found| found.abs() < terms.correlation);
        if chosen.iter().all(differs) {
            chosen.push(place);
        }
    }
    chosen
}

/// The mean daily rank correlation of two formulas; none where no day counts.
#[must_use]
pub fn mean_rank_correlation(
    left: &DayTable,
    right: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
) -> Option<f64> {
    rank_robustness(left, right, members, days, min_names).ok()
}

#[cfg(test)]
mod tests {
    use super::{PoolTerms, select_pool};

    #[test]
    fn the_best_that_differ_are_chosen() {
        let scores = [Some(0.01), Some(0.05), None, Some(0.04), Some(0.05), Some(-0.02)];
        let terms = |take| PoolTerms {
            take,
            correlation: 0.7,
        };
        // 4 is a twin of 1 turned round, and nothing is known of 3 beside 1.
        let correlation = |left: usize, right: usize| match (left, right) {
            (1, 4) => Some(-0.9),
            (1, 3) => None,
            _ => Some(0.69),
        };
        assert_eq!(select_pool(&scores, terms(20), correlation), [1, 0, 5]);
        assert_eq!(select_pool(&scores, terms(2), correlation), [1, 0]);
        assert_eq!(select_pool(&scores, terms(0), correlation), [0; 0]);
        let none = PoolTerms {
            take: 3,
            correlation: 0.5,
        };
        assert_eq!(select_pool(&scores, none, correlation), [1]);
    }
}
