//! The combination of a pool: one alpha out of many.

use crate::day_table::{DayTable, MemberTable, usable};
use crate::predictive::daily_correlations;
use ktd_stats::Undefined;

/// The sum of z-scored alphas times their weights, on members' cells; others are missing.
#[must_use]
pub fn weighted_combination(pool: &[&DayTable], weights: &[f64], members: &MemberTable) -> DayTable {
    let (days, names) = pool.first().map_or((0, 0), |table| (table.days(), table.names()));
    let mut cells = Vec::with_capacity(days * names);
    for day in 0..days {
        for (name, is_member) in members.day(day).iter().enumerate() {
            let parts = pool
                .iter()
                .zip(weights)
                .map(|(table, weight)| weight * table.at(day, name));
            cells.push(if *is_member { parts.sum() } else { f64::NAN });
        }
    }
    DayTable::from_days(names, cells)
}

/// The same weight for each alpha of a pool: together 1.
#[must_use]
pub fn equal_weights(alphas: usize) -> Vec<f64> {
    vec![1.0 / ktd_stats::moments::count(alphas); alphas]
}

/// Weights by the mean rank correlation with a label over training days; an alpha below 0, or without a day that counts,
/// has none.
#[must_use]
pub fn correlation_weights(
    pool: &[&DayTable],
    labels: &DayTable,
    members: &MemberTable,
    days: &[usize],
    min_names: usize,
) -> Vec<f64> {
    let weight = |scores: &&DayTable| {
        let power = daily_correlations(scores, labels, members, days, min_names).power(0.0);
        power.map_or(0.0, |power| power.rank_ic.max(0.0))
    };
    pool.iter().map(weight).collect()
}

/// Weights by ridge regression of a z-scored label on z-scored alphas over training days.
///
/// # Errors
/// [`Undefined::TooFew`] of no alpha; [`Undefined::ZeroVariance`] where the penalty cannot hold the alphas apart.
pub fn ridge_weights(
    pool: &[&DayTable],
    z_labels: &DayTable,
    members: &MemberTable,
    days: &[usize],
    penalty: f64,
) -> Result<Vec<f64>, Undefined> {
    if pool.is_empty() {
        return Err(Undefined::TooFew {
            items: "alphas",
            count: 0,
            need: 1,
        });
    }
    let size = pool.len();
    // the products of all alphas with each other, and in the last column with the label
    let mut system = vec![vec![0.0; size + 1]; size];
    for day in days {
        let (places, [labels]) = usable(members.day(*day), [z_labels.day(*day)]);
        let rows = pool
            .iter()
            .map(|table| places.iter().map(|name| table.at(*day, *name)).collect());
        let rows: Vec<Vec<f64>> = rows.collect();
        for (equation, left) in system.iter_mut().zip(&rows) {
            for (cell, right) in equation.iter_mut().zip(rows.iter().chain([&labels])) {
                *cell += left
                    .iter()
                    .zip(right)
                    .map(|(left, right)| left * right)
                    .sum::<f64>();
            }
        }
    }
    for (row, equation) in system.iter_mut().enumerate() {
        if let Some(diagonal) = equation.get_mut(row) {
            *diagonal += penalty;
        }
    }
    solved(system).ok_or(Undefined::ZeroVariance)
}

/// The solution of equations whose matrix is symmetric and positive; the right side stands in the last column.
fn solved(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = system.len();
    for pivot in 0..size {
        let row = system.get(pivot)?.clone();
        let diagonal = *row.get(pivot)?;
        if !(0.0 < diagonal && diagonal.is_finite()) {
            return None;
        }
        for (other, equation) in system.iter_mut().enumerate() {
            let factor = equation.get(pivot)? / diagonal;
            if other != pivot {
                equation
                    .iter_mut()
                    .zip(&row)
                    .for_each(|(cell, pivot)| *cell -= factor * pivot);
            }
        }
    }
    let solution = |(place, equation): (usize, &Vec<f64>)| Some(equation.last()? / equation.get(place)?);
    system.iter().enumerate().map(solution).collect()
}

#[cfg(test)]
mod tests {
    use super::{correlation_weights, ridge_weights, weighted_combination};
    use crate::{DayTable, MemberTable, daily_z_scores};
    use ktd_env::KeyedStream;

    #[test]
    fn planted_weights_are_found() {
        let mut stream = KeyedStream::for_purpose(3, "planted weights");
        let (days, names) = (60, 40);
        let all = MemberTable::from_days(names, vec![true; days * names]);
        let mut table = || DayTable::from_days(names, (0..days * names).map(|_| stream.normal()).collect());
        let pool: Vec<DayTable> = (0..3).map(|_| daily_z_scores(&table(), &all)).collect();
        let pool: Vec<&DayTable> = pool.iter().collect();
        let label = weighted_combination(&pool, &[0.6, -0.3, 0.0], &all);
        let training: Vec<usize> = (0..days).collect();
        let weights = ridge_weights(&pool, &label, &all, &training, 1.0).unwrap();
        let expected = [0.6, -0.3, 0.0];
        assert!(
            weights
                .iter()
                .zip(expected)
                .all(|(ours, planted)| (ours - planted).abs() < 1e-3),
            "{weights:?}"
        );
        let weights = correlation_weights(&pool, &label, &all, &training, 10);
        assert!(
            0.8 < weights[0] && weights[1].abs() < 1e-12 && weights[2] < 0.1,
            "{weights:?}"
        );
        assert!(ridge_weights(&[], &label, &all, &training, 1.0).is_err());
        let constant = DayTable::from_days(names, vec![0.0; days * names]);
        assert!(ridge_weights(&[&constant], &label, &all, &training, 0.0).is_err());
    }
}
